/** What the operations of a request come to, as far as signed tool reviews say where amounts stand. */
import type { JsonValue } from "../base/json.ts";
import { compareText } from "../base/text.ts";
import type { FrozenOperation } from "../host/index.ts";
import type { ToolReview } from "../model/trust.ts";
import { amountOf } from "../policy/budget.ts";
import { checkToolReview } from "../trust/tool-review.ts";
import type { TrustStore } from "../trust/trust-store.ts";

export interface Totals {
  readonly amounts: readonly CurrencyTotal[];
  /** Operations of tools for which no review at hand names an amount: their worth is not in the totals. */
  readonly without: number;
  /** Operations whose amount cannot be read although the review names one; the host refuses them. */
  readonly unreadable: number;
}

export interface CurrencyTotal {
  readonly currency: string;
  /** Canonical decimal text, in minor units. */
  readonly minor_units: string;
  readonly operations: number;
}

/** @param reviews signed reviews; one that does not verify under `trust`, or is of another definition, counts for nothing */
export function totalsOf(
  operations: readonly FrozenOperation[],
  reviews: readonly JsonValue[],
  audience: string,
  trust: TrustStore,
  now: number,
): Totals {
  const known = reviews.flatMap((envelope) => {
    const checked = checkToolReview(envelope, audience, trust, now);
    return checked.ok ? [checked.value.review] : [];
  });
  const sums = new Map<string, { value: bigint; operations: number }>();
  let without = 0;
  let unreadable = 0;
  for (const { operation } of operations) {
    const review = known.find((one) => isOf(one, operation.tool));
    const amount = review === undefined ? undefined : amountOf(review, operation.arguments);
    if (amount === undefined || (amount.ok && amount.value === undefined)) {
      without += 1;
    } else if (!amount.ok || amount.value === undefined) {
      unreadable += 1;
    } else {
      const { currency, value } = amount.value;
      const sum = sums.get(currency) ?? { value: 0n, operations: 0 };
      sums.set(currency, { value: sum.value + value, operations: sum.operations + 1 });
    }
  }
  const amounts = [...sums]
    .sort(([left], [right]) => compareText(left, right))
    .map(([currency, sum]) => ({
      currency,
      minor_units: String(sum.value),
      operations: sum.operations,
    }));
  return { amounts, without, unreadable };
}

function isOf(review: ToolReview, tool: FrozenOperation["operation"]["tool"]): boolean {
  return review.name === tool.name && review.definition === tool.definition;
}
