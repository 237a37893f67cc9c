import { describe, expect, it } from "vitest";
import { RoteError } from "../../../src/base/error.ts";
import {
  bitLength,
  divide,
  modulo,
  parseInteger,
  power,
  ROUNDINGS,
} from "../../../src/base/integer.ts";

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof RoteError) return error.code;
    throw error;
  }
  return "none";
}

describe("parseInteger", () => {
  it.each<[string, bigint]>([
    ["0", 0n],
    ["7", 7n],
    ["-12", -12n],
    ["999999999999999", 999999999999999n],
    ["9007199254740993", 9007199254740993n],
    ["-170141183460469231731687303715884105728", -(2n ** 127n)],
  ])("reads %s", (text, value) => {
    expect(parseInteger(text)).toBe(value);
  });

  it.each([
    "",
    " ",
    "+5",
    "-0",
    "007",
    "-07",
    "0x10",
    "1e3",
    "1_000",
    "12.0",
    "１２",
    "٣",
    " 5",
    "5 ",
    "5\n",
    "--5",
    "-",
    "5n",
    "Infinity",
    "null",
  ])("refuses %j, which is not canonical (B097)", (text) => {
    expect(parseInteger(text)).toBeUndefined();
  });

  it("refuses more digits than it was told to convert (B102)", () => {
    expect(parseInteger("1".repeat(10_000))).toBeDefined();
    expect(parseInteger(`-${"1".repeat(10_000)}`)).toBeDefined();
    expect(parseInteger("1".repeat(10_001))).toBeUndefined();
    expect(parseInteger("1".repeat(50_000_000))).toBeUndefined();
    expect(parseInteger("123", 2)).toBeUndefined();
    expect(parseInteger("-12", 2)).toBe(-12n);
  });
});

describe("bitLength", () => {
  it.each<[bigint, number]>([
    [0n, 0],
    [1n, 1],
    [-1n, 1],
    [255n, 8],
    [-256n, 9],
    [2n ** 32n - 1n, 32],
    [2n ** 32n, 33],
    [2n ** 53n - 1n, 53],
    [2n ** 53n, 54],
    [2n ** 8192n - 1n, 8192],
    [-(2n ** 8192n), 8193],
  ])("of %s is %i", (value, bits) => {
    expect(bitLength(value)).toBe(bits);
  });
});

describe("divide and modulo", () => {
  // left, right, then quotient by rounding in the order of ROUNDINGS; null stands for inexact.
  const rows: readonly (readonly [bigint, bigint, readonly (bigint | null)[]])[] = [
    [-7n, 2n, [-4n, -3n, -3n, -4n, -4n, null]],
    [7n, -2n, [-4n, -3n, -3n, -4n, -4n, null]],
    [-7n, -2n, [3n, 4n, 3n, 4n, 4n, null]],
    [7n, 2n, [3n, 4n, 3n, 4n, 4n, null]],
    [5n, 2n, [2n, 3n, 2n, 2n, 3n, null]],
    [-5n, 2n, [-3n, -2n, -2n, -2n, -3n, null]],
    [1n, 2n, [0n, 1n, 0n, 0n, 1n, null]],
    [-1n, 2n, [-1n, 0n, 0n, 0n, -1n, null]],
    [1n, 3n, [0n, 1n, 0n, 0n, 0n, null]],
    [2n, 3n, [0n, 1n, 0n, 1n, 1n, null]],
    [-2n, 3n, [-1n, 0n, 0n, -1n, -1n, null]],
    [6n, -3n, [-2n, -2n, -2n, -2n, -2n, -2n]],
    [0n, -3n, [0n, 0n, 0n, 0n, 0n, 0n]],
    [-(2n ** 63n), -1n, [2n ** 63n, 2n ** 63n, 2n ** 63n, 2n ** 63n, 2n ** 63n, 2n ** 63n]],
  ];

  it.each(rows)("of %s by %s follow the stated rounding (B098)", (left, right, quotients) => {
    for (const [index, rounding] of ROUNDINGS.entries()) {
      const expected = quotients[index] ?? null;
      if (expected === null) {
        expect(codeOf(() => divide(left, right, rounding))).toBe("inexact");
        expect(codeOf(() => modulo(left, right, rounding))).toBe("inexact");
      } else {
        expect(divide(left, right, rounding), rounding).toBe(expected);
        expect(modulo(left, right, rounding), rounding).toBe(left - right * expected);
      }
    }
    expect(ROUNDINGS).toEqual(["floor", "ceiling", "truncate", "half_even", "half_up", "exact"]);
  });

  it("refuse a zero divisor under every rounding (B098)", () => {
    for (const rounding of ROUNDINGS) {
      expect(codeOf(() => divide(5n, 0n, rounding))).toBe("division_by_zero");
      expect(codeOf(() => modulo(0n, 0n, rounding))).toBe("division_by_zero");
    }
  });
});

describe("power", () => {
  it("takes anything to the 0 as 1, and knows 0, 1 and -1 for any exponent", () => {
    const huge = 10n ** 30n;
    expect(power(0n, 0n, 1)).toBe(1n);
    expect(power(0n, huge, 1)).toBe(0n);
    expect(power(1n, huge, 1)).toBe(1n);
    expect(power(-1n, huge, 1)).toBe(1n);
    expect(power(-1n, huge + 1n, 1)).toBe(-1n);
    expect(power(-2n, 3n, 4)).toBe(-8n);
  });

  it("refuses a result over the size before computing it (B102)", () => {
    expect(power(2n, 8191n, 8192)).toBe(2n ** 8191n);
    expect(power(2n, 8192n, 8192)).toBeUndefined();
    expect(power(10n, 10n ** 12n, 8192)).toBeUndefined();
    expect(power(2n ** 8191n, 10n ** 30n, 8192)).toBeUndefined();
    expect(power(3n, 2n, 3)).toBeUndefined();
    expect(power(3n, 2n, 4)).toBe(9n);
  });

  it("refuses a negative exponent", () => {
    expect(codeOf(() => power(2n, -1n, 100))).toBe("out_of_range");
  });
});
