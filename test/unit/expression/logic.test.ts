import { describe, expect, test } from "vitest";
import { codes, failed, result } from "../../support/expressions.ts";

const broken = {
  op: "equal",
  left: { op: "divide", left: 1, right: 0, rounding: "floor" },
  right: 1,
};

describe("and, or, not", () => {
  test.each([
    ["and", [], true],
    ["or", [], false],
    ["and", [true], true],
    ["and", [true, false], false],
    ["and", [true, true, true], true],
    ["and", [true, true, true, false], false],
    ["or", [false, true], true],
    ["or", [false, false, false], false],
    ["or", [false, false, false, true], true],
  ])("%s of %j is %j", (op, values, expected) => {
    expect(result({ op, values })).toBe(expected);
  });

  test("they stop as soon as the answer is known, from the left", () => {
    expect(result({ op: "and", values: [false, broken] })).toBe(false);
    expect(result({ op: "or", values: [true, broken] })).toBe(true);
    expect(result({ op: "and", values: [true, true, false, broken] })).toBe(false);
    expect(result({ op: "or", values: [false, false, true, broken] })).toBe(true);
    const failure = failed({ op: "and", values: [broken, false] });
    expect([failure.code, failure.pointer]).toEqual(["division_by_zero", "/values/0/left"]);
  });

  test("not turns round", () => {
    expect(result({ op: "not", value: true })).toBe(false);
    expect(result({ op: "not", value: { op: "not", value: true } })).toBe(true);
  });

  test("every value that is no boolean is reported", () => {
    expect(codes({ op: "and", values: [1, true, "x"] })).toEqual([
      "type_mismatch",
      "type_mismatch",
    ]);
    expect(codes({ op: "not", value: null })).toEqual(["type_mismatch"]);
  });
});

describe("if", () => {
  const either = (condition: unknown, yes: unknown, no?: unknown) => ({
    op: "if",
    condition,
    then: yes,
    ...(no !== undefined && { else: no }),
  });

  test("only the branch taken is evaluated", () => {
    expect(result(either(true, 1, { op: "divide", left: 1, right: 0, rounding: "floor" }))).toBe(
      "1",
    );
    expect(result(either(false, { op: "divide", left: 1, right: 0, rounding: "floor" }, 2))).toBe(
      "2",
    );
  });

  test("without else the result may be absent", () => {
    expect(result(either(false, 1))).toBe(null);
    expect(result(either(true, 1))).toBe("1");
    expect(codes({ op: "add", left: 1, right: either(true, 1) })).toEqual(["type_mismatch"]);
    expect(result({ op: "default", value: either(false, 1), else: 7 })).toBe("7");
  });

  test("branches take their least common type", () => {
    expect(result(either(true, "a", "b"))).toBe("a");
    expect(result([either(false, [], [1])])).toEqual([["1"]]);
    expect(codes(either(true, 1, "b"))).toEqual(["type_mismatch"]);
    expect(codes(either(1, 1, 2))).toEqual(["type_mismatch"]);
  });

  test("problems of both branches are reported at once", () => {
    expect(codes(either({ input: "x" }, { input: "y" }, { input: "z" }))).toEqual([
      "unknown_input /condition",
      "unknown_input /then",
      "unknown_input /else",
    ]);
  });
});
