import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../src/base/digest.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { compileRecipe } from "../../src/compile/index.ts";
import { planOf } from "../support/compiling.ts";
import { draft, written } from "../support/recipe-arbitrary.ts";

const seed = fc.integer();

describe("the digest of a plan", () => {
  it("ignores order of nodes and keys, white space and abbreviation (B069)", () => {
    fc.assert(
      fc.property(draft, seed, seed, fc.nat({ max: 4 }), (recipe, one, other, indent) => {
        const first = planOf(written(recipe, one));
        const second = planOf(JSON.stringify(written(recipe, other), null, indent));
        expect(second.digest).toBe(first.digest);
        expect(second.normal).toEqual(first.normal);
        expect(second.nodes.map(({ id, twin }) => [id, twin])).toEqual(
          first.nodes.map(({ id, twin }) => [id, twin]),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("is that of the normal form, which compiles to itself", () => {
    fc.assert(
      fc.property(draft, seed, (recipe, one) => {
        const plan = planOf(written(recipe, one));
        const again = planOf(JSON.stringify(plan.normal));
        expect(again.normal).toEqual(plan.normal);
        expect(again.digest).toBe(plan.digest);
        expect(digestOf("rote-plan/v1", plan.normal)).toBe(plan.digest);
      }),
      { numRuns: 100 },
    );
  });

  it("ignores nothing else: any other text, number or flag is another digest or no recipe (B069)", () => {
    fc.assert(
      fc.property(draft, seed, fc.nat(), fc.nat(), (recipe, one, place, kind) => {
        const plan = planOf(written(recipe, one));
        const places = leaves(plan.normal, []);
        const path = places[place % places.length] ?? [];
        const value = REPLACEMENTS[kind % REPLACEMENTS.length] ?? null;
        const changed = replaced(plan.normal, path, value);
        fc.pre(JSON.stringify(changed) !== JSON.stringify(plan.normal));
        const compiled = compileRecipe(changed);
        expect(compiled.ok && compiled.value.digest).not.toBe(plan.digest);
      }),
      { numRuns: 1_000 },
    );
  });
});

const REPLACEMENTS: readonly JsonValue[] = [
  0,
  1,
  2,
  true,
  false,
  null,
  "",
  "integer",
  "text",
  "price",
  "add",
  "subtract",
  "n0.0",
  "zz",
  "a".repeat(64),
  "fast",
];

type Path = readonly (string | number)[];

function leaves(value: JsonValue, path: Path): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, one]) =>
    leaves(one, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function replaced(value: JsonValue, [head, ...rest]: Path, by: JsonValue): JsonValue {
  if (head === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((one, index) => (index === head ? replaced(one, rest, by) : one));
  }
  return Object.fromEntries(
    Object.entries(value as object).map(([key, one]) => [
      key,
      key === head ? replaced(one, rest, by) : one,
    ]),
  );
}
