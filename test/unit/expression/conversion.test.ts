import { describe, expect, test } from "vitest";
import { codes, failed, literal, result } from "../../support/expressions.ts";

const decode = (value: unknown, type: unknown, otherwise?: unknown) => ({
  op: "decode",
  value,
  type,
  ...(otherwise !== undefined && { else: otherwise }),
});
const given = (value: unknown) => ({ inputs: { doc: ["json", value] as const } });

describe("decode", () => {
  test.each([
    [{ a: 1, b: "x" }, { record: { a: "integer", b: "text" } }, { a: "1", b: "x" }],
    [[1, "2"], { list: "integer" }, ["1", "2"]],
    ["12.50", { decimal: 2 }, "1250"],
    [12.5, { decimal: 2 }, "1250"],
    [null, { optional: "text" }, null],
    [null, "json", null],
    [{ a: 1, z: 2 }, { record: { a: "integer" }, others: "ignore" }, { a: "1" }],
  ])("json %j as %j", (value, type, expected) => {
    expect(result(decode({ input: "doc" }, type), given(value))).toEqual(expected);
  });

  test.each([
    ["12", "integer", "12"],
    ["12.5", { decimal: 1 }, "125"],
    ["2026-01-31", "date", "2026-01-31"],
    ["2026-01-31T00:00:00Z", "timestamp", "2026-01-31T00:00:00Z"],
    ["paid", { enum: ["open", "paid"] }, "paid"],
    ["x", "json", "x"],
    ["x", { optional: "text" }, "x"],
  ])("text %j as %j", (value, type, expected) => {
    expect(result(decode(literal(value, "text"), type))).toEqual(expected);
  });

  test.each([
    ["", "integer"],
    ["+5", "integer"],
    [" 5", "integer"],
    ["2026-02-30", "date"],
    ["Paid", { enum: ["open", "paid"] }],
    ["12.505", { decimal: 2 }],
  ])("text %j is no %j: decode_failed, or else (B097)", (value, type) => {
    expect(failed(decode(literal(value, "text"), type)).code).toBe("decode_failed");
    expect(result(decode(literal(value, "text"), type, null))).toBe(null);
  });

  test.each(["boolean", "null", { list: "text" }, { record: {} }, { dictionary: "text" }])(
    "no text is %j, so asking is a mistake",
    (type) => {
      expect(codes(decode("x", type))).toEqual(["type_mismatch"]);
    },
  );

  test("only json and text are decoded", () => {
    expect(codes(decode(5, "integer"))).toEqual(["type_mismatch"]);
    expect(
      codes(decode({ input: "doc" }, "integer"), { inputs: { doc: [{ optional: "json" }] } }),
    ).toEqual(["type_mismatch"]);
  });

  test("the failure names the place inside the value", () => {
    const type = { list: { record: { n: "integer" } } };
    const failure = failed(decode({ input: "doc" }, type), given([{ n: 1 }, { n: "x" }]));
    expect([failure.code, failure.pointer]).toEqual(["decode_failed", ""]);
    expect(failure.message).toBe('decode: "x" is no integer (at /1/n)');
    const unknown = failed(decode({ input: "doc" }, type), given([{ n: 1, m: 2 }]));
    expect(unknown.code).toBe("unknown_field");
    expect(unknown.message).toContain("/0");
  });

  test("else replaces what cannot be read, nothing else", () => {
    const missing = decode({ input: "doc/gone" }, "integer", 0);
    expect(failed(missing, given({})).code).toBe("missing");
    const extra = decode({ input: "doc" }, { record: {} }, null);
    expect(result(extra, given({ a: 1 }))).toBe(null);
    const large = decode(literal("9".repeat(5000), "text"), "integer", 0);
    expect(failed(large).code).toBe("too_large");
    expect(
      failed(
        decode({ input: "doc" }, "integer", { op: "divide", left: 1, right: 0, rounding: "floor" }),
        given("x"),
      ).code,
    ).toBe("division_by_zero");
  });

  test("else and the type take their common type", () => {
    expect(codes(decode("1", "integer", "none"))).toEqual(["type_mismatch"]);
    expect(result([decode(literal("x", "text"), { enum: ["a"] }, "b"), "c"])).toEqual(["b", "c"]);
  });
});

