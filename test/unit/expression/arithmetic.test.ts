import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { codes, failed, literal, result } from "../../support/expressions.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

const n = (value: string | number) => literal(value, "integer");
const binary = (op: string, left: string | number, right: string | number, more: object = {}) => ({
  op,
  left: n(left),
  right: n(right),
  ...more,
});

describe("add, subtract, multiply", () => {
  test.each([
    ["add", "9007199254740993", 1, "9007199254740994"],
    ["multiply", "9007199254740993", 3, "27021597764222979"],
    ["subtract", "9007199254740993", "9007199254740992", "1"],
    ["add", "9223372036854775807", 1, "9223372036854775808"],
    ["subtract", "-9223372036854775808", 1, "-9223372036854775809"],
    ["multiply", "-9223372036854775808", -1, "9223372036854775808"],
    ["multiply", 0, "-5", "0"],
    ["add", "-5", "5", "0"],
  ])("%s of %s and %s is exactly %s (B096)", (op, left, right, expected) => {
    expect(result(binary(op, left, right))).toBe(expected);
  });

  test("a text that looks like a number is no integer", () => {
    expect(codes({ op: "multiply", left: 2, right: "2" })).toEqual(["type_mismatch"]);
  });

  test("8192 bits are enough for a result, 8193 are too large, also below zero (B102)", () => {
    const half = (2n ** 4096n).toString();
    const top = (2n ** 8191n).toString();
    const most = (2n ** 8192n - 1n).toString();
    expect(result(binary("multiply", (2n ** 4095n).toString(), half))).toBe(
      (2n ** 8191n).toString(),
    );
    expect(failed(binary("multiply", half, half)).code).toBe("too_large");
    expect(failed(binary("multiply", `-${half}`, half)).code).toBe("too_large");
    expect(failed(binary("add", top, top)).code).toBe("too_large");
    expect(failed(binary("subtract", `-${top}`, top)).code).toBe("too_large");
    expect(result(binary("multiply", most, 1))).toBe(most);
    expect(result(binary("multiply", most, 0))).toBe("0");
    expect(result(binary("subtract", most, most))).toBe("0");
  });

  test("a chain of squarings stops at the limit instead of filling memory (B102)", () => {
    const squares = {
      op: "fold",
      list: { op: "range", from: 0, count: 100 },
      from: 3,
      value: { op: "multiply", left: { item: "total" }, right: { item: "total" } },
    };
    const failure = failed(squares);
    expect(failure.code).toBe("too_large");
    expect(failure.pointer).toBe("/value");
    expect(failure.positions).toEqual(["item[12]"]);
  });

  test("a host's lower limit holds", () => {
    const around = { limits: { integerBits: 8 } };
    expect(result(binary("add", 100, 155), around)).toBe("255");
    expect(failed(binary("add", 100, 156), around).code).toBe("too_large");
    expect(result(binary("multiply", 15, 17), around)).toBe("255");
    expect(failed(binary("multiply", 16, 16), around).code).toBe("too_large");
    expect(failed({ op: "sum", list: [200, 200] }, around).code).toBe("too_large");
    expect(
      failed(binary("divide", 255, 1, { rounding: "floor" }), { limits: { integerBits: 4 } }).code,
    ).toBe("too_large");
  });
});

