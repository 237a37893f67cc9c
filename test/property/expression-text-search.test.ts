import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { includesText, splitText } from "../../src/expression/text-search.ts";

const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 500);

/** Texts of few different units, with many repeats, around the length from which the search is our own. */
const periodic = (most: number) =>
  fc
    .tuple(
      fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: most }),
      fc.string({ unit: fc.constantFrom("a", "b", "\u{1F600}"), maxLength: 3 }),
    )
    .map(([period, times, end]) => period.repeat(times) + end);

const pairs = fc.oneof(
  fc.tuple(periodic(200), periodic(50)),
  // The part does occur, perhaps several times.
  fc
    .tuple(periodic(60), fc.array(periodic(20), { maxLength: 4 }))
    .map(([part, around]) => [around.join(part), part] as const),
);

describe("searching a text", () => {
  test("finds what the engine's own search finds", () => {
    fc.assert(
      fc.property(pairs, ([text, part]) => {
        expect(includesText(text, part)).toBe(text.includes(part));
      }),
      { numRuns: RUNS },
    );
  });

  test("splits as the engine does, at any limit", () => {
    fc.assert(
      fc.property(pairs, fc.integer({ min: 1, max: 6 }), ([text, part], limit) => {
        expect(splitText(text, part, limit)).toEqual(text.split(part, limit));
        expect(splitText(text, part, 100_000)).toEqual(text.split(part));
      }),
      { numRuns: RUNS },
    );
  });
});
