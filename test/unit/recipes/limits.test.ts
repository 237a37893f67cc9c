import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { finish, type Inputs, shippedProcedure, startOptions } from "../../support/recipes.ts";

/**
 * A verifier that runs out of bits or fuel refuses a true result, and a refused result ends a qualification. So each
 * recipe states how large its inputs may be, and the verifier has room for all of them.
 */

const dear = "9".repeat(30);
const count = (length: number): readonly number[] =>
  Array.from({ length }, (_, index) => index + 1);

const DECLINING = { cost: dear, salvage: 1, first_year_months: 7 };
const DOUBLE = { cost: dear, salvage: 1, factor: "1000" };
const VARIABLE = { cost: dear, salvage: 1 };
const LINEAR = { cost: dear, salvage: 1, purchase: "1900-03-01", day_count: "us_30_360" };

function orderOf(ordered: number, billed: number, received: number): Inputs {
  const moved = (lines: number): JsonValue =>
    count(lines).map((line) => ({ order_line: String((line % ordered) + 1), quantity: "1.5" }));
  return {
    order: {
      id: "PO",
      currency: "EUR",
      net: 1,
      lines: count(ordered).map((line) => ({ id: String(line), quantity: 1, unit_price: "2" })),
    },
    deliveries: received === 0 ? [] : [{ id: "GR", kind: "receipt", lines: moved(received) }],
    invoice: {
      id: "INV",
      order: "PO",
      currency: "EUR",
      net: 2,
      payable: 3,
      lines: count(billed).map((line) => ({
        id: String(line),
        order_line: String((line % ordered) + 1),
        quantity: "2.5",
        unit_price: "3",
      })),
    },
  };
}

function controlOf(requirements: number, approvals: number): Inputs {
  const required = count(requirements).map((requirement) => `r${requirement}`);
  const tier = (tier: number, tiers: number): JsonValue => ({
    tier: `t${tier}`,
    above: tier === 1 ? null : tier * 10,
    up_to: tier === tiers ? null : (tier + 1) * 10,
    required,
  });
  return {
    payment: { id: "P", date: "2025-01-31", amount: 1005, currency: "EUR" },
    limits: { currency: "EUR", tiers: count(100).map((index) => tier(index, 100)) },
    approvals: count(approvals).map((approval) => ({
      requirement: `r${approval % (2 * requirements)}`,
      evidence: `e${approval}`,
      recorded: approval % 3 === 0 ? "2025-01-31" : "2025-02-01",
    })),
  };
}

function paymentsOf(payments: number, merchants: number, amount: number): Inputs {
  return {
    limit: 1000,
    payments: count(payments).map((row) => ({
      row,
      date: "2025-01-31",
      merchant: `m${row % merchants}`,
      amount,
    })),
  };
}

function invoiceOf(lines: number): Inputs {
  return {
    invoice: {
      id: "A",
      lines: count(lines).map((line) => ({
        id: String(line),
        quantity: "1.5",
        unit_price: "0.37",
        amount: line,
      })),
      tax_groups: [],
      net: 1,
      tax: 2,
      payable: 3,
    },
  };
}

function expenseOf(entries: number): Inputs {
  const chart = count(entries - 1).map((entry) => ({
    category: "office",
    account: String(entry),
    recoverable_percent: 100,
  }));
  return {
    text: "Paper, toner, desk lamp",
    date: "2025-03-05",
    amount: 119,
    tax: 19,
    supplier: { id: "S", categories: ["office"] },
    chart: [
      ...chart.slice(0, 1),
      ...chart.slice(1).map((entry) => ({ ...entry, category: "meals" })),
    ],
  };
}

