import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/base/json.ts";
import { bindRecipe, compileRecipe } from "../../src/compile/index.ts";
import { systemClock } from "../../src/os/clock.ts";
import { systemRandom } from "../../src/os/random.ts";
import { startRun } from "../../src/run/index.ts";
import {
  environment,
  finish,
  RECIPE_NAMES,
  readRecipe,
  sampleInputs,
  shippedProcedure,
  startOptions,
} from "../support/recipes.ts";

/**
 * What a verifier is for: a recipe that computes something else must not get it verified. Every operator of every
 * recipe is exchanged for its neighbour, every number raised by one, one at a time; such a recipe may fail, be
 * refused, or happen to give the true result on a sample, and nothing else.
 */
const NEIGHBOURS: { readonly [word: string]: string } = {
  add: "subtract",
  subtract: "add",
  multiply: "add",
  minimum: "maximum",
  maximum: "minimum",
  less: "less_or_equal",
  less_or_equal: "less",
  greater: "greater_or_equal",
  greater_or_equal: "greater",
  equal: "not_equal",
  not_equal: "equal",
  and: "or",
  or: "and",
  any: "all",
  first: "last",
  floor: "ceiling",
  ceiling: "floor",
};

/** Runs of the step and expression parts of a recipe with one place changed; `all` needs an `empty`. */
function* neighbours(recipe: JsonValue): Generator<JsonValue> {
  const nodes = (recipe as { readonly nodes: readonly JsonValue[] }).nodes;
  for (const [index, node] of nodes.entries()) {
    const { step, ...rest } = node as { readonly step: JsonValue };
    for (const changed of changesOf(step)) {
      yield {
        ...(recipe as { readonly [key: string]: JsonValue }),
        nodes: nodes.with(index, { ...rest, step: changed }),
      };
    }
  }
}

function* changesOf(value: JsonValue): Generator<JsonValue> {
  if (typeof value === "number") {
    yield value + 1;
  } else if (typeof value === "boolean") {
    yield !value;
  } else if (isList(value)) {
    for (const [index, element] of value.entries()) {
      for (const changed of changesOf(element)) yield value.with(index, changed);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if ((key === "op" || key === "rounding") && typeof member === "string") {
        const other = NEIGHBOURS[member];
        if (other !== undefined) {
          yield { ...value, [key]: other, ...(other === "all" ? { empty: true } : {}) };
        }
        continue;
      }
      for (const changed of changesOf(member)) yield { ...value, [key]: changed };
    }
  }
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A fraction is the same amount however it is reduced. */
function sameResult(left: unknown, right: unknown): boolean {
  if (isFraction(left) && isFraction(right)) {
    const { numerator: a, denominator: b, ...rest } = left;
    const { numerator: c, denominator: d, ...others } = right;
    return (
      BigInt(a) * BigInt(d) === BigInt(c) * BigInt(b) &&
      JSON.stringify(rest) === JSON.stringify(others)
    );
  }
  return JSON.stringify(left) === JSON.stringify(right);
}

function isFraction(
  value: unknown,
): value is { readonly numerator: string; readonly denominator: string } {
  return typeof value === "object" && value !== null && "numerator" in value;
}

const ports = {
  ...startOptions,
  mode: "guided",
  clock: systemClock,
  random: systemRandom,
} as const;

describe.each(RECIPE_NAMES)("recipes almost like %s", (name) => {
  it("never get another result verified on its sample inputs", () => {
    const original = shippedProcedure(name);
    const samples = sampleInputs(name).map((inputs) => ({
      inputs,
      result: finish(original.start(inputs, startOptions), name).result,
    }));
    let wrong = 0;
    let noticed = 0;
    const accepted: unknown[] = [];
    for (const changed of neighbours(bindRecipe(readRecipe(name), environment))) {
      const plan = compileRecipe(changed);
      if (!plan.ok) continue;
      wrong += 1;
      let different = false;
      for (const { inputs, result } of samples) {
        const run = startRun(plan.value, original.verifier, inputs, ports);
        finish(run, name);
        if (run.state === "verified" && sameResult(run.result, result)) continue;
        different = true;
        if (run.state === "verified") accepted.push({ inputs, result, verified: run.result });
      }
      if (different) noticed += 1;
    }
    expect(accepted).toEqual([]);
    // Some neighbours compute the same, others differ only on inputs that are not among the samples.
    expect(3 * noticed).toBeGreaterThan(wrong);
    expect(noticed).toBeGreaterThanOrEqual(2);
  });
});
