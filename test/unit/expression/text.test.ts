import { describe, expect, test } from "vitest";
import { codes, failed, literal, result } from "../../support/expressions.ts";

const text = (value: string) => literal(value, "text");
const list = (value: readonly string[]) => literal(value, { list: "text" });

describe("concat, join, split", () => {
  test.each([
    [[], ""],
    [["a"], "a"],
    [["a", "", "b"], "ab"],
  ])("concat of %j is %j", (values, expected) => {
    expect(result({ op: "concat", values })).toBe(expected);
  });

  test.each([
    [[], ",", ""],
    [["a"], ",", "a"],
    [["a", "", "b"], ", ", "a, , b"],
  ])("join of %j with %j is %j", (values, separator, expected) => {
    expect(result({ op: "join", list: list(values), separator })).toBe(expected);
  });

  test("join without separator puts texts side by side", () => {
    expect(result({ op: "join", list: list(["a", "b"]) })).toBe("ab");
    expect(result({ op: "join", list: [] })).toBe("");
  });

  test.each([
    ["", ",", [""]],
    ["a", ",", ["a"]],
    ["a,b,,c,", ",", ["a", "b", "", "c", ""]],
    [",", ",", ["", ""]],
    ["aaa", "aa", ["", "a"]],
    ["a.b|c", "|", ["a.b", "c"]],
    ["x\u{1F600}y", "\u{1F600}", ["x", "y"]],
  ])("split of %j at %j is %j", (value, separator, expected) => {
    expect(result({ op: "split", value: text(value), separator: text(separator) })).toEqual(
      expected,
    );
  });

  test("an empty separator is out of range", () => {
    expect(failed({ op: "split", value: "ab", separator: "" }).code).toBe("out_of_range");
  });

  test("texts and lists that would grow beyond the limit are too large before they are built (B102)", () => {
    const long = { op: "literal", value: "x".repeat(600_000), type: "text" };
    expect(failed({ op: "concat", values: [long, long] }).code).toBe("too_large");
    expect(failed({ op: "join", list: [long, long] }).code).toBe("too_large");
    const commas = { op: "literal", value: ",".repeat(100_000), type: "text" };
    expect(failed({ op: "split", value: commas, separator: "," }).code).toBe("too_large");
    const fewer = { op: "literal", value: ",".repeat(99_999), type: "text" };
    expect(result({ op: "count", list: { op: "split", value: fewer, separator: "," } })).toBe(
      "100000",
    );
    const grown = { op: "lower", value: literal("\u0130".repeat(600_000), "text") };
    expect(failed(grown).code).toBe("too_large");
  });
});

describe("length and slice", () => {
  test.each([
    ["", "0"],
    ["abc", "3"],
    ["e\u0301", "2"],
    ["a\u{1F600}b", "3"],
  ])("length of %j is %s", (value, expected) => {
    expect(result({ op: "length", value })).toBe(expected);
  });

  test.each([
    ["hello", 0, undefined, "hello"],
    ["hello", 1, 3, "ell"],
    ["hello", 3, 99, "lo"],
    ["hello", 99, 1, ""],
    ["hello", 5, undefined, ""],
    ["hello", 0, 0, ""],
    ["a\u{1F600}bc", 1, 2, "\u{1F600}b"],
    ["a\u{1F600}bc", 2, undefined, "bc"],
  ])("slice of %j from %i, %s", (value, from, count, expected) => {
    const expression = { op: "slice", value, from, ...(count !== undefined && { count }) };
    expect(result(expression)).toBe(expected);
  });

  test.each([
    [[1, 2, 3], 1, 1, ["2"]],
    [[1, 2, 3], 0, undefined, ["1", "2", "3"]],
    [[1, 2, 3], 7, 1, []],
  ])("slice of the list %j from %i", (value, from, count, expected) => {
    const expression = { op: "slice", value, from, ...(count !== undefined && { count }) };
    expect(result(expression)).toEqual(expected);
  });

  test("huge positions are past the end, negative ones out of range", () => {
    const huge = literal("99999999999999999999", "integer");
    expect(result({ op: "slice", value: "abc", from: huge })).toBe("");
    expect(result({ op: "slice", value: "abc", from: 1, count: huge })).toBe("bc");
    expect(failed({ op: "slice", value: "abc", from: -1 }).code).toBe("out_of_range");
    expect(failed({ op: "slice", value: "abc", from: 0, count: -1 }).code).toBe("out_of_range");
    expect(failed({ op: "slice", value: [], from: 0, count: -1 }).code).toBe("out_of_range");
  });
});

