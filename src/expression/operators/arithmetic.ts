/** Integers of any size within the limit, exactly. */

import { RoteError } from "../../base/error.ts";
import { bitLength, divide, modulo, power, ROUNDINGS, type Rounding } from "../../base/integer.ts";
import { type Operation, operandOf, typed } from "../checking.ts";
import type { EvaluationFailure, Site } from "../failure.ts";
import { asIntegers, type Code, type Frame, fail, spend } from "../frame.ts";
import type { EvaluationLimits } from "../limits.ts";
import { INTEGER } from "../types.ts";

/** Integers of at most 64 bits need neither a look at their size nor extra fuel. */
export function isSmall(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

const SMALL_BITS = 64;

export function tooManyBits(frame: Frame, site: Site, limits: EvaluationLimits): EvaluationFailure {
  return fail(frame, site, "too_large", `an integer of more than ${limits.integerBits} bits`);
}

/** Pays for reading large integers, and gives their bits. */
export function bitsRead(frame: Frame, value: bigint, site: Site): number {
  const bits = isSmall(value) ? SMALL_BITS : bitLength(value);
  if (bits >= 256) spend(frame, bits >>> 8, site);
  return bits;
}

/** The result of an operation on large integers, checked and paid for. */
export function built(frame: Frame, value: bigint, site: Site, limits: EvaluationLimits): bigint {
  const bits = bitLength(value);
  if (bits > limits.integerBits) throw tooManyBits(frame, site, limits);
  if (bits >= 256) spend(frame, bits >>> 8, site);
  return value;
}

type Binary = (
  left: bigint,
  right: bigint,
  frame: Frame,
  site: Site,
  limits: EvaluationLimits,
) => bigint;

function binary(
  small: (
    left: Code<bigint>,
    right: Code<bigint>,
    slow: (frame: Frame, left: bigint, right: bigint) => bigint,
  ) => Code,
  large: Binary,
): Operation {
  return (node, checking) => {
    const left = operandOf(node, "left", INTEGER, checking);
    const right = operandOf(node, "right", INTEGER, checking);
    if (left === undefined || right === undefined) return undefined;
    return typed(node, checking, INTEGER, [left, right], (lowering, site) => {
      const { limits } = lowering;
      const slow = (frame: Frame, one: bigint, other: bigint): bigint => {
        bitsRead(frame, one, site);
        bitsRead(frame, other, site);
        return built(frame, large(one, other, frame, site, limits), site, limits);
      };
      const one = asIntegers(left.lower(lowering));
      const other = asIntegers(right.lower(lowering));
      if (limits.integerBits < 2 * SMALL_BITS) {
        return (frame) => slow(frame, one(frame), other(frame));
      }
      return small(one, other, slow);
    });
  };
}

const add = binary(
  (left, right, slow) => (frame) => {
    const one = left(frame);
    const other = right(frame);
    return isSmall(one) && isSmall(other) ? one + other : slow(frame, one, other);
  },
  (left, right) => left + right,
);

const subtract = binary(
  (left, right, slow) => (frame) => {
    const one = left(frame);
    const other = right(frame);
    return isSmall(one) && isSmall(other) ? one - other : slow(frame, one, other);
  },
  (left, right) => left - right,
);

const multiply = binary(
  (left, right, slow) => (frame) => {
    const one = left(frame);
    const other = right(frame);
    return isSmall(one) && isSmall(other) ? one * other : slow(frame, one, other);
  },
  (left, right, frame, site, limits) => {
    // A product has as many bits as both factors together, or one less.
    if (
      left !== 0n &&
      right !== 0n &&
      bitLength(left) + bitLength(right) - 1 > limits.integerBits
    ) {
      throw tooManyBits(frame, site, limits);
    }
    return left * right;
  },
);

function rounded(compute: (left: bigint, right: bigint, rounding: Rounding) => bigint): Operation {
  return (node, checking) => {
    const left = operandOf(node, "left", INTEGER, checking);
    const right = operandOf(node, "right", INTEGER, checking);
    const word = node.words.get("rounding");
    const rounding = ROUNDINGS.find((each) => each === word) ?? "exact";
    if (left === undefined || right === undefined) return undefined;
    return typed(node, checking, INTEGER, [left, right], (lowering, site) => {
      const { limits } = lowering;
      const dividend = asIntegers(left.lower(lowering));
      const divisor = asIntegers(right.lower(lowering));
      return (frame) => {
        const one = dividend(frame);
        const other = divisor(frame);
        const large = !(isSmall(one) && isSmall(other));
        if (large) {
          bitsRead(frame, one, site);
          bitsRead(frame, other, site);
        }
        const value = attempt(frame, site, () => compute(one, other, rounding));
        return large || limits.integerBits <= SMALL_BITS
          ? built(frame, value, site, limits)
          : value;
      };
    });
  };
}

/** Turns the refusals of integer arithmetic into failures of the operator. */
function attempt<T>(frame: Frame, site: Site, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RoteError) {
      const { code } = error;
      if (code === "division_by_zero" || code === "inexact" || code === "out_of_range") {
        throw fail(frame, site, code, error.message);
      }
    }
    throw error;
  }
}

const powerOf: Operation = (node, checking) => {
  const base = operandOf(node, "base", INTEGER, checking);
  const exponent = operandOf(node, "exponent", INTEGER, checking);
  if (base === undefined || exponent === undefined) return undefined;
  return typed(node, checking, INTEGER, [base, exponent], (lowering, site) => {
    const { limits } = lowering;
    const one = asIntegers(base.lower(lowering));
    const other = asIntegers(exponent.lower(lowering));
    return (frame) => {
      const number = one(frame);
      const times = other(frame);
      bitsRead(frame, number, site);
      bitsRead(frame, times, site);
      const value = attempt(frame, site, () => power(number, times, limits.integerBits));
      if (value === undefined) throw tooManyBits(frame, site, limits);
      return built(frame, value, site, limits);
    };
  });
};

const absolute: Operation = (node, checking) => {
  const value = operandOf(node, "value", INTEGER, checking);
  if (value === undefined) return undefined;
  return typed(node, checking, INTEGER, [value], (lowering, site) => {
    const number = asIntegers(value.lower(lowering));
    return (frame) => {
      const one = number(frame);
      if (one >= 0n) return one;
      bitsRead(frame, one, site);
      return built(frame, -one, site, lowering.limits);
    };
  });
};

export const arithmetic = {
  add,
  subtract,
  multiply,
  divide: rounded(divide),
  modulo: rounded(modulo),
  power: powerOf,
  absolute,
};
