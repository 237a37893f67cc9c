/** Published invoices as inputs of the recalculation of totals. */
import type { Inputs } from "../../../support/recipes.ts";

interface Money {
  readonly amount: string;
  readonly minor: string;
}

export interface PublishedInvoice {
  readonly id: string;
  readonly lines: readonly {
    readonly id: string;
    readonly quantity: { readonly value: string };
    readonly unit_price: Money;
    readonly price_base_quantity?: string;
    readonly line_amount: Money;
  }[];
  readonly totals: { readonly [name: string]: Money };
  readonly tax_subtotals: readonly {
    readonly taxable: Money;
    readonly tax: Money;
    readonly percent: string;
  }[];
  readonly source_path: string;
  readonly observed: { readonly [rule: string]: boolean };
}

export function totalsInputs(invoice: PublishedInvoice): Inputs {
  const total = (name: string): string | null => invoice.totals[name]?.minor ?? null;
  return {
    invoice: {
      id: invoice.id,
      lines: invoice.lines.map((line) => ({
        id: line.id,
        quantity: line.quantity.value,
        unit_price: line.unit_price.amount,
        price_per: line.price_base_quantity ?? null,
        amount: line.line_amount.minor,
      })),
      tax_groups: invoice.tax_subtotals.map(({ taxable, tax, percent }) => ({
        taxable: taxable.minor,
        percent,
        tax: tax.minor,
      })),
      net: total("line_extension"),
      allowances: total("allowance_total"),
      charges: total("charge_total"),
      tax: total("tax"),
      prepaid: total("prepaid"),
      rounding: total("rounding"),
      payable: total("payable"),
    },
  };
}
