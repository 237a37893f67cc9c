import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bitLength,
  divide,
  modulo,
  parseInteger,
  power,
  type Rounding,
} from "../../src/base/integer.ts";

const integer = fc.oneof(
  fc.bigInt({ min: -20n, max: 20n }),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
);
const divisor = integer.filter((value) => value !== 0n);
const rounding = fc.constantFrom<Rounding>("floor", "ceiling", "truncate", "half_even", "half_up");

/** The sign of left/right minus the whole number, over the rationals: never by dividing. */
function compareQuotient(left: bigint, right: bigint, whole: bigint): number {
  const difference = right > 0n ? left - whole * right : whole * right - left;
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

/** Whether `whole` is the stated rounding of left/right, from the definition of the rounding alone. */
function isRounded(left: bigint, right: bigint, whole: bigint, how: Rounding): boolean {
  const atLeast = (bound: bigint): boolean => compareQuotient(left, right, bound) >= 0;
  const atMost = (bound: bigint): boolean => compareQuotient(left, right, bound) <= 0;
  const isFloor = atLeast(whole) && !atLeast(whole + 1n);
  const isCeiling = atMost(whole) && !atMost(whole - 1n);
  switch (how) {
    case "floor":
      return isFloor;
    case "ceiling":
      return isCeiling;
    case "truncate":
      return atLeast(0n) ? isFloor : isCeiling;
    case "half_even":
    case "half_up": {
      // Twice the quotient lies within one of twice the whole; on the border the rule for ties decides.
      const above = compareQuotient(2n * left, right, 2n * whole - 1n);
      const below = compareQuotient(2n * left, right, 2n * whole + 1n);
      if (above > 0 && below < 0) return true;
      if (above !== 0 && below !== 0) return false;
      if (how === "half_even") return whole % 2n === 0n;
      return above === 0 ? whole > 0n : whole < 0n;
    }
    case "exact":
      return isFloor && isCeiling;
  }
}

describe("division", () => {
  it("is the stated rounding of the rational quotient (B098)", () => {
    fc.assert(
      fc.property(integer, divisor, rounding, (left, right, how) => {
        expect(isRounded(left, right, divide(left, right, how), how)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  it("leaves the remainder that makes up the dividend, smaller than the divisor (B098)", () => {
    fc.assert(
      fc.property(integer, divisor, rounding, (left, right, how) => {
        const quotient = divide(left, right, how);
        const remainder = modulo(left, right, how);
        expect(quotient * right + remainder).toBe(left);
        const magnitude = remainder < 0n ? -remainder : remainder;
        expect(magnitude < (right < 0n ? -right : right)).toBe(true);
        if (how === "floor" && remainder !== 0n) expect(remainder < 0n).toBe(right < 0n);
        if (how === "truncate" && remainder !== 0n) expect(remainder < 0n).toBe(left < 0n);
      }),
      { numRuns: 5000 },
    );
  });

  it("is exact for every multiple and refuses everything else under exact", () => {
    fc.assert(
      fc.property(integer, divisor, integer, (whole, right, extra) => {
        expect(divide(whole * right, right, "exact")).toBe(whole);
        const left = whole * right + extra;
        if (extra % right === 0n) expect(divide(left, right, "exact") * right).toBe(left);
        else expect(() => divide(left, right, "exact")).toThrow("remainder");
      }),
    );
  });
});

describe("integer text", () => {
  it("reads every integer's own text and no other text of it (B097)", () => {
    fc.assert(
      fc.property(integer, (value) => {
        const text = String(value);
        expect(parseInteger(text)).toBe(value);
        for (const other of [
          `+${text}`,
          ` ${text}`,
          `${text} `,
          `${text}.0`,
          `${text}e0`,
          `${text}n`,
        ]) {
          expect(parseInteger(other)).toBeUndefined();
        }
        const padded = value < 0n ? `-0${text.slice(1)}` : `0${text}`;
        expect(parseInteger(padded)).toBeUndefined();
      }),
    );
  });

  it("takes a text exactly when it is what its integer is written as", () => {
    const almost = fc.string({
      unit: fc.constantFrom("0", "1", "9", "-", "+", " ", ".", "e", "x", "_"),
    });
    fc.assert(
      fc.property(almost, (text) => {
        const read = parseInteger(text);
        expect(read === undefined || String(read) === text).toBe(true);
        if (/^-?[0-9]+$/.test(text)) expect(read !== undefined).toBe(String(BigInt(text)) === text);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("size", () => {
  it("is the length of the binary text of the magnitude", () => {
    fc.assert(
      fc.property(integer, (value) => {
        const magnitude = value < 0n ? -value : value;
        expect(bitLength(value)).toBe(magnitude === 0n ? 0 : magnitude.toString(2).length);
      }),
    );
  });

  it("of a power is known before computing it: the same as computing first", () => {
    const base = fc.bigInt({ min: -5000n, max: 5000n });
    fc.assert(
      fc.property(base, fc.bigInt({ min: 0n, max: 60n }), fc.nat(400), (number, exponent, bits) => {
        const full = number ** exponent;
        const fits = bitLength(full) <= Math.max(bits, 1);
        expect(power(number, exponent, Math.max(bits, 1))).toBe(fits ? full : undefined);
      }),
      { numRuns: 3000 },
    );
  });
});
