import { describe, expect, it } from "vitest";
import { compiled, ENVIRONMENT, recipeOf, started } from "../../support/pure-procedure.ts";

function ended(nodes: Parameters<typeof recipeOf>[1], inputs: object, verifier: unknown = true) {
  const types = Object.fromEntries(Object.keys(inputs).map((name) => [name, "integer"]));
  const { run } = started(compiled(recipeOf(types, nodes), verifier), inputs);
  run.advancePure({ environment: ENVIRONMENT });
  const { state, reason, failure } = run.report;
  return { state, reason, failure, result: run.result };
}

const IS_SMALL = { op: "less", left: { input: "n" }, right: 10 };
const DIVIDE = { op: "divide", left: 1, right: { input: "n" }, rounding: "floor" };
const DIVIDES = { op: "equal", left: DIVIDE, right: 1 };

describe("checks of the recipe and errors of expressions", () => {
  it("a verify node that holds passes its value on", () => {
    const nodes = [
      { id: "v", step: { kind: "verify", condition: IS_SMALL, value: { input: "n" } } },
    ];
    expect(ended(nodes, { n: 9 })).toEqual({
      state: "verified",
      reason: "completed",
      failure: null,
      result: "9",
    });
  });

  it("a verify node that does not hold rejects the run with its message", () => {
    const nodes = [
      {
        id: "v",
        step: { kind: "verify", condition: IS_SMALL, value: 1, message: "n must be small" },
      },
    ];
    expect(ended(nodes, { n: 10 })).toEqual({
      state: "rejected",
      reason: "verify_failed",
      failure: { reason: "verify_failed", node: "v", message: "n must be small" },
      result: undefined,
    });
  });

  it("a policy node that does not hold rejects the run as a failed precondition", () => {
    const nodes = [
      { id: "p", step: { kind: "policy", condition: IS_SMALL } },
      { id: "r", after: ["p"], step: { kind: "pure", value: 1 } },
    ];
    expect(ended(nodes, { n: 10 })).toMatchObject({
      state: "rejected",
      reason: "precondition_failed",
      failure: { node: "p", message: 'the condition of node "p" is false' },
    });
    expect(ended(nodes, { n: 1 }).state).toBe("verified");
  });

  it("a condition that cannot be evaluated refuses instead of failing", () => {
    const verify = [{ id: "v", step: { kind: "verify", condition: DIVIDES, value: 1 } }];
    expect(ended(verify, { n: 0 })).toMatchObject({
      state: "rejected",
      reason: "verify_failed",
      failure: { node: "v", code: "division_by_zero", pointer: "/nodes/0/step/condition/left" },
    });
    const policy = [
      { id: "p", step: { kind: "policy", condition: DIVIDES } },
      { id: "r", after: ["p"], step: { kind: "pure", value: 1 } },
    ];
    expect(ended(policy, { n: 0 })).toMatchObject({
      reason: "precondition_failed",
      failure: { node: "p", code: "division_by_zero" },
    });
  });

  it("an error anywhere else in a node fails the run, the value of a verify node included", () => {
    const pure = [{ id: "x", step: { kind: "pure", value: DIVIDE } }];
    expect(ended(pure, { n: 0 })).toMatchObject({
      state: "failed",
      reason: "expression_error",
      failure: { node: "x", code: "division_by_zero", pointer: "/nodes/0/step/value" },
    });
    const verify = [{ id: "v", step: { kind: "verify", condition: true, value: DIVIDE } }];
    expect(ended(verify, { n: 0 })).toMatchObject({ reason: "expression_error" });
    const guard = [{ id: "g", when: DIVIDES, step: { kind: "pure", value: 1 } }];
    expect(ended(guard, { n: 0 })).toMatchObject({ reason: "expression_error" });
  });

  it("a value that grows too large, or fuel that runs out, is a limit", () => {
    const large = { op: "power", base: 10, exponent: { input: "n" } };
    const nodes = [{ id: "x", step: { kind: "pure", value: large } }];
    expect(ended(nodes, { n: 100_000 })).toMatchObject({
      state: "exhausted",
      reason: "expression_limit",
      failure: { node: "x", code: "too_large" },
    });
    const range = { op: "range", from: 0, count: { input: "n" } };
    const long = {
      op: "sum",
      list: range,
      as: "a",
      value: {
        op: "sum",
        list: range,
        as: "b",
        value: { op: "multiply", left: { item: "a" }, right: { item: "b" } },
      },
    };
    const slow = [{ id: "x", step: { kind: "pure", value: long } }];
    expect(ended(slow, { n: 5000 })).toMatchObject({
      reason: "expression_limit",
      failure: { code: "out_of_fuel" },
    });
  });

  it("a limit met inside a condition refuses like any other error in it", () => {
    const large = { op: "power", base: 10, exponent: { input: "n" } };
    const condition = { op: "equal", left: large, right: 1 };
    const nodes = [{ id: "v", step: { kind: "verify", condition, value: 1 } }];
    expect(ended(nodes, { n: 100_000 })).toMatchObject({
      state: "rejected",
      reason: "verify_failed",
      failure: { code: "too_large" },
    });
  });

  it("only the verifier makes a run verified: false or an error rejects it", () => {
    const nodes = [{ id: "r", step: { kind: "pure", value: { input: "n" } } }];
    const result = { input: "context/result" };
    expect(ended(nodes, { n: 5 }, { op: "equal", left: result, right: 6 })).toMatchObject({
      state: "rejected",
      reason: "verifier_rejected",
      failure: { node: null, message: "the verifier's rule is false for the completed result" },
      result: undefined,
    });
    const broken = {
      op: "equal",
      left: { op: "divide", left: 1, right: result, rounding: "floor" },
      right: 1,
    };
    expect(ended(nodes, { n: 0 }, broken)).toMatchObject({
      reason: "verifier_rejected",
      failure: { node: null, code: "division_by_zero", pointer: "/left" },
    });
  });

  it("a missing field is an error that names node and pointer, in a node and in a verifier (B100)", () => {
    const recipe = recipeOf({ invoice: "json" }, [
      { id: "r", step: { kind: "pure", value: { op: "to_json", value: 1 } } },
      {
        id: "po",
        after: ["r"],
        step: { kind: "pure", value: { input: "invoice/po_number" } },
      },
    ]);
    const inNode = started(compiled(recipe), { invoice: { id: "7" } }).run;
    expect(inNode.advancePure({ environment: ENVIRONMENT })).toBe("failed");
    expect(inNode.report.failure).toMatchObject({
      reason: "expression_error",
      node: "po",
      code: "missing",
      pointer: "/nodes/1/step/value",
    });
    expect(inNode.report.failure?.message).toContain("po_number");

    const plain = recipeOf({ invoice: "json" }, [
      { id: "r", step: { kind: "pure", value: { input: "invoice" } } },
    ]);
    const lines = { input: "context/inputs/invoice/lines/3" };
    const verifier = { op: "equal", left: lines, right: { op: "to_json", value: 1 } };
    const atEnd = started(compiled(plain, verifier), { invoice: { lines: [1, 2, 3] } }).run;
    expect(atEnd.advancePure({ environment: ENVIRONMENT })).toBe("rejected");
    expect(atEnd.report.failure).toMatchObject({
      reason: "verifier_rejected",
      code: "missing",
      pointer: "/left",
    });
  });

  it("digits above 15 places are exact in the result and its digest's text (B096)", () => {
    const nodes = [
      { id: "more", step: { kind: "pure", value: { op: "add", left: { input: "n" }, right: 1 } } },
      {
        id: "thrice",
        after: ["more"],
        step: {
          kind: "pure",
          value: {
            op: "record",
            fields: {
              more: { node: "more" },
              thrice: { op: "multiply", left: { input: "n" }, right: 3 },
            },
          },
        },
      },
    ];
    expect(ended(nodes, { n: "9007199254740993" }).result).toEqual({
      more: "9007199254740994",
      thrice: "27021597764222979",
    });
  });

  it("success claimed in the data has no weight (B106)", () => {
    const recipe = recipeOf({ claim: "json" }, [
      { id: "r", step: { kind: "pure", value: { input: "claim" } } },
    ]);
    const { run } = started(compiled(recipe, false), {
      claim: { success: true, independently_verified: true, state: "verified" },
    });
    expect(run.advancePure({ environment: ENVIRONMENT })).toBe("rejected");
    expect(run.report.independently_verified).toBe(false);
    expect(run.result).toBeUndefined();
  });
});
