import { describe, expect, it } from "vitest";
import { compileVerifier, contextTypes } from "../../../src/compile/index.ts";
import { typeToJson } from "../../../src/expression/index.ts";
import { effect, planOf, pure, recipe, verifierOf, verify } from "../../support/compiling.ts";

const PLAN = planOf(
  recipe([pure("a", { op: "multiply", left: { input: "quantity" }, right: { input: "price" } })]),
);
const WITH_EFFECT = planOf(recipe([verify("v"), effect("e", { after: ["v"] })]));

const RULE = {
  op: "equal",
  left: { input: "context/result" },
  right: { input: "context/inputs/price" },
};

function codesOf(source: unknown, plan = PLAN) {
  const compiled = compileVerifier(source, plan);
  return compiled.ok ? [] : compiled.error.map(({ code, pointer }) => `${code} at ${pointer}`);
}

describe("a verifier", () => {
  it("is a document or a bare expression", () => {
    const bare = verifierOf(RULE, PLAN);
    expect(bare).toMatchObject({ id: null, beforeEffect: null });
    expect(bare.digest).toMatch(/^sha256:/);
    const named = verifierOf({ version: 1, id: "rule", result: RULE }, PLAN);
    expect(named.id).toBe("rule");
    expect(named.digest).not.toBe(bare.digest);
    expect(verifierOf(true, PLAN).normal).toEqual({
      version: 1,
      result: { op: "literal", value: true },
    });
  });

  it("computes from the context in the first input slot", () => {
    const { result } = verifierOf(RULE, PLAN);
    const context = (value: bigint) => ({
      inputs: { price: 5n, quantity: 2n },
      operations: [],
      result: value,
    });
    expect(result.evaluate({ inputs: [context(5n)], nodes: [] })).toBe(true);
    expect(result.evaluate({ inputs: [context(6n)], nodes: [] })).toBe(false);
  });

  it("has one digest in short and in long form, whatever the order of its keys", () => {
    const long = {
      right: { op: "input", pointer: "/inputs/price", name: "context" },
      left: { pointer: "/result", name: "context", op: "input" },
      op: "equal",
    };
    expect(verifierOf(long, PLAN).digest).toBe(verifierOf(RULE, PLAN).digest);
    expect(verifierOf(JSON.stringify(long, null, 2), PLAN).digest).toBe(
      verifierOf(RULE, PLAN).digest,
    );
  });

  it("has a digest that depends on the rule, not on the recipe", () => {
    const other = planOf(recipe([pure("b", 5)]));
    expect(verifierOf(true, other).digest).toBe(verifierOf(true, PLAN).digest);
  });

  it("gives a boolean", () => {
    expect(codesOf({ input: "context/result" })).toEqual(["type_mismatch at "]);
    expect(codesOf({ version: 1, id: "x", result: 5, before_effect: "no" })).toEqual([
      "type_mismatch at /before_effect",
      "type_mismatch at /result",
    ]);
  });

  it("reads nothing but the context: no inputs, no nodes, nothing the recipe named", () => {
    expect(codesOf({ op: "equal", left: { input: "price" }, right: { node: "a" } })).toEqual([
      "unknown_input at /left",
      "unknown_node at /right",
    ]);
    const typed = planOf(
      recipe([pure("a", 1)], { types: { money: "integer" }, inputs: { price: "money" } }),
    );
    const decode = { op: "decode", value: { op: "to_json", value: 1 }, type: "money" };
    const rule = { op: "equal", left: decode, right: 1 };
    expect(codesOf(rule, typed)).toEqual(["unknown_type at /left"]);
    expect(
      codesOf({ version: 1, id: "x", types: { money: "integer" }, result: rule }, typed),
    ).toEqual([]);
  });

  it("is checked against the types of the recipe it is paired with", () => {
    expect(codesOf({ op: "equal", left: { input: "context/inputs/prise" }, right: 1 })).toEqual([
      "unknown_field at /left",
    ]);
    expect(codesOf({ op: "equal", left: { input: "context/result" }, right: "x" })).toEqual([
      "type_mismatch at ",
    ]);
  });

  it("judges proposed operations where the recipe has effects", () => {
    expect(codesOf(true, WITH_EFFECT)).toEqual(["verifier_without_before_effect at "]);
    const rule = {
      version: 1,
      id: "x",
      before_effect: { op: "equal", left: { input: "context/proposed/tool" }, right: "post" },
      result: {
        op: "all",
        list: { input: "context/operations" },
        as: "o",
        empty: false,
        where: { op: "equal", left: { item: "o/outcome" }, right: "done" },
      },
    };
    expect(verifierOf(rule, WITH_EFFECT).beforeEffect?.at).toBe("/before_effect");
  });

  it("sees the result only at the end, the proposed operation only before an effect", () => {
    const wrong = {
      version: 1,
      id: "x",
      before_effect: { op: "has", value: { input: "context" }, pointer: "/result" },
      result: { op: "has", value: { input: "context" }, pointer: "/proposed" },
    };
    expect(codesOf(wrong, WITH_EFFECT)).toEqual([
      "unknown_field at /before_effect",
      "unknown_field at /result",
    ]);
  });

  it("that is malformed is refused with all its problems", () => {
    expect(codesOf({ version: 2, id: "X", resul: true })).toEqual([
      "missing_key at ",
      "bad_name at /id",
      "unknown_key at /resul",
      "unsupported_version at /version",
    ]);
    expect(codesOf('{"op": "equal"')).toEqual(["bad_json at "]);
  });
});

describe("the context", () => {
  it("has the types that docs/expressions.md states", () => {
    const { result, beforeEffect } = contextTypes(WITH_EFFECT);
    const operation = {
      node: "text",
      index: { optional: "integer" },
      tool: "text",
      arguments: "json",
      key: { optional: "json" },
    };
    const operations = {
      list: {
        record: {
          ...operation,
          category: { enum: ["effect", "read"] },
          outcome: { enum: ["done", "failed_before_effect", "refused", "uncertain"] },
          result: { optional: "json" },
        },
      },
    };
    const inputs = { record: { price: "integer", quantity: "integer" } };
    expect(typeToJson(result)).toEqual({ record: { inputs, operations, result: "json" } });
    expect(typeToJson(beforeEffect)).toEqual({
      record: { inputs, operations, proposed: { record: operation } },
    });
  });
});
