import { describe, expect, it } from "vitest";
import { extended, NO_EXTENT } from "../../../src/run/extent.ts";
import { compiled, ENVIRONMENT, recipeOf, started } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;

describe("the extent of what a run makes", () => {
  it("counts parts, units of texts and keys, and digits of large integers", () => {
    expect(extended(NO_EXTENT, ["ab", 1n, null])).toEqual({ parts: 4, units: 2 });
    expect(extended({ parts: 1, units: 1 }, new Map([["key", "v"]]))).toEqual({
      parts: 3,
      units: 5,
    });
    expect(extended(NO_EXTENT, 1n << 67n)).toEqual({ parts: 1, units: 17 });
    const shared = ["a", "b"];
    expect(extended(NO_EXTENT, [shared, shared])).toEqual({ parts: 7, units: 4 });
  });

  it("is within its limit up to the limit itself", () => {
    const limit = { parts: 4, units: 2 };
    expect(extended(NO_EXTENT, ["a", "b", 1n], limit)).toEqual(limit);
    expect(extended({ parts: 1, units: 0 }, ["a", "b", 1n], limit)).toBeUndefined();
    expect(extended({ parts: 0, units: 1 }, ["a", "b", 1n], limit)).toBeUndefined();
  });
});

/** Each element makes a list of 100,000 numbers, which one evaluation may. */
function lists(times: number) {
  return compiled(
    recipeOf({}, [
      {
        id: "many",
        each: { list: { op: "range", from: 0, count: times }, as: "i", limit: 200 },
        step: { kind: "pure", value: { op: "range", from: { item: "i" }, count: 100_000 } },
      },
      { id: "end", after: ["many"], step: { kind: "pure", value: 1 } },
    ]),
  );
}

describe("a run", () => {
  it("ends where all its values together are too much, though each is allowed", () => {
    const { run } = started(lists(101), {});
    expect(run.advancePure({ environment })).toBe("exhausted");
    expect(run.report).toMatchObject({
      reason: "expression_limit",
      failure: { node: "many", code: "too_large" },
    });
  });

  it("may pass on whole values as often as it likes", () => {
    const passing = Array.from({ length: 150 }, (_, index) => ({
      id: `n${index}`,
      step: {
        kind: "pure",
        value: index === 0 ? { op: "range", from: 0, count: 100_000 } : { node: `n${index - 1}` },
      },
    }));
    const { run } = started(compiled(recipeOf({}, passing)), {});
    expect(run.advancePure({ environment })).toBe("verified");
  });
});
