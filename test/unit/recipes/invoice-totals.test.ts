import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { finish, jsonLines, shippedProcedure, startOptions } from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import { type PublishedInvoice, totalsInputs } from "./adapters/invoices.ts";

const NAME = "invoice-totals";
const procedure = shippedProcedure(NAME);

interface Totals {
  readonly agrees: boolean;
  readonly figures: string;
  readonly findings: readonly {
    readonly rule: string;
    readonly place?: string;
    readonly stated: string;
    readonly computed: string;
  }[];
}

function totalsOf(inputs: { readonly [name: string]: JsonValue }): Totals {
  const run = finish(procedure.start(inputs, startOptions), NAME);
  expect(run.report.failure).toBeNull();
  expect(run.report.independently_verified).toBe(true);
  return run.result as unknown as Totals;
}

const RULES: { readonly [observed: string]: string } = {
  sum_of_lines_equals_net: "sum_of_lines",
  tax_subtotals_equal_tax: "sum_of_tax",
  tax_equals_rate_times_base: "tax_rate",
  payable_equals_components: "payable",
  line_amounts_equal_quantity_times_price: "line_amount",
};

const data = "data/invoices-en16931/invoices.jsonl";
const present = sharedPresent(data);

describe.skipIf(!present)(
  `published invoices${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("33 invoices break exactly the rules that the published comparison says they break", () => {
      const invoices = jsonLines(sharedPath(data)).map(
        (line) => line as unknown as PublishedInvoice,
      );
      expect(invoices).toHaveLength(33);
      let figures = 0;
      const broken: string[] = [];
      for (const invoice of invoices) {
        const totals = totalsOf(totalsInputs(invoice));
        figures += Number(totals.figures);
        const expected = Object.entries(invoice.observed)
          .filter(([, holds]) => !holds)
          .map(([rule]) => RULES[rule]);
        expect([
          invoice.source_path,
          [...new Set(totals.findings.map(({ rule }) => rule))],
        ]).toEqual([invoice.source_path, expected]);
        broken.push(...totals.findings.map(({ stated, computed }) => `${stated} for ${computed}`));
      }
      // 132 lines, 40 tax groups, and three totals of each invoice.
      expect(figures).toBe(132 + 40 + 3 * 33);
      expect(broken).toEqual([
        "4833 for 4834",
        "922392 for 922391",
        "24147 for 24146",
        "691237 for 691236",
      ]);
    });
  },
);

describe("the totals of an invoice", () => {
  const line = (amount: number, unit_price: string) => ({
    id: "1",
    quantity: "1",
    unit_price,
    amount,
  });
  const invoice = (amount: number, unit_price: string) => ({
    invoice: {
      id: "A",
      lines: [line(amount, unit_price)],
      tax_groups: [],
      net: amount,
      tax: 0,
      payable: amount,
    },
  });

  it.each([
    [13, "0.125"],
    [-13, "-0.125"],
    [12, "0.1249999999"],
    [0, "0.0049999999"],
    [1, "0.005"],
  ])("round half away from zero: %i for %s", (amount, price) => {
    expect(totalsOf(invoice(amount, price)).agrees).toBe(true);
    expect(totalsOf(invoice(amount + 1, price)).findings).toEqual([
      { rule: "line_amount", place: "1", stated: String(amount + 1), computed: String(amount) },
    ]);
  });

  it("name the line at fault among others that agree (B108)", () => {
    const lines = ["1", "2", "3"].map((id) => ({ ...line(id === "2" ? 201 : 200, "2"), id }));
    const totals = totalsOf({
      invoice: { ...invoice(601, "0").invoice, lines },
    });
    expect(totals.findings).toEqual([
      { rule: "line_amount", place: "2", stated: "201", computed: "200" },
    ]);
  });

  it("of an invoice without lines are not recalculated: nothing to check is no agreement (B108)", () => {
    const empty = { ...invoice(0, "0").invoice, lines: [] };
    const run = finish(procedure.start({ invoice: empty }, startOptions), NAME);
    expect([run.state, run.report.failure?.node]).toEqual(["rejected", "unit"]);
  });
});