describe("divide and modulo", () => {
  const table = [
    // left, right, then quotient and remainder by floor, ceiling, truncate, half_even, half_up
    [7, 2, [3, 1], [4, -1], [3, 1], [4, -1], [4, -1]],
    [-7, 2, [-4, 1], [-3, -1], [-3, -1], [-4, 1], [-4, 1]],
    [7, -2, [-4, -1], [-3, 1], [-3, 1], [-4, -1], [-4, -1]],
    [-7, -2, [3, -1], [4, 1], [3, -1], [4, 1], [4, 1]],
    [5, 2, [2, 1], [3, -1], [2, 1], [2, 1], [3, -1]],
    [-5, 2, [-3, 1], [-2, -1], [-2, -1], [-2, -1], [-3, 1]],
    [1, 3, [0, 1], [1, -2], [0, 1], [0, 1], [0, 1]],
    [2, 3, [0, 2], [1, -1], [0, 2], [1, -1], [1, -1]],
    [-1, 3, [-1, 2], [0, -1], [0, -1], [0, -1], [0, -1]],
    [6, 3, [2, 0], [2, 0], [2, 0], [2, 0], [2, 0]],
    [0, -3, [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]],
  ] as const;
  const words = ["floor", "ceiling", "truncate", "half_even", "half_up"] as const;
  test.each(table)(
    "%i by %i in every rounding, and left = quotient * right + remainder (B098)",
    (left, right, ...pairs) => {
      for (const [at, rounding] of words.entries()) {
        const [quotient, remainder] = pairs[at]!;
        expect(result(binary("divide", left, right, { rounding }))).toBe(String(quotient));
        expect(result(binary("modulo", left, right, { rounding }))).toBe(String(remainder));
        expect(quotient * right + remainder).toBe(left);
      }
    },
  );

  test.each(["divide", "modulo"])(
    "%s by zero is an error with the operator's place (B098)",
    (op) => {
      for (const rounding of [...words, "exact"]) {
        const failure = failed([binary(op, 5, 0, { rounding })]);
        expect(failure.code).toBe("division_by_zero");
        expect(failure.pointer).toBe("/0");
      }
    },
  );

  test("exact divides without remainder or is inexact", () => {
    expect(result(binary("divide", 6, -3, { rounding: "exact" }))).toBe("-2");
    expect(result(binary("modulo", 6, -3, { rounding: "exact" }))).toBe("0");
    expect(failed(binary("divide", 7, 2, { rounding: "exact" })).code).toBe("inexact");
    expect(failed(binary("modulo", 7, 2, { rounding: "exact" })).code).toBe("inexact");
  });

  test("the lowest 64-bit value by -1 is a number like any other (B098)", () => {
    const left = "-9223372036854775808";
    expect(result(binary("divide", left, -1, { rounding: "floor" }))).toBe("9223372036854775808");
  });

  test("rounding is a fixed word, and a misspelt one names the nearest", () => {
    expect(codes(binary("divide", 1, 2))).toEqual(["missing_member"]);
    expect(codes(binary("divide", 1, 2, { rounding: "flor" }))).toEqual(["bad_rounding"]);
    expect(codes(binary("divide", 1, 2, { rounding: { input: "r" } }))).toEqual(["bad_rounding"]);
  });
});

describe("power and absolute", () => {
  test.each([
    [2, 10, "1024"],
    [0, 0, "1"],
    [5, 0, "1"],
    [0, 5, "0"],
    [-2, 3, "-8"],
    [1, "123456789123456789123456789", "1"],
    [-1, "123456789123456789123456789", "-1"],
    [0, "123456789123456789123456789", "0"],
    [2, 8191, (2n ** 8191n).toString()],
  ])("%s to the %s is %s", (base, exponent, expected) => {
    expect(result({ op: "power", base: n(base), exponent: n(exponent) })).toBe(expected);
  });

  test.each([
    [2, -1, "out_of_range"],
    [0, -1, "out_of_range"],
    [2, 8192, "too_large"],
    [3, 5200, "too_large"],
    [10, "123456789123456789123456789", "too_large"],
  ])("%s to the %s is %s (B102)", (base, exponent, code) => {
    expect(failed({ op: "power", base: n(base), exponent: n(exponent) }).code).toBe(code);
  });

  test.each([
    [5, "5"],
    [-5, "5"],
    [0, "0"],
    ["-123456789012345678901234567890", "123456789012345678901234567890"],
  ])("the absolute of %s is %s", (value, expected) => {
    expect(result({ op: "absolute", value: n(value) })).toBe(expected);
  });
});

