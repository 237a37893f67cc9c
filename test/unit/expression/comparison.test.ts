import { describe, expect, test } from "vitest";
import { codes, failed, literal, result } from "../../support/expressions.ts";

const equal = (left: unknown, right: unknown) => ({ op: "equal", left, right });
const input = (name: string) => ({ input: name });

/** Whether two inputs of these types are equal. */
function same(left: readonly [unknown, unknown], right: readonly [unknown, unknown]): unknown {
  const around = { inputs: { left, right } };
  const answer = result(equal(input("left"), input("right")), around);
  const opposite = { op: "not_equal", left: input("left"), right: input("right") };
  expect(result(opposite, around)).toBe(!answer);
  return answer;
}

describe("equal", () => {
  test.each([
    [["integer", 12], ["integer", "12"], true],
    [["integer", "123456789012345678901"], ["integer", "123456789012345678902"], false],
    [["text", "a"], ["text", "a"], true],
    [["text", "\u00e9"], ["text", "e\u0301"], false],
    [["text", "a"], [{ enum: ["a", "b"] }, "a"], true],
    [[{ enum: ["a", "b"] }, "b"], [{ enum: ["b", "c"] }, "b"], true],
    [["boolean", false], ["boolean", false], true],
    [["date", "2026-01-01"], ["date", "2026-01-01"], true],
    [["timestamp", "2026-01-01T01:00:00+01:00"], ["timestamp", "2026-01-01T00:00:00Z"], true],
    [["integer", 0], [{ optional: "integer" }, null], false],
    [["integer", 0], [{ optional: "integer" }, 0], true],
    [[{ list: "integer" }, []], [{ list: "integer" }, []], true],
    [[{ list: "integer" }, [1, 2]], [{ list: "integer" }, [2, 1]], false],
    [[{ list: "integer" }, [1]], [{ list: "integer" }, [1, 1]], false],
    [
      [{ list: { optional: "integer" } }, [null]],
      [{ list: { optional: "integer" } }, [null]],
      true,
    ],
    [[{ list: "integer" }, [0]], [{ list: { optional: "integer" } }, [null]], false],
    [
      [{ dictionary: "integer" }, { a: 1, b: 2 }],
      [{ dictionary: "integer" }, { b: 2, a: 1 }],
      true,
    ],
    [[{ dictionary: "integer" }, { a: 1 }], [{ dictionary: "integer" }, { b: 1 }], false],
    [[{ dictionary: "integer" }, { a: 1 }], [{ dictionary: "integer" }, { a: 1, b: 1 }], false],
    [
      [{ record: { a: "integer", b: "text" } }, { a: 1, b: "x" }],
      [{ record: { b: "text", a: "integer" } }, { b: "x", a: 1 }],
      true,
    ],
    [
      [{ record: { a: { optional: "integer" } } }, {}],
      [{ record: { a: { optional: "integer" } } }, { a: null }],
      true,
    ],
    [[{ record: {} }, {}], [{ record: { a: { optional: "integer" } } }, {}], true],
    [[{ record: {} }, {}], [{ record: { a: { optional: "integer" } } }, { a: 1 }], false],
    [["json", { a: 1, b: [2, null] }], ["json", { b: [2, null], a: 1 }], true],
    [["json", 1], ["json", "1"], false],
    [["json", 0], ["json", false], false],
    [["json", null], ["json", null], true],
    [["json", []], ["json", {}], false],
    [["json", {}], ["json", { a: null }], false],
    [["json", 100], ["json", 1e2], true],
    [["json", null], [{ optional: "json" }, null], false],
  ] as const)("%j and %j: %j (B099)", (left, right, expected) => {
    expect(same(left, right)).toBe(expected);
    expect(same(right, left)).toBe(expected);
  });

  test.each([
    [[], "", "type_mismatch"],
    ["1", 1, "type_mismatch"],
    [0, false, "type_mismatch"],
    [0, "", "type_mismatch"],
    [literal({}, { dictionary: "text" }), { op: "record", fields: {} }, "type_mismatch"],
    [literal("2026-01-01", "date"), literal("2026-01-01", "text"), "type_mismatch"],
    [{ op: "to_json", value: 1 }, 1, "type_mismatch"],
    ["paid", "payed", "never_equal"],
  ])("%j and %j are not comparable: %s (B099)", (left, right, code) => {
    expect(codes(equal(left, right))).toEqual([code]);
    expect(codes({ op: "not_equal", left: right, right: left })).toEqual([code]);
  });

  const words = (...texts: string[]) => ({ enum: texts });
  const one = words("paid");
  const other = words("payed");
  const field = (type: unknown) => ({ record: { state: type } });
  test.each([
    [field(one), field(other), ["never_equal"]],
    [field(field(one)), field(field(other)), ["never_equal"]],
    [{ optional: field(one) }, field(other), ["never_equal"]],
    [field({ optional: one }), field(other), ["never_equal"]],
    [field({ optional: one }), field({ optional: other }), []],
    [field(one), field(words("paid", "payed")), []],
    [field(one), field("text"), []],
    [field({ optional: one }), { record: {} }, []],
    [{ list: one }, { list: other }, []],
    [{ dictionary: one }, { dictionary: other }, []],
    [field({ list: one }), field({ list: other }), []],
    [one, "null", []],
  ])(
    "%j and %j: enums without a common word in a field that is there: %j (B099)",
    (left, right, expected) => {
      const around = { inputs: { left: [left], right: [right] } } as const;
      expect(codes(equal(input("left"), input("right")), around)).toEqual(expected);
      expect(codes(equal(input("right"), input("left")), around)).toEqual(expected);
    },
  );

  test("null and something missing: the missing part is the error (B099)", () => {
    const around = { inputs: { doc: ["json", {}] } } as const;
    const failure = failed(equal({ op: "to_json", value: null }, { input: "doc/gone" }), around);
    expect(failure.code).toBe("missing");
  });

  test("null is equal to no value that is there", () => {
    expect(result(equal(1, null))).toBe(false);
    expect(result(equal(null, []))).toBe(false);
    expect(result(equal(null, { op: "to_json", value: null }))).toBe(false);
  });

  test("[] and [] are equal, null and null are equal (B099)", () => {
    expect(result(equal([], []))).toBe(true);
    expect(result(equal(null, null))).toBe(true);
  });

  test("null asks whether an optional is absent", () => {
    const type = { optional: { list: "integer" } };
    const ask = equal(input("x"), null);
    expect(result(ask, { inputs: { x: [type, null] } })).toBe(true);
    expect(result(ask, { inputs: { x: [type, []] } })).toBe(false);
  });

  test("two optionals need to say what two absent values mean", () => {
    const around = {
      inputs: { a: [{ optional: "integer" }, null], b: [{ optional: "integer" }, null] },
    } as const;
    expect(codes(equal(input("a"), input("b")), around)).toEqual(["both_optional"]);
    const said = equal({ op: "default", value: input("a"), else: 0 }, input("b"));
    expect(result(said, around)).toBe(false);
  });
});

