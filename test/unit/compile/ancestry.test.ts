import { describe, expect, it } from "vitest";
import { ancestryOf, areAncestors } from "../../../src/compile/ancestry.ts";

describe("ancestors", () => {
  it("are found along chains, across joins and beyond 32 at once", () => {
    // Two chains of 100, the even and the odd nodes, which join in the last node.
    const after = Array.from({ length: 200 }, (_, node) => (node < 2 ? [] : [node - 2]));
    after.push([198, 199]);
    const ancestry = ancestryOf(after);
    const questions = Array.from({ length: 200 }, (_, ancestor) => [
      { ancestor, descendant: 200 },
      { ancestor, descendant: 199 },
    ]).flat();
    const answers = areAncestors(ancestry, questions);
    expect(answers.filter((_, place) => place % 2 === 0).every(Boolean)).toBe(true);
    expect(answers.filter((_, place) => place % 2 === 1)).toEqual(
      Array.from({ length: 200 }, (_, ancestor) => ancestor % 2 === 1 && ancestor < 199),
    );
  });

  it("do not include the node itself", () => {
    const ancestry = ancestryOf([[], [0]]);
    expect(areAncestors(ancestry, [{ ancestor: 1, descendant: 1 }])).toEqual([false]);
  });
});