describe("lower and trim", () => {
  test.each([
    ["ÀÉÎ", "àéî"],
    ["I", "i"],
    ["ΟΔΟΣ", "οδος"],
    ["straße", "straße"],
    ["\u0130", "i\u0307"],
  ])("lower of %j is %j", (value, expected) => {
    expect(result({ op: "lower", value })).toBe(expected);
  });

  test("there is no upper, and asking for it says so", () => {
    expect(codes({ op: "upper", value: "a" })).toEqual(["unknown_operator"]);
  });

  const spaces =
    "\t\n\u000b\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
  test("trim takes all of Unicode's white space, line ends and U+FEFF from both sides", () => {
    expect(result({ op: "trim", value: text(`${spaces}a b${spaces}`) })).toBe("a b");
    expect(result({ op: "trim", value: text(spaces) })).toBe("");
  });

  test.each(["\u200b", "\u180e", "\u2060", "\u0000", "\u001f"])(
    "trim leaves %j, which is no white space",
    (unit) => {
      expect(result({ op: "trim", value: text(`${unit}a`) })).toBe(`${unit}a`);
    },
  );
});

describe("starts_with, ends_with, contains", () => {
  test.each([
    ["starts_with", "abc", "ab", true],
    ["starts_with", "abc", "bc", false],
    ["starts_with", "abc", "", true],
    ["starts_with", "", "a", false],
    ["ends_with", "abc", "bc", true],
    ["ends_with", "abc", "", true],
    ["ends_with", "abc", "ab", false],
  ])("%s(%j, %j) is %j", (op, value, part, expected) => {
    expect(result({ op, value: text(value), with: text(part) })).toBe(expected);
  });

  test.each([
    [text("abc"), "b", true],
    [text("abc"), "", true],
    [text("abc"), "B", false],
    [[1, 2], 2, true],
    [[1, 2], 3, false],
    [[], 3, false],
    [list(["a", "b"]), text("b"), true],
    [["a", "b"], text("c"), false],
    [[[1], [2, 3]], [2, 3], true],
    [literal([1, null], { list: { optional: "integer" } }), 1, true],
    [literal([1, null], { list: { optional: "integer" } }), null, true],
    [literal([1, 2], { list: { optional: "integer" } }), null, false],
  ])("contains(%j, %j) is %j", (within, value, expected) => {
    expect(result({ op: "contains", in: within, value })).toBe(expected);
  });

  test.each([
    [["a"], "b", "never_equal"],
    [[1], "1", "type_mismatch"],
    [1, 1, "type_mismatch"],
    [text("a"), 1, "type_mismatch"],
    [{ op: "to_json", value: [] }, { op: "to_json", value: 1 }, "type_mismatch"],
    [literal([1], { list: { optional: "integer" } }), { input: "maybe" }, "both_optional"],
  ])("contains(%j, %j) is refused: %s", (within, value, code) => {
    const around = { inputs: { maybe: [{ optional: "integer" }] } } as const;
    expect(codes({ op: "contains", in: within, value }, around)).toEqual([code]);
  });
});

describe("periodic texts", () => {
  // Half a million times half a million steps would not end within any test.
  const around = {
    inputs: {
      text: ["text", "a".repeat(1_000_000)],
      part: ["text", `${"a".repeat(250_000)}b${"a".repeat(250_000)}`],
      half: ["text", "a".repeat(400_000)],
    },
  } as const;

  test("are searched in time that grows with their size only", () => {
    const contains = (part: string) => ({
      op: "contains",
      in: { input: "text" },
      value: { input: part },
    });
    expect(result(contains("part"), around)).toBe(false);
    expect(result(contains("half"), around)).toBe(true);
  });

  test("are split in time that grows with their size only", () => {
    const split = (part: string) => ({
      op: "map",
      list: { op: "split", value: { input: "text" }, separator: { input: part } },
      value: { op: "length", value: { op: "item" } },
    });
    expect(result(split("part"), around)).toEqual(["1000000"]);
    expect(result(split("half"), around)).toEqual(["0", "0", "200000"]);
  });
});