describe("minimum and maximum", () => {
  test.each([
    ["minimum", 3, 5, "3"],
    ["maximum", 3, 5, "5"],
    ["minimum", -3, -5, "-5"],
    ["minimum", 5, 5, "5"],
  ])("%s of %i and %i is %s", (op, left, right, expected) => {
    expect(result({ op, left, right })).toBe(expected);
  });

  test("they take every ordered type", () => {
    const dates = { left: literal("2026-01-02", "date"), right: literal("2026-01-01", "date") };
    expect(result({ op: "minimum", ...dates })).toBe("2026-01-01");
    const texts = { left: literal("B", "text"), right: literal("a", "text") };
    expect(result({ op: "minimum", ...texts })).toBe("B");
    const times = {
      left: literal("2026-01-01T00:00:00+01:00", "timestamp"),
      right: literal("2026-01-01T00:00:00Z", "timestamp"),
    };
    expect(result({ op: "maximum", ...times })).toBe("2026-01-01T00:00:00Z");
    expect(codes({ op: "minimum", left: "a", right: "b" })).toEqual(["not_ordered"]);
    expect(codes({ op: "minimum", left: true, right: false })).toEqual(["not_ordered"]);
    expect(codes({ op: "minimum", left: 1, right: "b" })).toEqual(["type_mismatch"]);
  });
});

const vectors = "vectors/bigint-boringssl";
describe.skipIf(!sharedPresent(vectors))(
  `published integer vectors (absent data: ${vectors})`,
  () => {
    type Block = Readonly<Record<string, bigint>>;
    function blocks(file: string): readonly Block[] {
      return readFileSync(sharedPath(`${vectors}/${file}`), "utf8")
        .split(/\n\s*\n/)
        .map((block) => {
          const members = block.split("\n").flatMap((line) => {
            const match = /^(\w+) = (-?)([0-9a-f]+)$/i.exec(line);
            return match ? [[match[1]!, BigInt(`0x${match[3]}`) * (match[2] ? -1n : 1n)]] : [];
          });
          return Object.fromEntries(members) as Block;
        })
        .filter((block) => Object.keys(block).length > 0);
    }
    const N = (value: bigint | undefined) => n((value ?? 0n).toString());

    test("sums and differences", () => {
      const all = blocks("sum_tests.txt").filter((block) => "Sum" in block);
      expect(all.length).toBeGreaterThan(300);
      for (const { A, B, Sum } of all) {
        expect(result({ op: "add", left: N(A), right: N(B) })).toBe(String(Sum));
        expect(result({ op: "subtract", left: N(Sum), right: N(A) })).toBe(String(B));
      }
    });

    test("products and squares", () => {
      let seen = 0;
      for (const { A, B, Product, Square } of blocks("product_tests.txt")) {
        const right = Square === undefined ? B : A;
        const expected = Square ?? Product;
        if (expected === undefined) continue;
        seen += 1;
        expect(result({ op: "multiply", left: N(A), right: N(right) })).toBe(String(expected));
      }
      expect(seen).toBeGreaterThan(200);
    });

    test("quotients truncate as published, and floor differs exactly where signs differ and a remainder is left", () => {
      let differing = 0;
      const all = blocks("quotient_tests.txt").filter((block) => "Quotient" in block);
      for (const { A = 0n, B = 0n, Quotient = 0n, Remainder = 0n } of all) {
        const operands = { left: N(A), right: N(B) };
        expect(result({ op: "divide", ...operands, rounding: "truncate" })).toBe(String(Quotient));
        expect(result({ op: "modulo", ...operands, rounding: "truncate" })).toBe(String(Remainder));
        const floor = result({ op: "divide", ...operands, rounding: "floor" });
        const below = Remainder !== 0n && A < 0n !== B < 0n;
        expect(floor).toBe(String(below ? Quotient - 1n : Quotient));
        if (below) differing += 1;
      }
      expect(all.length).toBe(367);
      expect(differing).toBe(125);
    });

    test("powers", () => {
      const all = blocks("exp_tests.txt").filter((block) => "Exp" in block);
      expect(all.length).toBe(5);
      for (const { A, E, Exp } of all) {
        expect(result({ op: "power", base: N(A), exponent: N(E) })).toBe(String(Exp));
      }
    });
  },
);
