import { describe, expect, test } from "vitest";
import { expressions as e } from "../../../src/expression/index.ts";
import { OPERATOR_NAMES } from "../../../src/model/operators.ts";
import { check, result } from "../../support/expressions.ts";

const RENAMED: Readonly<Record<string, string>> = {
  if: "ifThen",
  let: "letIn",
  default: "defaultTo",
};
const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

describe("builders", () => {
  test("there is one for every operator, and five for what needs none of its own", () => {
    const wanted = OPERATOR_NAMES.map((name) => RENAMED[name] ?? camel(name));
    const more = ["negate", "parseInteger", "parseDecimal", "formatDecimal", "keys"];
    expect(Object.keys(e).sort()).toEqual([...wanted, ...more].sort());
  });

  test("they give plain JSON in the long form", () => {
    expect(e.multiply(e.input("quantity"), e.input("price"))).toEqual({
      op: "multiply",
      left: { op: "input", name: "quantity" },
      right: { op: "input", name: "price" },
    });
    expect(JSON.parse(JSON.stringify(e.all([], true, { empty: false })))).toEqual({
      op: "all",
      list: [],
      where: true,
      empty: false,
    });
  });

  const d = e.literal("2026-01-31", "date");
  const t = e.literal("2026-01-31T00:00:00Z", "timestamp");
  const words = e.literal(["b", "a"], { list: "text" });
  const dictionary = e.literal({ b: 1, a: 2 }, { dictionary: "integer" });
  const byNumber = { as: "x" };
  const cases: Readonly<Record<keyof typeof e, readonly [unknown, unknown]>> = {
    literal: [e.literal("1.50", { decimal: 2 }), "150"],
    input: [e.input("doc", "/a"), "7"],
    node: [e.node("before"), "8"],
    item: [e.map([1], e.item()), ["1"]],
    index: [e.map([5], e.index("x"), byNumber), ["0"]],
    letIn: [e.letIn("x", 5, e.add(e.item("x"), e.item("x"))), "10"],
    add: [e.add(1, 2), "3"],
    subtract: [e.subtract(1, 2), "-1"],
    multiply: [e.multiply(2, 3), "6"],
    divide: [e.divide(7, 2, "floor"), "3"],
    modulo: [e.modulo(7, 2, "floor"), "1"],
    power: [e.power(2, 5), "32"],
    absolute: [e.absolute(-5), "5"],
    minimum: [e.minimum(1, 2), "1"],
    maximum: [e.maximum(1, 2), "2"],
    negate: [e.negate(5), "-5"],
    equal: [e.equal(1, 1), true],
    notEqual: [e.notEqual(1, 1), false],
    less: [e.less(1, 2), true],
    lessOrEqual: [e.lessOrEqual(2, 2), true],
    greater: [e.greater(1, 2), false],
    greaterOrEqual: [e.greaterOrEqual(2, 2), true],
    and: [e.and(true, false), false],
    or: [e.or(true, false), true],
    not: [e.not(true), false],
    ifThen: [e.ifThen(true, 1, 2), "1"],
    concat: [e.concat("a", "b"), "ab"],
    length: [e.length("abc"), "3"],
    lower: [e.lower("ABC"), "abc"],
    trim: [e.trim(" a "), "a"],
    split: [e.split("a,b", ","), ["a", "b"]],
    join: [e.join(words, "-"), "b-a"],
    startsWith: [e.startsWith("abc", "ab"), true],
    endsWith: [e.endsWith("abc", "bc"), true],
    contains: [e.contains("abc", "b"), true],
    slice: [e.slice("hello", 1, 2), "el"],
    decode: [e.decode(e.literal("x", "text"), "integer", 0), "0"],
    parseInteger: [e.parseInteger(e.literal("12", "text")), "12"],
    parseDecimal: [e.parseDecimal(e.literal("12.5", "text"), 2), "1250"],
    toText: [e.toText(12), "12"],
    formatDecimal: [e.formatDecimal(1250, 2), "12.50"],
    toJson: [e.toJson(1250, { number: 2 }), 12.5],
    dateAdd: [e.dateAdd(d, { months: 1 }), "2026-02-28"],
    daysBetween: [e.daysBetween(d, d), "0"],
    secondsBetween: [e.secondsBetween(t, t), "0"],
    monthEnd: [e.monthEnd(d), "2026-01-31"],
    list: [e.list(1, 2), ["1", "2"]],
    record: [e.record({ a: 1 }), { a: "1" }],
    get: [e.get([1, 2], { key: 5, else: 0 }), "0"],
    has: [e.has([1, 2], { key: 1 }), true],
    defaultTo: [e.defaultTo(e.first([]), 5), "5"],
    merge: [e.merge(e.record({ a: 1 }), e.record({ b: 2 })), { a: "1", b: "2" }],
    entries: [
      e.entries(dictionary),
      [
        { key: "a", value: "2" },
        { key: "b", value: "1" },
      ],
    ],
    keys: [e.keys(dictionary), ["a", "b"]],
    digest: [e.startsWith(e.digest(1), "sha256:"), true],
    map: [e.map([1, 2], e.add(e.item("x"), 1), byNumber), ["2", "3"]],
    filter: [e.filter([1, 2], e.greater(e.item(), 1)), ["2"]],
    fold: [e.fold([1, 2], 0, e.add(e.item("total"), e.item())), "3"],
    all: [e.all([], true, { empty: true }), true],
    any: [e.any([1], e.equal(e.item(), 1)), true],
    sum: [e.sum(e.list(e.record({ n: 5 })), e.item("/n")), "5"],
    count: [e.count([1, 2], e.less(e.item(), 2)), "1"],
    sortBy: [e.sortBy([1, 2], e.item(), { order: "descending" }), ["2", "1"]],
    groupBy: [e.groupBy([1], e.item()), [{ key: "1", items: ["1"] }]],
    distinct: [e.distinct([1, 1]), ["1"]],
    lookup: [e.lookup([1, 2], e.equal(e.item(), 2)), "2"],
    first: [e.first([1, 2]), "1"],
    last: [e.last([1, 2]), "2"],
    flatten: [e.flatten([[1], [2]]), ["1", "2"]],
    range: [e.range(1, 2), ["1", "2"]],
    zip: [e.zip([1], ["a"]), [{ left: "1", right: "a" }]],
  };
  const around = {
    inputs: { doc: [{ record: { a: "integer" } }, { a: 7 }] },
    nodes: { before: ["integer", 8] },
  } as const;

  test.each(Object.entries(cases))(
    "%s builds an expression that checks and computes",
    (_, [expression, expected]) => {
      expect(check(expression, around).problems).toEqual([]);
      expect(result(expression, around)).toEqual(expected);
    },
  );
});
