import fc from "fast-check";
import { expect, it } from "vitest";
import { nearest } from "../../src/base/text.ts";

/** Edits of single letters and swaps of neighbours, worked out the long way. */
function distance(left: string, right: string): number {
  if (left === "" || right === "") return left.length + right.length;
  const swapped =
    left.length > 1 && right.length > 1 && left[0] === right[1] && left[1] === right[0];
  return Math.min(
    distance(left.slice(1), right) + 1,
    distance(left, right.slice(1)) + 1,
    distance(left.slice(1), right.slice(1)) + (left[0] === right[0] ? 0 : 1),
    swapped ? distance(left.slice(2), right.slice(2)) + 1 : Number.POSITIVE_INFINITY,
  );
}

function expected(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length);
    const allowed = longer < 2 ? 0 : Math.max(1, Math.floor(longer / 3));
    const found = distance(word, candidate);
    if (found <= allowed && found < least) [best, least] = [candidate, found];
  }
  return best;
}

const words = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 7 });

it("the nearest of some words is the one with the fewest edits, although most are given up half-way", () => {
  fc.assert(
    fc.property(words, fc.array(words, { maxLength: 5 }), (word, candidates) => {
      expect(nearest(word, candidates)).toBe(expected(word, candidates));
    }),
    { numRuns: 300 },
  );
});
