import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { parseExpression } from "../../../src/expression/index.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { codes, failed, literal, result, typeOf } from "../../support/expressions.ts";

function parseCodes(source: JsonValue): readonly string[] {
  const problems: Diagnostic[] = [];
  parseExpression(source, "", new Map(), (problem) => problems.push(problem));
  return problems.map(({ code }) => code);
}

describe("size of an expression", () => {
  test("10,000 operators are parsed, one more is refused, once", () => {
    expect(parseCodes(new Array(9_999).fill(1))).toEqual([]);
    expect(parseCodes(new Array(10_000).fill(1))).toEqual(["too_many_operators"]);
  });

  test("a million operators are refused without looking at them (B102)", () => {
    let looked = 0;
    const values = new Proxy(new Array<JsonValue>(1_000_000).fill(1), {
      get: (target, key, receiver) => {
        looked += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    expect(parseCodes({ op: "list", values })).toEqual(["too_many_operators"]);
    expect(looked).toBeLessThan(100_000);
    const wide: Record<string, JsonValue> = {};
    for (let at = 0; at < 20_000; at += 1) wide[`f${at}`] = 1;
    expect(parseCodes({ op: "record", fields: wide })).toEqual(["too_many_operators"]);
  });

  test("48 levels of the long form, and not one more", () => {
    const nots = (levels: number): JsonValue => {
      let source: JsonValue = true;
      for (let level = 1; level < levels; level += 1) source = { op: "not", value: source };
      return source;
    };
    expect(codes(nots(48))).toEqual([]);
    expect(codes(nots(49))).toEqual([`too_deep ${"/value".repeat(48)}`]);
    const lists = (levels: number): JsonValue => {
      let source: JsonValue = [];
      for (let level = 1; level < levels; level += 1) source = [source];
      return source;
    };
    expect(codes(lists(24))).toEqual([]);
    expect(codes(lists(25))).toEqual([`too_deep ${"/0".repeat(24)}`]);
    let value: JsonValue = 1;
    for (let level = 0; level < 48; level += 1) value = [value];
    expect(codes({ op: "literal", value })).toEqual(["too_deep"]);
  });

  test("a hundred thousand nested arrays are too deep, not a dead process (B102)", () => {
    let source: JsonValue = [];
    for (let level = 0; level < 100_000; level += 1) source = [source];
    expect(parseCodes(source)).toEqual(["too_deep"]);
    expect(parseCodes({ op: "literal", value: source })).toEqual(["too_deep"]);
    let objects: JsonValue = 1;
    for (let level = 0; level < 100_000; level += 1) objects = { op: "not", value: objects };
    expect(parseCodes(objects)).toEqual(["too_deep"]);
    expect(parseCodes({ op: "literal", value: 1, type: nested(100_000) })).toEqual(["too_deep"]);
  });

  function nested(levels: number): JsonValue {
    let type: JsonValue = "text";
    for (let level = 0; level < levels; level += 1) type = { list: type };
    return type;
  }

  test("types that grow by doubling are refused while they are small", () => {
    let source: JsonValue = { item: "v20" };
    for (let at = 20; at >= 1; at -= 1) {
      const before = at === 1 ? 1 : { item: `v${at - 1}` };
      const value = { op: "record", fields: { a: before, b: before } };
      source = { op: "let", name: `v${at}`, value, in: source };
    }
    expect(codes(source).map((line) => line.split(" ")[0])).toEqual(["limit_exceeded"]);
  });

  test("types that are many and large, each below its limit, are refused together", () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, "text"]));
    const around = { inputs: { wide: [{ record: wide }] } } as const;
    const widened = (name: string) => ({
      op: "count",
      list: [
        {
          op: "merge",
          left: { input: "wide" },
          right: { op: "record", fields: { [name]: 1 } },
        },
      ],
    });
    const many = (count: number) => Array.from({ length: count }, (_, at) => widened(`g${at}`));
    expect(codes(many(30), around)).toEqual([]);
    expect(codes(many(1_500), around).map((line) => line.split(" ")[0])).toEqual([
      "limit_exceeded",
    ]);
    expect(codes(new Array(9_000).fill({ input: "wide" }), around)).toEqual([]);
  });

  test("a list of ten thousand different words has its type at once", () => {
    const words = Array.from({ length: 9_000 }, (_, at) => `word ${at}`);
    expect(codes({ op: "count", list: words })).toEqual([]);
    expect(codes({ op: "count", list: literal(words, { list: "text" }) })).toEqual([]);
  });
});

