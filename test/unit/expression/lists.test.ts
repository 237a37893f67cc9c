import { describe, expect, test } from "vitest";
import { codes, failed, literal, result } from "../../support/expressions.ts";
import { list, rows } from "./rows.ts";

const divide = (left: unknown, right: unknown) => ({
  op: "divide",
  left,
  right,
  rounding: "floor",
});

describe("map, filter, count, sum", () => {
  test("map keeps order and may change the type", () => {
    const around = rows([
      { n: 1, k: "a" },
      { n: 2, k: "b" },
    ]);
    expect(result({ op: "map", list, value: { item: "item/k" } }, around)).toEqual(["a", "b"]);
    expect(result({ op: "map", list, as: "row", value: { index: "row" } }, around)).toEqual([
      "0",
      "1",
    ]);
    expect(
      result({ op: "map", list: [], value: { op: "add", left: { op: "item" }, right: 1 } }),
    ).toEqual([]);
  });

  test("filter keeps the order of what holds", () => {
    const around = rows([
      { n: 3, k: "a" },
      { n: 1, k: "b" },
      { n: 2, k: "a" },
    ]);
    const where = { op: "equal", left: { item: "item/k" }, right: "a" };
    expect(
      result({ op: "map", list: { op: "filter", list, where }, value: { item: "item/n" } }, around),
    ).toEqual(["3", "2"]);
    expect(result({ op: "count", list, where }, around)).toBe("2");
    expect(result({ op: "count", list }, around)).toBe("3");
    expect(codes({ op: "filter", list: [1], where: 1 })).toEqual(["type_mismatch"]);
  });

  test.each([
    [[], "0"],
    [[1, 2, 3], "6"],
    [literal(["9007199254740993", "1"], { list: "integer" }), "9007199254740994"],
  ])("sum of %j is %s", (source, expected) => {
    expect(result({ op: "sum", list: source })).toBe(expected);
    expect(result({ op: "sum", list: source, value: { op: "item" } })).toBe(expected);
    expect(result({ op: "sum", list: source, as: "x", value: { item: "x" } })).toBe(expected);
  });

  test("sum takes integers only", () => {
    expect(codes({ op: "sum", list: ["1"] })).toEqual(["type_mismatch"]);
    expect(codes({ op: "sum", list: [1, null] })).toEqual(["type_mismatch"]);
    expect(codes({ op: "sum", list: [1], value: "x" })).toEqual(["type_mismatch"]);
    expect(codes({ op: "sum", list: 1 })).toEqual(["type_mismatch"]);
  });

  test("failures name the element, outermost first", () => {
    const nested = {
      op: "map",
      list: [
        [1, 2],
        [3, 0],
      ],
      as: "line",
      value: { op: "map", list: { item: "line" }, as: "n", value: divide(6, { item: "n" }) },
    };
    const failure = failed(nested);
    expect(failure.code).toBe("division_by_zero");
    expect(failure.pointer).toBe("/value/value");
    expect(failure.positions).toEqual(["line[1]", "n[1]"]);
    expect(failure.message).toBe("divide: division by zero, at line[1], n[1]");
  });
});

describe("all, any", () => {
  const even = {
    op: "equal",
    left: { op: "modulo", left: { op: "item" }, right: 2, rounding: "floor" },
    right: 0,
  };
  test.each([
    [[2, 4], true, true],
    [[2, 3], false, true],
    [[1, 3], false, false],
  ])("%j", (source, all, any) => {
    expect(result({ op: "all", list: source, where: even, empty: false })).toBe(all);
    expect(result({ op: "any", list: source, where: even })).toBe(any);
  });

  test("what all of nothing means is said, any of nothing is false", () => {
    expect(result({ op: "all", list: [], where: even, empty: true })).toBe(true);
    expect(result({ op: "all", list: [], where: even, empty: false })).toBe(false);
    expect(result({ op: "any", list: [], where: even })).toBe(false);
    expect(codes({ op: "all", list: [], where: even })).toEqual(["missing_member"]);
    expect(codes({ op: "all", list: [], where: even, empty: { input: "e" } })).toEqual([
      "bad_member",
    ]);
  });

  test("they look at every element, so a failure does not depend on the order", () => {
    const where = { op: "equal", left: divide(2, { op: "item" }), right: 2 };
    expect(failed({ op: "any", list: [1, 0], where }).code).toBe("division_by_zero");
    expect(failed({ op: "any", list: [0, 1], where }).code).toBe("division_by_zero");
    expect(failed({ op: "all", list: [2, 0], where, empty: true }).code).toBe("division_by_zero");
  });
});

