/** Published documents as records of transaction testing. */
import type { JsonValue } from "../../../../src/base/json.ts";
import { type PublishedInvoice, totalsInputs } from "./invoices.ts";
import type { MatchRun } from "./procurement.ts";
import type { Listed } from "./workflows.ts";

type Members = { readonly [member: string]: JsonValue };

/** Of the three-way match the workflow knows what was billed before as sums, net of credit notes. */
export function matchAsTransaction(id: string, { inputs }: MatchRun): Listed {
  const { order, response, deliveries, invoice } = inputs;
  const earlier = listOf(inputs["earlier_invoices"]);
  const credited = listOf(inputs["credit_notes"]);
  const common = {
    id,
    supplier: id,
    order: order ?? null,
    ...(response === undefined ? {} : { response }),
    deliveries: deliveries ?? [],
  };
  if (invoice === undefined || invoice === null) return { record: common, amount: "0" };
  const { id: number, lines, ...rest } = invoice as Members;
  const billed = [
    ...earlier.map((one) => [one, 1] as const),
    ...credited.map((one) => [one, -1] as const),
  ];
  const bill = {
    kind: "invoice",
    number: number ?? null,
    ...rest,
    net_before: String(
      billed.reduce((sum, [{ net }, sign]) => sum + BigInt(String(net)) * BigInt(sign), 0n),
    ),
    lines: listOf(lines).map((line) => ({
      ...line,
      billed_before: String(
        billed.reduce((sum, [{ lines: before }, sign]) => {
          const same = listOf(before).filter(
            (one) => one["order_line"] === (line["order_line"] ?? line["id"]),
          );
          return sum + sign * same.reduce((all, one) => all + Number(one["quantity"]), 0);
        }, 0),
      ),
    })),
  };
  return { record: { ...common, bill }, amount: String(rest["payable"]) };
}

/** The suite uses one number for many of its files; its invoices are told apart by their place in it. */
export function invoiceAlone(id: string, published: PublishedInvoice): Listed {
  const { invoice } = totalsInputs(published);
  const { id: number, lines, tax_groups: _, ...rest } = invoice as Members;
  const bill = {
    kind: "invoice",
    number: `${number} ${id}`,
    currency: "EUR",
    ...rest,
    lines: lines ?? [],
  };
  const record = { id, supplier: "published", deliveries: [], bill };
  return { record, amount: String(rest["payable"]) };
}

function listOf(value: JsonValue | undefined): readonly Members[] {
  return (value ?? []) as readonly Members[];
}
