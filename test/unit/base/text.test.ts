import { describe, expect, it } from "vitest";
import { compareText, hasLoneSurrogate, nearest, shortened } from "../../../src/base/text.ts";

describe("hasLoneSurrogate", () => {
  it.each([
    ["", false],
    ["plain", false],
    ["😀", false],
    ["\ud800", true],
    ["\udc00", true],
    ["\ude00\ud83d", true],
    ["😀\ud83d", true],
    [`${"x".repeat(50)}😀`, false],
    [`${"x".repeat(50)}\ud83d`, true],
  ])("of %j is %s", (text, expected) => {
    expect(hasLoneSurrogate(text)).toBe(expected);
  });
});

describe("compareText", () => {
  it("orders by UTF-16 units, never by locale or code point", () => {
    const words = ["ä", "b", "Z", "a", "\ufb33", "\u{1f600}", "10", "9", ""];
    expect(words.sort(compareText)).toEqual([
      "",
      "10",
      "9",
      "Z",
      "a",
      "b",
      "ä",
      "\u{1f600}",
      "\ufb33",
    ]);
    expect(compareText("a", "a")).toBe(0);
  });
});

describe("nearest", () => {
  const operators = ["add", "subtract", "multiply", "divide", "modulo", "equal", "not_equal", "if"];

  it.each([
    ["multipy", "multiply"],
    ["Multiply", "multiply"],
    ["mulitply", "multiply"],
    ["devide", "divide"],
    ["equals", "equal"],
    ["ad", "add"],
    ["fi", "if"],
    ["notequal", "not_equal"],
  ])("takes %s for %s", (word, expected) => {
    expect(nearest(word, operators)).toBe(expected);
  });

  it.each(["", "zzz", "concatenate", "x".repeat(1_000_000)])("has no guess for %j", (word) => {
    expect(nearest(word, operators)).toBeUndefined();
  });

  it("prefers the closest, and among equals the first", () => {
    expect(nearest("cat", ["cart", "cut", "bat"])).toBe("cart");
    expect(nearest("node", ["nodes", "node"])).toBe("node");
    expect(nearest("a", [])).toBeUndefined();
    expect(nearest("a", ["b", "A"])).toBe("A");
    expect(nearest("a", ["b", "ab"])).toBe("ab");
  });

  it("looks at no more candidates than it was told to", () => {
    const many = Array.from({ length: 500 }, (_, at) => `other${at}`);
    expect(nearest("total", [...many, "totals"])).toBeUndefined();
    expect(nearest("total", [...many, "totals"], Number.POSITIVE_INFINITY)).toBe("totals");
    expect(nearest("total", ["totals", ...many])).toBe("totals");
  });
});

describe("shortened", () => {
  it("keeps what fits, cuts what does not, and leaves no half of a character", () => {
    expect(shortened("", 1)).toBe("");
    expect(shortened("abc", 3)).toBe("abc");
    expect(shortened("abcd", 3)).toBe("ab…");
    expect(shortened("a\u{1f600}b", 3)).toBe("a\ufffd…");
    expect(shortened("\ud800", 3)).toBe("\ufffd");
  });
});
