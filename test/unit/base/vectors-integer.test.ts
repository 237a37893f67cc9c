import { describe, expect, it } from "vitest";
import { bitLength, divide, modulo, parseInteger, power } from "../../../src/base/integer.ts";
import { sharedPresent } from "../../support/shared.ts";
import { bigintVectors, take } from "../../support/vectors-bigint.ts";

const absent = !sharedPresent("vectors/bigint-boringssl");

/** An integer as it enters and leaves Rote: through its decimal text. */
function throughText(value: bigint): bigint {
  const read = parseInteger(String(value));
  if (read === undefined) throw new Error(`not read: ${value}`);
  return read;
}

function pow(base: bigint, exponent: bigint): bigint {
  const result = power(base, exponent, 100_000);
  if (result === undefined) throw new Error("too large");
  return result;
}

describe.skipIf(absent)("BoringSSL integer vectors (skipped where ../shared is absent)", () => {
  it("adds 654 pairs as published, through decimal text", () => {
    const vectors = bigintVectors("sum_tests.txt");
    for (const vector of vectors) {
      const [a, b, sum] = take(vector, "A", "B", "Sum");
      expect(throughText(a) + throughText(b)).toBe(throughText(sum));
    }
    expect(vectors.length).toBe(654);
  });

  it("multiplies 277 pairs as published, within one bit of the sum of their sizes", () => {
    const vectors = bigintVectors("product_tests.txt");
    for (const vector of vectors) {
      const square = vector.get("Square");
      const [a] = take(vector, "A");
      const b = square === undefined ? take(vector, "B")[0] : a;
      const product = square ?? take(vector, "Product")[0];
      expect(throughText(a) * throughText(b)).toBe(product);
      if (product === 0n) continue;
      const bits = bitLength(a) + bitLength(b);
      expect([bits - 1, bits]).toContain(bitLength(product));
    }
    expect(vectors.length).toBe(277);
  });

  it("divides 367 pairs as published when truncating, and by definition when rounding down", () => {
    const vectors = bigintVectors("quotient_tests.txt");
    let differing = 0;
    for (const vector of vectors) {
      const [a, b, quotient, remainder] = take(vector, "A", "B", "Quotient", "Remainder");
      expect(divide(a, b, "truncate")).toBe(quotient);
      expect(modulo(a, b, "truncate")).toBe(remainder);
      const below = remainder !== 0n && remainder < 0n !== b < 0n;
      expect(divide(a, b, "floor")).toBe(below ? quotient - 1n : quotient);
      expect(modulo(a, b, "floor")).toBe(below ? remainder + b : remainder);
      if (below) differing += 1;
    }
    expect({ all: vectors.length, differing }).toEqual({ all: 367, differing: 125 });
  });

  it("raises 5 bases as published, and refuses one bit less room", () => {
    const vectors = bigintVectors("exp_tests.txt");
    for (const vector of vectors) {
      const [base, exponent, result] = take(vector, "A", "E", "Exp");
      expect(power(base, exponent, bitLength(result))).toBe(result);
      expect(power(base, exponent, bitLength(result) - 1)).toBeUndefined();
    }
    expect(vectors.length).toBe(5);
  });

  it("reduces 140 powers modulo a number as published", () => {
    const vectors = bigintVectors("mod_exp_tests.txt");
    for (const vector of vectors) {
      const [base, exponent, modulus, expected] = take(vector, "A", "E", "M", "ModExp");
      let result = modulo(1n, modulus, "floor");
      for (const bit of exponent.toString(2)) {
        result = modulo(result * result, modulus, "floor");
        if (bit === "1") result = modulo(result * base, modulus, "floor");
      }
      expect(result).toBe(expected);
    }
    expect(vectors.length).toBe(140);
  });

  it("confirms 28 modular inverses as published", () => {
    const vectors = bigintVectors("mod_inv_tests.txt");
    for (const vector of vectors) {
      const [a, modulus, inverse] = take(vector, "A", "M", "ModInv");
      expect(modulo(a * inverse, modulus, "floor")).toBe(modulo(1n, modulus, "floor"));
    }
    expect(vectors.length).toBe(28);
  });

  it("shifts 701 numbers as published, by powers of two", () => {
    const vectors = bigintVectors("shift_tests.txt");
    for (const vector of vectors) {
      const [a] = take(vector, "A");
      const places = vector.get("N") ?? 1n;
      const right = vector.get("RShift");
      if (right === undefined) {
        const left = vector.get("LShift") ?? vector.get("LShift1");
        expect(a * pow(2n, places)).toBe(left);
      } else {
        expect(divide(a, pow(2n, places), "truncate")).toBe(right);
      }
    }
    expect(vectors.length).toBe(701);
  });
});
