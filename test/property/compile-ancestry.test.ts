import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ancestryOf, areAncestors } from "../../src/compile/ancestry.ts";

/** Direct dependencies of nodes in topological order. */
const graph = fc
  .integer({ min: 1, max: 90 })
  .chain((count) =>
    fc.tuple(
      ...Array.from({ length: count }, (_, node) =>
        node === 0
          ? fc.constant<number[]>([])
          : fc
              .uniqueArray(fc.nat({ max: node - 1 }), { maxLength: 4 })
              .map((after) => after.sort((left, right) => left - right)),
      ),
    ),
  );

function ancestorsOf(after: readonly (readonly number[])[]): readonly ReadonlySet<number>[] {
  const all: Set<number>[] = [];
  for (const direct of after) {
    all.push(new Set(direct.flatMap((one) => [one, ...(all[one] ?? [])])));
  }
  return all;
}

describe("ancestor questions", () => {
  it("are answered as the full table answers them, in any order of asking", () => {
    fc.assert(
      fc.property(graph, fc.infiniteStream(fc.nat()), (after, stream) => {
        const ancestors = ancestorsOf(after);
        const questions = [...after.keys()]
          .flatMap((descendant) => [...after.keys()].map((ancestor) => ({ ancestor, descendant })))
          .map((question) => ({ question, rank: stream.next().value }))
          .sort((left, right) => left.rank - right.rank)
          .map(({ question }) => question);
        expect(areAncestors(ancestryOf(after), questions)).toEqual(
          questions.map(({ ancestor, descendant }) => ancestors[descendant]?.has(ancestor)),
        );
      }),
      { numRuns: 200 },
    );
  });
});
