/**
 * What an operation costs and against which totals. Pure: the journal adds and compares, in the transaction that
 * admits. Reserved at admission; what did not happen is given back with the receipt.
 */

import { parseInteger } from "../base/integer.ts";
import type { JsonValue } from "../base/json.ts";
import { parsePointer, readPointer } from "../base/pointer.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { Budget, BudgetLimits } from "../model/policy.ts";
import type { ToolReview } from "../model/trust.ts";
import type { Count } from "../ports/journal.ts";

export interface Amount {
  readonly currency: string;
  /** Minor units, not negative. */
  readonly value: bigint;
}

/** The amount that the review says the arguments name; undefined where it names none. */
export function amountOf(review: ToolReview, args: JsonValue): Result<Amount | undefined, string> {
  if (review.amount === undefined) return ok(undefined);
  const { value: at, currency: where } = review.amount;
  const value = integerAt(args, at);
  const currency = textAt(args, where);
  if (value === undefined || value < 0n) return err(`no amount in minor units at ${at}`);
  if (currency === undefined || !/^[A-Z]{3}$/u.test(currency))
    return err(`no currency at ${where}`);
  return ok({ currency, value });
}

/** Totals that an operation adds to, with the limits they must not exceed. */
export function countsOf(
  budget: Budget,
  run: string,
  category: "read" | "effect",
  amount: Amount | undefined,
): readonly Count[] {
  return [
    ...countsIn(`budget/run/${run}`, budget.run, category, amount),
    ...countsIn("budget/host", budget.host, category, amount),
  ];
}

/** What gives a reservation back. */
export function givenBack(counts: readonly Count[]): readonly Count[] {
  return counts.map(({ counter, add }) => ({ counter, add: -add, limit: null }));
}

function countsIn(
  scope: string,
  limits: BudgetLimits,
  category: "read" | "effect",
  amount: Amount | undefined,
): readonly Count[] {
  const counts: Count[] = [
    { counter: `${scope}/operations`, add: 1n, limit: limitOf(limits.operations) },
  ];
  if (category === "effect") {
    counts.push({ counter: `${scope}/effects`, add: 1n, limit: limitOf(limits.effects) });
  }
  if (amount !== undefined) {
    // A currency that a budget of amounts does not name is one that nothing may be spent in.
    const limit =
      limits.amounts === undefined ? null : BigInt(ownLimit(limits.amounts, amount.currency));
    counts.push({ counter: `${scope}/amount/${amount.currency}`, add: amount.value, limit });
  }
  return counts;
}

function ownLimit(amounts: { readonly [currency: string]: string }, currency: string): string {
  return Object.hasOwn(amounts, currency) ? (amounts[currency] ?? "0") : "0";
}

function limitOf(count: number | undefined): bigint | null {
  return count === undefined ? null : BigInt(count);
}

function integerAt(args: JsonValue, pointer: string): bigint | undefined {
  const value = at(args, pointer);
  if (typeof value === "string") return parseInteger(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function textAt(args: JsonValue, pointer: string): string | undefined {
  const value = at(args, pointer);
  return typeof value === "string" ? value : undefined;
}

function at(args: JsonValue, pointer: string): JsonValue | undefined {
  const tokens = parsePointer(pointer);
  return tokens === undefined ? undefined : readPointer(args, tokens);
}