describe("fold", () => {
  test("runs from left to right with the total so far", () => {
    const digits = {
      op: "fold",
      list: [1, 2, 3],
      from: 0,
      value: {
        op: "add",
        left: { op: "multiply", left: { item: "total" }, right: 10 },
        right: { op: "item" },
      },
    };
    expect(result(digits)).toBe("123");
    const named = {
      op: "fold",
      list: literal(["a", "b"], { list: "text" }),
      as: "word",
      into: "sofar",
      from: "",
      type: "text",
      value: { op: "concat", values: [{ item: "sofar" }, { item: "word" }] },
    };
    expect(result(named)).toBe("ab");
    expect(result({ op: "fold", list: [], from: 7, value: { item: "total" } })).toBe("7");
  });

  test("a start that is too narrow asks for the type", () => {
    const narrow = (more: object) => ({
      op: "fold",
      list: literal(["a"], { list: "text" }),
      from: "",
      value: { op: "concat", values: [{ item: "total" }, { op: "item" }] },
      ...more,
    });
    expect(codes(narrow({}))).toEqual(["type_mismatch"]);
    expect(codes(narrow({ type: "integer" }))).toEqual(["type_mismatch"]);
    expect(result(narrow({ type: "text" }))).toBe("a");
    const optional = {
      op: "fold",
      list: [1, 2],
      from: null,
      type: { optional: "integer" },
      value: { op: "item" },
    };
    expect(result(optional)).toBe("2");
    const collect = {
      op: "fold",
      list: [1, 2],
      from: [],
      type: { list: "integer" },
      value: { op: "flatten", list: [[{ op: "item" }], { item: "total" }] },
    };
    expect(result(collect)).toEqual(["2", "1"]);
  });

  test("the total has no position", () => {
    expect(codes({ op: "fold", list: [1], from: 0, value: { index: "total" } })).toEqual([
      "unknown_item /value",
    ]);
    expect(result({ op: "fold", list: [5, 6], from: 0, value: { op: "index" } })).toBe("1");
  });
});

describe("lookup", () => {
  const find = (key: string) => ({
    op: "lookup",
    list,
    where: { op: "equal", left: { item: "item/k" }, right: literal(key, "text") },
  });
  test("finds the one, or null; several are ambiguous", () => {
    const around = rows([
      { n: 1, k: "a" },
      { n: 2, k: "b" },
      { n: 3, k: "b" },
    ]);
    expect(result(find("a"), around)).toEqual({ n: "1", k: "a" });
    expect(result(find("z"), around)).toBe(null);
    const failure = failed(find("b"), around);
    expect(failure.code).toBe("ambiguous");
    expect(failure.message).toBe("lookup: 2 of 3 elements fit");
  });

  test("two equal elements are ambiguous too", () => {
    expect(
      failed(
        find("a"),
        rows([
          { n: 1, k: "a" },
          { n: 1, k: "a" },
        ]),
      ).code,
    ).toBe("ambiguous");
  });
});

describe("first, last, flatten, range, zip", () => {
  test.each([
    ["first", [1, 2], "1"],
    ["last", [1, 2], "2"],
    ["first", [], null],
    ["last", [], null],
    ["first", [null, 1], null],
  ])("%s of %j is %j", (op, source, expected) => {
    expect(result({ op, list: source })).toBe(expected);
  });

  test.each([
    [[], []],
    [
      [[1], [], [2, 3]],
      ["1", "2", "3"],
    ],
    [
      [[[1]], [[2]]],
      [["1"], ["2"]],
    ],
    [
      [1, null, 2],
      ["1", "2"],
    ],
    [[null], []],
    [[[1], null], [["1"]]],
  ])("flatten of %j is %j", (source, expected) => {
    expect(result({ op: "flatten", list: source })).toEqual(expected);
  });

  test("flatten needs lists or optionals, and what it builds is bounded", () => {
    expect(codes({ op: "flatten", list: [1] })).toEqual(["type_mismatch"]);
    const many = { op: "range", from: 0, count: 60_000 };
    expect(failed({ op: "flatten", list: [many, many] }).code).toBe("too_large");
  });

  test.each([
    [5, 0, []],
    [5, 3, ["5", "6", "7"]],
    [-1, 3, ["-1", "0", "1"]],
    [literal("9007199254740992", "integer"), 2, ["9007199254740992", "9007199254740993"]],
  ])("range from %j of %i", (from, count, expected) => {
    expect(result({ op: "range", from, count })).toEqual(expected);
  });

  test("a range of less than nothing is out of range, of more than a list holds too large", () => {
    expect(failed({ op: "range", from: 0, count: -1 }).code).toBe("out_of_range");
    expect(failed({ op: "range", from: 0, count: 100_001 }).code).toBe("too_large");
    expect(failed({ op: "range", from: 0, count: literal("9".repeat(30), "integer") }).code).toBe(
      "too_large",
    );
    const top = literal((2n ** 8192n - 2n).toString(), "integer");
    expect(failed({ op: "range", from: top, count: 3 }).code).toBe("too_large");
    expect(result({ op: "count", list: { op: "range", from: top, count: 2 } })).toBe("2");
  });

  test("zip pairs by position, of equal lengths only", () => {
    expect(result({ op: "zip", left: [1, 2], right: ["a", "b"] })).toEqual([
      { left: "1", right: "a" },
      { left: "2", right: "b" },
    ]);
    expect(result({ op: "zip", left: [], right: [] })).toEqual([]);
    expect(failed({ op: "zip", left: [1], right: [] }).code).toBe("length_mismatch");
  });
});
