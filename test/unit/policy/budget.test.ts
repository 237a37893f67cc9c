import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { budgetSchema } from "../../../src/model/policy.ts";
import { amountOf, countsOf, givenBack } from "../../../src/policy/budget.ts";
import { reviewOf } from "../../support/trust.ts";

const REVIEW = reviewOf({ amount: { value: "/amount", currency: "/currency" } });

const read = (args: JsonValue) => {
  const amount = amountOf(REVIEW, args);
  return amount.ok ? amount.value : amount.error;
};

describe("an amount", () => {
  it("is read where the review says, in minor units of any size", () => {
    const eur = (value: bigint) => ({ currency: "EUR", value });
    expect(read({ amount: "1200", currency: "EUR" })).toEqual(eur(1200n));
    expect(read({ amount: 1200, currency: "EUR" })).toEqual(eur(1200n));
    expect(read({ amount: 0, currency: "EUR" })).toEqual(eur(0n));
    expect(read({ amount: "90071992547409931", currency: "EUR" })).toEqual(eur(90071992547409931n));
    expect(amountOf(reviewOf(), { amount: "5" })).toEqual({ ok: true, value: undefined });
  });

  it("that is missing, negative, rounded or not a number is none: the operation is refused", () => {
    const bad: readonly JsonValue[] = [
      {},
      { currency: "EUR" },
      { amount: null, currency: "EUR" },
      { amount: "-1", currency: "EUR" },
      { amount: -1, currency: "EUR" },
      { amount: "12.50", currency: "EUR" },
      { amount: 12.5, currency: "EUR" },
      { amount: "012", currency: "EUR" },
      { amount: "1e3", currency: "EUR" },
      { amount: 2 ** 53, currency: "EUR" },
      { amount: ["5"], currency: "EUR" },
      [],
      "5",
      null,
    ];
    for (const args of bad) expect(read(args), JSON.stringify(args)).toContain("no amount");
  });

  it("needs a currency, written as such", () => {
    for (const currency of [undefined, "", "eur", "EURO", "E", null, 978, "EU\u0052\n"]) {
      const args = currency === undefined ? { amount: "5" } : { amount: "5", currency };
      expect(read(args), String(currency)).toContain("no currency");
    }
  });
});

describe("a budget", () => {
  const limits = { operations: 5, effects: 2, amounts: { EUR: "100" } };
  const budget = { run: limits, host: { operations: 50 } };

  it("counts each operation in the run and at the host, effects and amounts beside", () => {
    expect(countsOf(budget, "r1", "read", undefined)).toEqual([
      { counter: "budget/run/r1/operations", add: 1n, limit: 5n },
      { counter: "budget/host/operations", add: 1n, limit: 50n },
    ]);
    expect(countsOf(budget, "r1", "effect", { currency: "EUR", value: 7n })).toEqual([
      { counter: "budget/run/r1/operations", add: 1n, limit: 5n },
      { counter: "budget/run/r1/effects", add: 1n, limit: 2n },
      { counter: "budget/run/r1/amount/EUR", add: 7n, limit: 100n },
      { counter: "budget/host/operations", add: 1n, limit: 50n },
      { counter: "budget/host/effects", add: 1n, limit: null },
      { counter: "budget/host/amount/EUR", add: 7n, limit: null },
    ]);
  });

  it("that names currencies allows nothing in any other", () => {
    const of = (currency: string) =>
      countsOf(budget, "r", "effect", { currency, value: 1n }).find(({ counter }) =>
        counter.startsWith("budget/run/r/amount"),
      )?.limit;
    expect([of("EUR"), of("USD")]).toEqual([100n, 0n]);
    const none = { run: { amounts: {} }, host: {} };
    expect(countsOf(none, "r", "effect", { currency: "EUR", value: 1n })[2]?.limit).toBe(0n);
  });

  it("gets back exactly what was reserved", () => {
    const counts = countsOf(budget, "r", "effect", { currency: "EUR", value: 7n });
    const back = givenBack(counts);
    expect(back.map(({ counter }) => counter)).toEqual(counts.map(({ counter }) => counter));
    for (const [at, { add, limit }] of back.entries()) {
      expect(add).toBe(-(counts[at]?.add ?? 0n));
      expect(limit).toBeNull();
    }
  });

  it("is a closed document of whole numbers and canonical amounts", () => {
    const parses = (run: unknown) => budgetSchema.safeParse({ run, host: {} }).success;
    expect(parses(limits)).toBe(true);
    for (const bad of [
      { operation: 5 },
      { operations: -1 },
      { operations: 1.5 },
      { operations: "5" },
      { amounts: { eur: "5" } },
      { amounts: { EUR: 5 } },
      { amounts: { EUR: "05" } },
      { amounts: { EUR: "-5" } },
    ]) {
      expect(parses(bad), JSON.stringify(bad)).toBe(false);
    }
    expect(budgetSchema.safeParse({ run: {} }).success).toBe(false);
  });
});