describe("fuel", () => {
  /** The least fuel with which an expression still evaluates. */
  function fuelOf(expression: unknown, around: object = {}): number {
    let low = 0;
    let high = 1_000_000;
    while (low < high) {
      const middle = (low + high) >> 1;
      try {
        result(expression, { ...around, limits: { fuel: middle } });
        high = middle;
      } catch {
        low = middle + 1;
      }
    }
    return low;
  }
  const range = (count: number) => ({ op: "range", from: 0, count });

  test.each<[string, unknown, number]>([
    ["an operator each", { op: "add", left: 1, right: { op: "add", left: 2, right: 3 } }, 5],
    [
      "a branch only when taken",
      { op: "if", condition: true, then: 1, else: { op: "add", left: 1, right: 2 } },
      3,
    ],
    ["a junction until it is decided", { op: "and", values: [true, false, true, true] }, 3],
    ["a short list: its operators", { op: "sum", list: [1, 2, 3] }, 5],
    [
      "a body per element",
      { op: "map", list: [1, 2, 3], value: { op: "add", left: { op: "item" }, right: 1 } },
      5 + 3 * 3,
    ],
    ["elements by the 32, new integers by the 4", { op: "sum", list: range(320) }, 4 + 80 + 10],
    [
      "sorting n log2 n",
      { op: "sort_by", list: range(64), key: { op: "item" } },
      4 + 16 + 2 + 64 + 64 * 6 + 2,
    ],
    [
      "copies by the 4 parts",
      { op: "digest", value: { op: "range", from: 0, count: 39 } },
      4 + 9 + 10,
    ],
    ["text by the 256 units", { op: "length", value: literal("x".repeat(1024), "text") }, 2 + 4],
    [
      "large integers by the 256 bits",
      { op: "add", left: literal((2n ** 1023n).toString(), "integer"), right: 1 },
      3 + 4 + 4,
    ],
    [
      "a range by the 256 bits of its larger end, each time",
      { op: "range", from: literal((2n ** 1023n).toString(), "integer"), count: 8 },
      3 + 4 + 2 + 8 * 4,
    ],
    [
      "a large integer as a key by the 256 bits",
      { op: "distinct", list: literal([(2n ** 2559n).toString()], { list: "integer" }) },
      2 + 10,
    ],
    [
      "a default that is written, as if it were not",
      { op: "date_add", value: literal("2026-01-01", "date"), days: 0 },
      2,
    ],
  ])("%s", (_, expression, expected) => {
    expect(fuelOf(expression)).toBe(expected);
  });

  test("runs out where too much is evaluated, at the operator that is entered", () => {
    const squares = {
      op: "map",
      list: range(2_000),
      as: "a",
      value: {
        op: "count",
        list: range(2_000),
        as: "b",
        where: { op: "less", left: { item: "a" }, right: { item: "b" } },
      },
    };
    const failure = failed(squares);
    expect([failure.code, failure.pointer]).toEqual(["out_of_fuel", "/value"]);
    expect(failure.positions).toHaveLength(1);
  });

  test("copies that would fill memory run out of fuel first (B102)", () => {
    const around = {
      inputs: { rows: [{ list: { record: { n: "integer" } } }, new Array(50_000).fill({ n: 1 })] },
    } as const;
    const copies = {
      op: "map",
      list: range(400),
      value: { op: "to_json", value: { input: "rows" } },
    };
    expect(failed(copies, around).code).toBe("out_of_fuel");
    const ranges = { op: "map", list: range(400), value: { op: "range", from: 0, count: 100_000 } };
    expect(failed(ranges).code).toBe("out_of_fuel");
  });

  test("long ranges of large integers run out of fuel before they fill memory (B102)", () => {
    const from = literal((2n ** 8190n).toString(), "integer");
    expect(failed({ op: "range", from, count: 100_000 }).code).toBe("out_of_fuel");
    expect(
      failed({ op: "range", from: literal((-(2n ** 8190n)).toString(), "integer"), count: 100_000 })
        .code,
    ).toBe("out_of_fuel");
  });

  test("limits that are no number have no effect", () => {
    const around = { limits: { fuel: Number.NaN, elements: Number.POSITIVE_INFINITY } };
    expect(failed({ op: "range", from: 0, count: 100_001 }, around).code).toBe("too_large");
  });

  test("a host's lower fuel holds, a higher one has no effect", () => {
    expect(failed({ op: "sum", list: range(100) }, { limits: { fuel: 5 } }).code).toBe(
      "out_of_fuel",
    );
    const heavy = { op: "map", list: range(100_000), value: [[[[[[[[1, 2]]]]]]]] };
    expect(failed(heavy, { limits: { fuel: 1e9 } }).code).toBe("out_of_fuel");
  });
});

describe("size of a result", () => {
  const wide = (count: number) => ({ op: "range", from: 0, count });
  test("a million parts in all, shared ones counted each time", () => {
    const share = (times: number) => ({
      op: "let",
      name: "x",
      value: wide(99_999),
      in: new Array(times).fill({ item: "x" }),
    });
    expect(failed(share(11)).code).toBe("too_large");
    expect(failed(share(11)).pointer).toBe("");
    expect((result(share(9)) as unknown[]).length).toBe(9);
  });

  test("16 Mi units of text in all", () => {
    const text = literal("x".repeat(1_048_576), "text");
    const share = (times: number) => ({
      op: "let",
      name: "x",
      value: text,
      in: new Array(times).fill({ item: "x" }),
    });
    expect(failed(share(17)).code).toBe("too_large");
    expect((result(share(16)) as unknown[]).length).toBe(16);
  });

  test("one text and one list have limits of their own", () => {
    const around = { inputs: { t: ["text", "x".repeat(1_048_576)] } } as const;
    expect(
      result({ op: "length", value: { op: "concat", values: [{ input: "t" }] } }, around),
    ).toBe("1048576");
    expect(failed({ op: "concat", values: [{ input: "t" }, "y"] }, around).code).toBe("too_large");
    expect(typeOf("text").kind).toBe("text");
  });
});
