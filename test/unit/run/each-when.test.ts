import { describe, expect, it } from "vitest";
import { compiled, ENVIRONMENT, recipeOf, started } from "../../support/pure-procedure.ts";

const LINES = { list: { record: { price: "integer", count: "integer" } } };
const AMOUNT = {
  op: "multiply",
  left: { item: "line/price" },
  right: { op: "add", left: { item: "line/count" }, right: { index: "line" } },
};

function amounts(limit: number, value: unknown = AMOUNT) {
  return compiled(
    recipeOf({ lines: LINES }, [
      {
        id: "amounts",
        each: { list: { input: "lines" }, as: "line", limit },
        step: { kind: "pure", value },
      },
      {
        id: "total",
        step: { kind: "pure", value: { op: "sum", list: { node: "amounts" } } },
      },
    ]),
  );
}

describe("each", () => {
  it("a pure node runs once per element, with item and index, and keeps list order", () => {
    const { run } = started(amounts(3), {
      lines: [
        { price: 10, count: 1 },
        { price: 100, count: 2 },
        { price: 1000, count: 3 },
      ],
    });
    expect(run.advancePure({ environment: ENVIRONMENT })).toBe("verified");
    expect(run.result).toBe("5310");
    expect(run.report.trace[0]).toMatchObject({ node: "amounts", outcome: "done", elements: 3 });
  });

  it("an empty list is done at once", () => {
    const { run } = started(amounts(3), { lines: [] });
    run.advancePure({ environment: ENVIRONMENT });
    expect(run.result).toBe("0");
    expect(run.report.trace[0]?.elements).toBe(0);
  });

  it("a list over the limit ends the run before its first element", () => {
    const zero = { op: "divide", left: 1, right: 0, rounding: "floor" };
    const { run, events } = started(amounts(1, zero), {
      lines: [
        { price: 1, count: 1 },
        { price: 1, count: 1 },
      ],
    });
    expect(run.advancePure({ environment: ENVIRONMENT })).toBe("exhausted");
    expect(run.report).toMatchObject({
      reason: "expression_limit",
      failure: {
        node: "amounts",
        message: 'the list of node "amounts" has 2 elements, more than its limit of 1',
      },
    });
    expect(events).toHaveLength(1);
  });

  it("an error in an element names the element", () => {
    const divide = { op: "divide", left: 1, right: { item: "line/price" }, rounding: "floor" };
    const { run } = started(amounts(9, divide), {
      lines: [
        { price: 1, count: 1 },
        { price: 0, count: 1 },
      ],
    });
    run.advancePure({ environment: ENVIRONMENT });
    expect(run.report.failure).toMatchObject({ node: "amounts", code: "division_by_zero" });
    expect(run.report.failure?.message).toContain("line[1]");
  });

  it("a model node makes one boundary per element; answers in any order keep list order", () => {
    const { plan, verifier } = compiled(
      recipeOf({ lines: LINES }, [
        {
          id: "labels",
          each: { list: { input: "lines" }, as: "line", limit: 5 },
          output: { list: "text" },
          step: { kind: "model", prompt: { item: "line/price" } },
        },
        { id: "r", step: { kind: "pure", value: { node: "labels" } } },
      ]),
    );
    const { run } = started(
      { plan, verifier },
      {
        lines: [
          { price: 1, count: 1 },
          { price: 2, count: 1 },
        ],
      },
    );
    const environment = ENVIRONMENT;
    expect(run.advancePure({ environment })).toBe("awaiting_model");
    expect(run.pending.map(({ node, index, prompt }) => ({ node, index, prompt }))).toEqual([
      { node: "labels", index: 0, prompt: "1" },
      { node: "labels", index: 1, prompt: "2" },
    ]);
    run.advancePure({ environment, model: { node: "labels", index: 1, answer: "two" } });
    expect(run.pendingModel?.index).toBe(0);
    expect(run.advancePure({ environment, model: { answer: "one" } })).toBe("verified");
    expect(run.result).toEqual(["one", "two"]);
    expect(run.report.trace[0]).toMatchObject({ elements: 2, model_calls: 2 });
  });

  it("a model node over an empty list asks nothing", () => {
    const { run } = started(
      compiled(
        recipeOf({ lines: LINES }, [
          {
            id: "labels",
            each: { list: { input: "lines" }, as: "line", limit: 5 },
            output: { list: "text" },
            step: { kind: "model", prompt: { item: "line/price" } },
          },
        ]),
      ),
      { lines: [] },
    );
    expect(run.advancePure({ environment: ENVIRONMENT })).toBe("verified");
    expect(run.result).toEqual([]);
  });
});

describe("when", () => {
  const recipe = recipeOf({ n: "integer" }, [
    {
      id: "half",
      when: { op: "greater", left: { input: "n" }, right: 10 },
      step: {
        kind: "pure",
        value: { op: "divide", left: { input: "n" }, right: 2, rounding: "floor" },
      },
    },
    {
      id: "r",
      step: { kind: "pure", value: { op: "default", value: { node: "half" }, else: -1 } },
    },
  ]);

  it("a node that is taken gives its value", () => {
    const { run } = started(compiled(recipe), { n: 12 });
    run.advancePure({ environment: ENVIRONMENT });
    expect(run.result).toBe("6");
  });

  it("a node that is not taken gives null, and its dependants still run", () => {
    const { run } = started(compiled(recipe), { n: 2 });
    run.advancePure({ environment: ENVIRONMENT });
    expect(run.result).toBe("-1");
    expect(run.report.trace[0]).toMatchObject({ node: "half", outcome: "not_taken" });
  });

  it("guards the whole node: with each, nothing of the list is looked at", () => {
    const { run } = started(
      compiled(
        recipeOf({ n: "integer" }, [
          {
            id: "many",
            when: { op: "greater", left: { input: "n" }, right: 10 },
            each: { list: { op: "range", from: 0, count: { input: "n" } }, as: "i", limit: 1 },
            output: { list: "text" },
            step: { kind: "model", prompt: { item: "i" } },
          },
          {
            id: "r",
            step: { kind: "pure", value: { op: "has", value: { node: "many" } } },
          },
        ]),
      ),
      { n: 5 },
    );
    expect(run.advancePure({ environment: ENVIRONMENT })).toBe("verified");
    expect(run.result).toBe(false);
  });

  it("a terminal that is not taken gives null", () => {
    const { run } = started(
      compiled(recipeOf({}, [{ id: "r", when: false, step: { kind: "pure", value: 1 } }])),
      {},
    );
    expect(run.advancePure({ environment: ENVIRONMENT })).toBe("verified");
    expect(run.result).toBeNull();
  });
});
