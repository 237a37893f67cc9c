/** Published council payments and an agency's spending tiers as inputs of the control tests. */
import { readFileSync } from "node:fs";
import { type Inputs, jsonLines } from "../../../support/recipes.ts";
import { sharedPath } from "../../../support/shared.ts";

export interface Payment {
  readonly id: string;
  readonly row: number;
  readonly date: string;
  readonly amount: string;
  readonly currency: string;
  readonly merchant: string;
}

/** Card payments carry a merchant, supplier payments a supplier number or nothing. */
export function publishedPayments(file: "card-transactions" | "payments"): readonly Payment[] {
  return jsonLines(sharedPath(`data/council-spending/${file}.jsonl`)).map((line) => {
    const row = line as { readonly [column: string]: string | number };
    return {
      id: `${file}/${row["row"]}`,
      row: Number(row["row"]),
      date: String(row["date"] ?? row["paid_date"]),
      amount: String(row["amount_minor"]),
      currency: String(row["currency"]),
      merchant: String(row["merchant"] ?? row["supplier_id"] ?? ""),
    };
  });
}

export interface Tier {
  readonly tier: string;
  readonly above: string | null;
  readonly up_to: string | null;
  readonly required: readonly string[];
}

/** The published tiers, in dollars; `currency` declares them to hold for payments in another currency. */
export function publishedLimits(currency?: string): {
  readonly currency: string;
  readonly tiers: readonly Tier[];
} {
  const published = JSON.parse(
    readFileSync(sharedPath("data/authority-limits/limits.json"), "utf8"),
  ) as {
    readonly currency: string;
    readonly tiers: readonly {
      readonly tier: string;
      readonly above_minor: string | null;
      readonly up_to_minor: string | null;
      readonly required: readonly string[];
    }[];
  };
  return {
    currency: currency ?? published.currency,
    tiers: published.tiers.map(({ tier, above_minor, up_to_minor, required }) => ({
      tier,
      above: above_minor,
      up_to: up_to_minor,
      required,
    })),
  };
}

export interface Approval {
  readonly requirement: string;
  readonly evidence: string;
  readonly recorded: string;
}

/**
 * The payments were published without their approvals, so each gets some by its row number: of the requirements of all
 * tiers, numbered from 0, the k-th is absent where k + 2 divides the row, is a day late where k + 5 divides it, and is
 * else recorded on the day of the payment.
 */
export function madeUpApprovals(payment: Payment, tiers: readonly Tier[]): readonly Approval[] {
  const requirements = [...new Set(tiers.flatMap(({ required }) => required))];
  return requirements.flatMap((requirement, k) => {
    if (payment.row % (k + 2) === 0) return [];
    const late = payment.row % (k + 5) === 0;
    return [
      {
        requirement,
        evidence: `EV-${payment.row}-${k}`,
        recorded: late ? nextDay(payment.date) : payment.date,
      },
    ];
  });
}

function nextDay(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

export function controlInputs(
  payment: Payment,
  limits: { readonly currency: string; readonly tiers: readonly Tier[] },
  approvals: readonly Approval[],
): Inputs {
  const { id, date, amount, currency } = payment;
  return {
    payment: { id, date, amount, currency },
    limits: {
      currency: limits.currency,
      tiers: limits.tiers.map((tier) => ({ ...tier, required: [...tier.required] })),
    },
    approvals: approvals.map((approval) => ({ ...approval })),
  };
}
