/** Integer arithmetic where BigInt alone is not enough: canonical text, size, and division with a stated rounding. */
import { assertNever } from "./assert.ts";
import { RoteError } from "./error.ts";

/**
 * How a quotient that is not whole becomes one: towards minus infinity, towards plus infinity, towards zero, to the
 * nearest with ties to even, to the nearest with ties away from zero, or not at all.
 */
export const ROUNDINGS = ["floor", "ceiling", "truncate", "half_even", "half_up", "exact"] as const;
export type Rounding = (typeof ROUNDINGS)[number];

const CANONICAL = /^(?:0|-?[1-9][0-9]*)$/;
const DEFAULT_MAX_DIGITS = 10_000;

/**
 * The integer whose canonical decimal text this is: `0`, or an optional minus and no leading zero. Undefined for
 * anything else, and for more than `maxDigits` digits (default 10,000, four times what the largest integer of an
 * expression has): conversion takes more than linear time, so its input must be bounded.
 */
export function parseInteger(text: string, maxDigits = DEFAULT_MAX_DIGITS): bigint | undefined {
  const digits = text.startsWith("-") ? text.length - 1 : text.length;
  if (digits > maxDigits || !CANONICAL.test(text)) return undefined;
  return digits <= 15 ? BigInt(Number(text)) : BigInt(text);
}

const SAFE = 2n ** 53n;
const TWO_32 = 2 ** 32;

/** Bits of the magnitude: 0 has none, 255 and -255 have 8. */
export function bitLength(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  if (magnitude < SAFE) return bitLengthOfSafe(Number(magnitude));
  const digits = magnitude.toString(16);
  return (digits.length - 1) * 4 + bitLengthOfSafe(Number.parseInt(digits.slice(0, 1), 16));
}

function bitLengthOfSafe(magnitude: number): number {
  const high = Math.floor(magnitude / TWO_32);
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(magnitude);
}

/**
 * The quotient, rounded as stated.
 *
 * @throws RoteError `division_by_zero`; `inexact` when rounding is `exact` and there is a remainder.
 */
export function divide(left: bigint, right: bigint, rounding: Rounding): bigint {
  if (right === 0n) throw new RoteError("division_by_zero", "division by zero");
  // BigInt truncates; the remainder has the sign of the dividend.
  const quotient = left / right;
  const remainder = left - quotient * right;
  if (remainder === 0n) return quotient;
  const negative = left < 0n !== right < 0n;
  switch (rounding) {
    case "truncate":
      return quotient;
    case "floor":
      return negative ? quotient - 1n : quotient;
    case "ceiling":
      return negative ? quotient : quotient + 1n;
    case "half_even":
    case "half_up": {
      const twice = magnitudeOf(remainder) * 2n;
      const size = magnitudeOf(right);
      const away = twice > size || (twice === size && (rounding === "half_up" || isOdd(quotient)));
      if (!away) return quotient;
      return negative ? quotient - 1n : quotient + 1n;
    }
    case "exact":
      throw new RoteError("inexact", "the division leaves a remainder");
    default:
      return assertNever(rounding, "rounding");
  }
}

/**
 * What `divide` with the same rounding leaves: `left - right * divide(left, right, rounding)`.
 *
 * @throws RoteError as `divide`.
 */
export function modulo(left: bigint, right: bigint, rounding: Rounding): bigint {
  return left - right * divide(left, right, rounding);
}

/**
 * `base` to the `exponent` (0 or more; anything to the 0 is 1), or undefined when the result would have more than
 * `maxBits` bits. The size is known before anything is computed.
 *
 * @throws RoteError `out_of_range` for a negative exponent.
 */
export function power(base: bigint, exponent: bigint, maxBits: number): bigint | undefined {
  if (exponent < 0n) throw new RoteError("out_of_range", "a negative exponent");
  if (exponent === 0n || base === 1n) return 1n;
  if (base === 0n) return 0n;
  if (base === -1n) return isOdd(exponent) ? -1n : 1n;
  // |base| is at least 2^(bits-1), so the result has at least (bits-1) * exponent + 1 bits.
  const bits = bitLength(base);
  if (BigInt(bits - 1) * exponent + 1n > BigInt(maxBits)) return undefined;
  const result = base ** exponent;
  return bitLength(result) > maxBits ? undefined : result;
}

function magnitudeOf(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function isOdd(value: bigint): boolean {
  return (value & 1n) === 1n;
}
