import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { finish, shippedProcedure, startOptions } from "../../support/recipes.ts";
import { sharedPresent } from "../../support/shared.ts";
import { publishedPayments } from "./adapters/spending.ts";

const NAME = "split-payments";
const procedure = shippedProcedure(NAME);

interface Split {
  readonly payments: string;
  readonly above: readonly string[];
  readonly split: readonly {
    readonly merchant: string;
    readonly date: string;
    readonly total: string;
    readonly rows: readonly string[];
  }[];
}

function splitOf(payments: JsonValue, limit: string): Split {
  const run = finish(procedure.start({ payments, limit }, startOptions), NAME);
  expect(run.report.failure).toBeNull();
  expect(run.report.independently_verified).toBe(true);
  return run.result as unknown as Split;
}

const present = sharedPresent("data/council-spending");

describe.skipIf(!present)(
  `council card payments${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("80 of 1,141 payments are above 500.00, and 23 days of one merchant were split to stay below", () => {
      const published = publishedPayments("card-transactions");
      const result = splitOf(
        published.map(({ row, date, merchant, amount }) => ({ row, date, merchant, amount })),
        "50000",
      );
      expect(result.payments).toBe("1141");
      expect(result.above).toHaveLength(80);
      expect(result.split).toHaveLength(23);
      // Once more, with a map from day to payments.
      const days = new Map<string, { readonly row: number; readonly amount: number }[]>();
      for (const { row, date, merchant, amount } of published) {
        const day = `${date} ${merchant}`;
        days.set(day, [...(days.get(day) ?? []), { row, amount: Number(amount) }]);
      }
      const expected = [...days]
        .map(([day, payments]) => ({
          day,
          rows: payments.map(({ row }) => String(row)),
          total: payments.reduce((sum, { amount }) => sum + amount, 0),
          largest: Math.max(...payments.map(({ amount }) => amount)),
        }))
        .filter(({ total, largest }) => total > 50_000 && largest <= 50_000)
        .map(({ day, rows, total }) => ({ day, rows, total: String(total) }))
        .sort((left, right) => (left.day < right.day ? -1 : 1));
      expect(
        result.split.map(({ date, merchant, rows, total }) => ({
          day: `${date} ${merchant}`,
          rows,
          total,
        })),
      ).toEqual(expected);
    });
  },
);

describe("split payments", () => {
  const payment = (row: number, amount: string, merchant = "a", date = "2025-06-01") => ({
    row,
    amount,
    merchant,
    date,
  });

  it("are only those of one merchant on one day", () => {
    const payments = [
      payment(1, "300"),
      payment(2, "300", "b"),
      payment(3, "300", "a", "2025-06-02"),
    ];
    expect(splitOf(payments, "500").split).toEqual([]);
  });

  it("are no split where one of them is above the limit by itself", () => {
    const result = splitOf([payment(1, "501"), payment(2, "300")], "500");
    expect([result.above, result.split]).toEqual([["1"], []]);
  });

  it("exactly at the limit is within it", () => {
    expect(splitOf([payment(1, "250"), payment(2, "250")], "500").split).toEqual([]);
    expect(splitOf([payment(1, "250"), payment(2, "251")], "500").split).toHaveLength(1);
  });

  it.each([
    ["no payments", []],
    ["a row twice", [payment(1, "1"), payment(1, "2")]],
  ])("are not looked for in %s (B108)", (_what, payments) => {
    const run = finish(procedure.start({ payments, limit: "500" }, startOptions), NAME);
    expect([run.state, run.report.failure?.node]).toEqual(["rejected", "result"]);
  });
});