describe("to_text", () => {
  test.each([
    [1250, 2, "12.50"],
    [-5, 2, "-0.05"],
    [0, 2, "0.00"],
    [-1250, 2, "-12.50"],
    [7, 30, `0.${"0".repeat(29)}7`],
    [1250, 0, "1250"],
    [-1250, undefined, "-1250"],
  ])("%i at scale %s is %j", (value, scale, expected) => {
    expect(result({ op: "to_text", value, ...(scale !== undefined && { scale }) })).toBe(expected);
  });

  test.each([
    [true, "true"],
    [false, "false"],
    ["paid", "paid"],
    [literal("2026-01-31", "date"), "2026-01-31"],
    [literal("2026-01-31T01:00:00.5+01:00", "timestamp"), "2026-01-31T00:00:00.500Z"],
    [literal("123456789012345678901234567890", "integer"), "123456789012345678901234567890"],
  ])("%j is %j", (value, expected) => {
    expect(result({ op: "to_text", value })).toBe(expected);
  });

  test.each([
    [literal("a", "text"), {}, "type_mismatch"],
    [null, {}, "type_mismatch"],
    [[1], {}, "type_mismatch"],
    [true, { scale: 2 }, "bad_member"],
    [1, { scale: -1 }, "bad_member"],
    [1, { scale: 31 }, "bad_member"],
    [1, { scale: 1.5 }, "bad_member"],
    [1, { scale: { input: "s" } }, "bad_member"],
  ])("%j with %j is refused: %s", (value, more, code) => {
    expect(codes({ op: "to_text", value, ...more })).toEqual([code]);
  });
});

describe("to_json", () => {
  test.each([
    [1250, "1250"],
    [literal("2026-01-31T01:00:00+01:00", "timestamp"), "2026-01-31T00:00:00Z"],
    [
      [1, 2],
      ["1", "2"],
    ],
    [
      { op: "record", fields: { a: 1, b: null } },
      { a: "1", b: null },
    ],
    [literal({ a: null }, { record: { a: { optional: "integer" } } }), {}],
    [literal([null], { list: { optional: "integer" } }), [null]],
    [literal({ b: 1, a: 2 }, { dictionary: "integer" }), { a: "2", b: "1" }],
    [null, null],
    [{ op: "to_json", value: "x" }, "x"],
  ])("%j has the JSON form %j", (value, expected) => {
    expect(result({ op: "to_json", value })).toEqual(expected);
  });

  test.each([
    [1250, 2, 12.5],
    [-5, 2, -0.05],
    [0, 5, 0],
    [42, 0, 42],
    [1, 7, 1e-7],
    [938, 1, 93.8],
    ["1000000000000000000000", 0, 1e21],
    ["9007199254740992", 0, 9007199254740992],
    ["9007199254740994", 0, 9007199254740994],
    ["12345678901234567", 1, 1234567890123456.8],
  ] as const)("%s at number %i is the JSON number %d, or inexact", (value, number, expected) => {
    const expression = { op: "to_json", value: literal(value, "integer"), number };
    if (value === "12345678901234567") expect(failed(expression).code).toBe("inexact");
    else expect(result(expression)).toBe(expected);
  });

  test.each([
    ["9007199254740993", 0],
    ["123456789012345678", 2],
    ["100000000000000000000001", 0],
    ["1".repeat(400), 0],
  ])("%s at number %i has no exact JSON number", (value, number) => {
    expect(failed({ op: "to_json", value: literal(value, "integer"), number }).code).toBe(
      "inexact",
    );
  });

  test("number is for integers only", () => {
    expect(codes({ op: "to_json", value: "a", number: 2 })).toEqual(["type_mismatch"]);
    expect(codes({ op: "to_json", value: 1, number: "2" })).toEqual(["bad_member"]);
  });

  test("json that would nest over 64 levels is too large, whatever built it (B102)", () => {
    const nest = (count: number) => ({
      op: "fold",
      list: { op: "range", from: 0, count },
      from: { op: "to_json", value: 1 },
      value: { op: "to_json", value: [{ item: "total" }] },
    });
    expect(failed(nest(65)).code).toBe("too_large");
    expect(failed(nest(100_000)).code).toBe("too_large");
    let deep: unknown = "1";
    for (let level = 0; level < 64; level += 1) deep = [deep];
    expect(result(nest(64))).toEqual(deep);
  });

  test("parts shared many times are counted as often as they occur (B102)", () => {
    const doubled = (times: number): unknown => {
      let body: unknown = { op: "to_json", value: { item: `v${times}` } };
      for (let at = times; at >= 1; at -= 1) {
        const value = at === 1 ? [1, 1] : [{ item: `v${at - 1}` }, { item: `v${at - 1}` }];
        body = { op: "let", name: `v${at}`, value, in: body };
      }
      return body;
    };
    expect(failed(doubled(22)).code).toBe("too_large");
    expect(failed({ op: "digest", value: doubled(22) }).code).toBe("too_large");
  });
});
