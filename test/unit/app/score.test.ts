import { describe, expect, it } from "vitest";
import { MAX_MUTANTS, type Sample, scoreVerifier } from "../../../src/app/score.ts";
import { compileRecipe, compileVerifier } from "../../../src/compile/index.ts";

/** A recipe that hands its one input on, so that any result can be a sample. */
function planOf(type: unknown) {
  const plan = compileRecipe({
    version: 1,
    id: "echo",
    inputs: { given: type },
    terminal: "end",
    nodes: [{ id: "end", step: { kind: "pure", value: { input: "given" } } }],
  });
  if (!plan.ok) throw new Error(plan.error[0]?.message);
  return plan.value;
}

function score(type: unknown, rule: unknown, samples: readonly Sample[]) {
  const plan = planOf(type);
  const verifier = compileVerifier(rule, plan);
  if (!verifier.ok) throw new Error(verifier.error[0]?.message);
  return scoreVerifier(plan, verifier.value, samples);
}

const same = {
  op: "equal",
  left: { input: "context/result" },
  right: { input: "context/inputs/given" },
};
const rows = { list: { record: { amount: "integer", note: { optional: "text" } } } };
const sample = (...amounts: readonly string[]): Sample => {
  const value = amounts.map((amount) => ({ amount }));
  return { inputs: { given: value }, result: value };
};

describe("the score of a verifier", () => {
  it("is whole for one that compares with the truth, and nothing for one that accepts all", () => {
    const samples = [sample("1", "2"), sample("7")];
    const strong = score(rows, same, samples);
    expect(strong).toMatchObject({ samples: 2, caught: strong.tried, survivors: [] });
    expect(strong.tried).toBe(strong.possible);
    expect(strong.tried).toBeGreaterThan(10);
    expect(score(rows, true, samples)).toMatchObject({ tried: strong.tried, caught: 0 });
  });

  it("names what a verifier does not look at, by place and change, over all samples", () => {
    const sum = (list: unknown) => ({ op: "sum", list, as: "row", value: { item: "row/amount" } });
    const totals = {
      op: "equal",
      left: sum({ input: "context/result" }),
      right: sum({ input: "context/inputs/given" }),
    };
    const { survivors, tried, caught } = score(rows, totals, [sample("1", "2"), sample("5", "0")]);
    expect(survivors).toEqual([
      // Dropping or repeating the row of 0, the order, and the notes: sums do not see them.
      {
        place: "/*",
        change: "dropped",
        tried: 4,
        accepted: 1,
        example: { sample: 1, pointer: "/1" },
      },
      {
        place: "/*",
        change: "repeated",
        tried: 4,
        accepted: 1,
        example: { sample: 1, pointer: "/1" },
      },
      {
        place: "/*",
        change: "swapped with the next",
        tried: 2,
        accepted: 2,
        example: { sample: 0, pointer: "/0" },
      },
      {
        place: "/*/note",
        change: "filled in",
        tried: 4,
        accepted: 4,
        example: { sample: 0, pointer: "/0/note" },
      },
    ]);
    expect(tried - caught).toBe(8);
  });

  it("counts a result that the verifier cannot evaluate as caught", () => {
    const first = { op: "get", value: { op: "first", list: { input: "context/result" } } };
    const rule = { op: "greater", left: { op: "get", value: first, pointer: "/amount" }, right: 0 };
    const { tried, caught, survivors } = score(rows, rule, [sample("5")]);
    expect([tried, caught]).toEqual([5, 1]);
    expect(survivors.map((one) => one.change)).not.toContain("dropped");
  });

  it("tries evenly spread mutants of a large result, and says how many there are", () => {
    const large = sample(...Array.from({ length: 1500 }, (_, index) => String(index)));
    const { possible, tried, survivors } = score(rows, true, [large]);
    expect(tried).toBe(MAX_MUTANTS);
    expect(possible).toBeGreaterThan(tried);
    const lastPlace = survivors.find((one) => one.change === "dropped");
    expect(lastPlace?.accepted).toBeGreaterThan(100);
  });
});