const LARGEST: readonly (readonly [string, string, Inputs])[] = [
  [
    "recalculation-straight-line",
    "12000 periods",
    { cost: "9".repeat(60), salvage: 1, life: 12_000 },
  ],
  [
    "recalculation-sum-of-years",
    "a life of 100000",
    { cost: dear, salvage: 1, life: 100_000, period: "99999.9" },
  ],
  ["recalculation-double-declining", "a life of 400", { ...DOUBLE, life: 400, period: "399.9" }],
  [
    "recalculation-double-declining",
    "a life of 399.9",
    { ...DOUBLE, life: "399.9", period: "399.9", factor: "0.01" },
  ],
  ["recalculation-declining", "a life of 500", { ...DECLINING, life: 500, period: 500 }],
  ["recalculation-declining", "a life of 69.9", { ...DECLINING, life: "69.9", period: "69.9" }],
  [
    "recalculation-variable-declining",
    "a life of 150, switching",
    { ...VARIABLE, life: 150, start: "0.5", end: 150, factor: "1.25", straight_line: true },
  ],
  [
    "recalculation-variable-declining",
    "a life of 149.9, switching late",
    { ...VARIABLE, life: "149.9", start: "149.8", end: "149.9", factor: 30, straight_line: true },
  ],
  [
    "recalculation-variable-declining",
    "a life of 150, not switching",
    { ...VARIABLE, life: 150, start: "149.5", end: 150, factor: "1000", straight_line: false },
  ],
  [
    "recalculation-prorated-linear",
    "a first period of 36525 days",
    { ...LINEAR, first_period_end: "2000-03-01", period: 0, rate: "0.0001" },
  ],
  [
    "recalculation-prorated-linear",
    "10000 periods",
    { ...LINEAR, first_period_end: "1900-03-02", period: 10_000, rate: "0.0001" },
  ],
  ["three-way-match", "223 lines ordered, billed and received once", orderOf(223, 112, 112)],
  ["three-way-match", "1 line ordered, 2000 billed", orderOf(1, 2000, 0)],
  ["three-way-match", "2000 lines ordered, 25 billed", orderOf(2000, 25, 0)],
  ["control-test", "100 requirements, 500 approvals", controlOf(100, 500)],
  ["control-test", "1 requirement, 50000 approvals", controlOf(1, 50_000)],
  ["split-payments", "3000 payments on 1500 split days", paymentsOf(3000, 1500, 501)],
  ["split-payments", "3000 payments on one day", paymentsOf(3000, 1, 1)],
  ["split-payments", "3000 payments above the limit", paymentsOf(3000, 10, 1001)],
  ["invoice-totals", "5000 lines", invoiceOf(5000)],
  ["expense-posting", "a chart of 10000", expenseOf(10_001)],
];

const TOO_LARGE: readonly (readonly [string, string, Inputs, string])[] = [
  [
    "recalculation-straight-line",
    "12001 periods",
    { cost: 1, salvage: 0, life: 12_001 },
    "periods",
  ],
  [
    "recalculation-straight-line",
    "a cost of 61 digits",
    { cost: "1".repeat(61), salvage: 0, life: 2 },
    "depreciable",
  ],
  [
    "recalculation-sum-of-years",
    "a cost of 31 digits",
    { cost: `${dear}0`, salvage: 0, life: 2, period: 1 },
    "base",
  ],
  [
    "recalculation-double-declining",
    "a life of 400.1",
    { ...DOUBLE, life: "400.1", period: 1 },
    "terms",
  ],
  ["recalculation-declining", "a life of 501", { ...DECLINING, life: 501, period: 1 }, "exponent"],
  [
    "recalculation-declining",
    "a life of 70.1",
    { ...DECLINING, life: "70.1", period: 1 },
    "exponent",
  ],
  [
    "recalculation-variable-declining",
    "a life of 150.1",
    { ...VARIABLE, life: "150.1", start: 0, end: 1, factor: 2, straight_line: true },
    "terms",
  ],
  [
    "recalculation-prorated-linear",
    "a first period of 36526 days",
    { ...LINEAR, first_period_end: "2000-03-03", period: 0, rate: "0.1" },
    "base",
  ],
  [
    "three-way-match",
    "225 lines ordered, billed and received once",
    orderOf(225, 112, 112),
    "size",
  ],
  ["control-test", "100 requirements, 501 approvals", controlOf(100, 501), "required"],
  ["split-payments", "3001 payments", paymentsOf(3001, 5, 1), "result"],
  ["invoice-totals", "5001 lines", invoiceOf(5001), "unit"],
  ["expense-posting", "a chart of 10001", expenseOf(10_002), "amounts"],
];

describe("sizes of inputs", () => {
  it.each(LARGEST)("%s verifies the largest it accepts: %s", (name, _what, inputs) => {
    const run = finish(shippedProcedure(name).start(inputs, startOptions), name);
    expect({ state: run.state, failure: run.report.failure }).toEqual({
      state: "verified",
      failure: null,
    });
  });

  it.each(TOO_LARGE)("%s rejects more: %s", (name, _what, inputs, node) => {
    const run = finish(shippedProcedure(name).start(inputs, startOptions), name);
    expect({ state: run.state, node: run.report.failure?.node }).toEqual({
      state: "rejected",
      node,
    });
  });
});
