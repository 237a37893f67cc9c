import { describe, expect, test } from "vitest";
import { codes, literal, result } from "../../support/expressions.ts";
import { list, rows } from "./rows.ts";

describe("sort_by", () => {
  const sorted = (around: object, key: unknown, more: object = {}) =>
    result(
      { op: "map", list: { op: "sort_by", list, key, ...more }, value: { item: "item/n" } },
      around,
    );
  const around = rows([
    { n: 1, k: "b" },
    { n: 2, k: "a" },
    { n: 3, k: "b" },
    { n: 4, k: "a" },
  ]);

  test("is stable in both orders", () => {
    expect(sorted(around, { item: "item/k" })).toEqual(["2", "4", "1", "3"]);
    expect(sorted(around, { item: "item/k" }, { order: "descending" })).toEqual([
      "1",
      "3",
      "2",
      "4",
    ]);
    expect(sorted(around, { item: "item/n" }, { order: "descending" })).toEqual([
      "4",
      "3",
      "2",
      "1",
    ]);
  });

  test("several keys: the last one first", () => {
    const byNumber = { op: "sort_by", list, key: { item: "item/n" }, order: "descending" };
    const both = { op: "sort_by", list: byNumber, key: { item: "item/k" } };
    expect(result({ op: "map", list: both, value: { item: "item/n" } }, around)).toEqual([
      "4",
      "2",
      "3",
      "1",
    ]);
  });

  test("integers sort by value, dates by time", () => {
    const numbers = literal(["10", "9", "-1", "100000000000000000000"], { list: "integer" });
    expect(result({ op: "sort_by", list: numbers, key: { op: "item" } })).toEqual([
      "-1",
      "9",
      "10",
      "100000000000000000000",
    ]);
  });

  test.each([
    [["a", "b"], "not_ordered"],
    [[true], "not_ordered"],
    [[1, null], "not_ordered"],
  ])("%j has no order to sort by", (source, code) => {
    expect(codes({ op: "sort_by", list: source, key: { op: "item" } })).toEqual([code]);
  });

  test("order is one of two words", () => {
    expect(codes({ op: "sort_by", list: [1], key: { op: "item" }, order: "desc" })).toEqual([
      "bad_member",
    ]);
  });
});

describe("group_by and distinct", () => {
  test("groups and items come in order of first appearance", () => {
    const around = rows([
      { n: 1, k: "b" },
      { n: 2, k: "a" },
      { n: 3, k: "b" },
    ]);
    const grouped = { op: "group_by", list, key: { item: "item/k" } };
    expect(result(grouped, around)).toEqual([
      {
        key: "b",
        items: [
          { n: "1", k: "b" },
          { n: "3", k: "b" },
        ],
      },
      { key: "a", items: [{ n: "2", k: "a" }] },
    ]);
    expect(result({ op: "group_by", list: [], key: { op: "item" } })).toEqual([]);
  });

  const keyed = (type: unknown, values: readonly unknown[]) =>
    result({ op: "count", list: { op: "distinct", list: literal(values, { list: type }) } });
  test.each([
    ["integer", [1, "1", 2], "2"],
    ["text", ["a", "A", "a"], "2"],
    ["boolean", [true, false, true], "2"],
    ["timestamp", ["2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"], "1"],
    [{ optional: "integer" }, [null, 0, null], "2"],
    [{ list: "text" }, [["a", "b"], ["ab"], ["a", "b"]], "2"],
    [{ list: { optional: "text" } }, [[null], ["null"], []], "3"],
    [{ list: { list: "text" } }, [[["a"], ["b"]], [["a", "b"]]], "2"],
    [
      { record: { a: "text", b: "text" } },
      [
        { a: "x", b: "y" },
        { b: "y", a: "x" },
        { a: "xy", b: "" },
      ],
      "2",
    ],
    [{ record: { a: { optional: "integer" } } }, [{}, { a: null }, { a: 0 }], "2"],
    [{ dictionary: "integer" }, [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1 }], "2"],
    ["json", [1, "1", true, "true", null, "null", [], {}, [1], { a: 1 }, { a: 1 }, 1], "10"],
    [
      "json",
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "1",
    ],
  ])("%j: of %j there are %s different ones", (type, values, expected) => {
    expect(keyed(type, values)).toBe(expected);
  });

  test("integers that agree in their lowest 64 bits are told apart, and as quickly as others", () => {
    const [one, two] = [(2n ** 64n).toString(), (2n ** 65n).toString()];
    expect(keyed("integer", [0, one, two, `-${one}`, one, two])).toBe("4");
    expect(keyed({ optional: "integer" }, [null, one, null, one])).toBe("2");
    const multiples = {
      op: "map",
      list: { op: "range", from: 0, count: 100_000 },
      value: { op: "multiply", left: { op: "item" }, right: literal(one, "integer") },
    };
    // Going through one chain of all keys, this would take minutes.
    expect(result({ op: "count", list: { op: "distinct", list: multiples } })).toBe("100000");
    const grouped = { op: "group_by", list: [literal(two, "integer")], key: { op: "item" } };
    expect(result(grouped)).toEqual([{ key: two, items: [two] }]);
  });

  test("distinct keeps the first of each, by key where one is named", () => {
    const around = rows([
      { n: 1, k: "b" },
      { n: 2, k: "a" },
      { n: 3, k: "b" },
    ]);
    const kept = { op: "distinct", list, key: { item: "item/k" } };
    expect(result({ op: "map", list: kept, value: { item: "item/n" } }, around)).toEqual([
      "1",
      "2",
    ]);
  });
});