describe("order", () => {
  const compare = (op: string, left: unknown, right: unknown) => ({ op, left, right });
  test.each([
    [1, 2, [true, true, false, false]],
    [2, 2, [false, true, false, true]],
    [literal("-5", "integer"), literal("-50", "integer"), [false, false, true, true]],
    [
      literal("9007199254740993", "integer"),
      literal("9007199254740992", "integer"),
      [false, false, true, true],
    ],
    [literal("B", "text"), literal("a", "text"), [true, true, false, false]],
    [literal("", "text"), literal("a", "text"), [true, true, false, false]],
    [literal("\u{1F600}", "text"), literal("\uFB01", "text"), [true, true, false, false]],
    [literal("2025-12-31", "date"), literal("2026-01-01", "date"), [true, true, false, false]],
    [
      literal("2026-01-01T00:30:00+01:00", "timestamp"),
      literal("2026-01-01T00:00:00Z", "timestamp"),
      [true, true, false, false],
    ],
  ])("%j and %j", (left, right, [less, atMost, more, atLeast]) => {
    expect(result(compare("less", left, right))).toBe(less);
    expect(result(compare("less_or_equal", left, right))).toBe(atMost);
    expect(result(compare("greater", left, right))).toBe(more);
    expect(result(compare("greater_or_equal", left, right))).toBe(atLeast);
  });

  test.each([
    ["a", "b", "not_ordered"],
    [true, false, "not_ordered"],
    [null, null, "not_ordered"],
    [{ op: "list", values: [] }, [], "not_ordered"],
    [1, null, "not_ordered"],
    [1, "1", "type_mismatch"],
    [literal("2026-01-01", "date"), "2026-01-01", "type_mismatch"],
    [{ op: "to_json", value: 1 }, { op: "to_json", value: 2 }, "not_ordered"],
  ])("%j and %j have no order: %s", (left, right, code) => {
    expect(codes(compare("less", left, right))).toEqual([code]);
  });

  test("an enum is ordered once it is a text, alone or beside one", () => {
    expect(
      result(compare("less", { op: "to_text", value: "a" }, { op: "to_text", value: "b" })),
    ).toBe(true);
    expect(result(compare("less", literal("a", "text"), "b"))).toBe(true);
  });
});
