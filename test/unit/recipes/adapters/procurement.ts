/** Published document sets as inputs of the three-way match: which document is what, and which came before. */
import type { JsonValue } from "../../../../src/base/json.ts";
import type { Inputs } from "../../../support/recipes.ts";

interface Money {
  readonly amount: string;
  readonly minor: string;
  readonly currency: string;
}

interface Line {
  readonly id: string;
  readonly item_id?: string | null;
  readonly quantity: { readonly value: string };
  readonly unit_price?: Money;
  readonly price_base_quantity?: string;
  readonly order_line_ref?: string;
}

interface Document {
  readonly kind: string;
  readonly id: string;
  readonly issue_date: string;
  readonly currency?: string;
  readonly order_ref?: string;
  readonly billing_ref?: string;
  readonly despatch_ref?: string;
  readonly accepted?: boolean;
  readonly lines?: readonly Line[];
  readonly totals?: { readonly [name: string]: Money };
}

export interface Observed {
  readonly invoice?: string;
  readonly check: string;
  readonly ok: boolean;
  readonly left?: string | null;
  readonly right?: string | null;
}

export interface ProcurementCase {
  readonly case_id: string;
  readonly documents: readonly Document[];
  readonly observed: readonly Observed[];
}

export interface MatchRun {
  /** Id of the invoice; null for a set without one. */
  readonly invoice: string | null;
  readonly inputs: Inputs;
  /** The order line that an invoice line is for. */
  readonly orderLine: (invoiceLine: string) => string;
}

/** One run for each invoice of the set, or a single one without invoice. */
export function matchRuns(set: ProcurementCase): readonly MatchRun[] {
  const of = (kind: string): readonly Document[] =>
    set.documents.filter((document) => document.kind === kind);
  const [order] = of("Order");
  if (order === undefined) throw new Error(`${set.case_id} has no order`);
  const [response] = of("OrderResponseSimple");
  const shared = {
    order: orderInput(order),
    ...(response === undefined
      ? {}
      : { response: { id: response.id, accepted: response.accepted ?? null } }),
    deliveries: [...of("DespatchAdvice"), ...of("ReceiptAdvice")].map((delivery) =>
      deliveryInput(delivery, order, set.documents),
    ),
  };
  const invoices = of("Invoice");
  if (invoices.length === 0) {
    return [{ invoice: null, inputs: shared, orderLine: (line) => line }];
  }
  return invoices.map((invoice) => {
    const earlier = invoices.filter((other) => sortKey(other) < sortKey(invoice));
    const credits = of("CreditNote").filter(
      (note) =>
        note.issue_date <= invoice.issue_date && earlier.some(({ id }) => id === note.billing_ref),
    );
    return {
      invoice: invoice.id,
      inputs: {
        ...shared,
        invoice: invoiceInput(invoice),
        earlier_invoices: earlier.map((other) => billedInput(other, other)),
        credit_notes: credits.map((note) =>
          billedInput(note, earlier.find(({ id }) => id === note.billing_ref) ?? note),
        ),
      },
      orderLine: (id) => lineOf(invoice, id)?.order_line_ref ?? id,
    };
  });
}

/** Documents of one day are told apart by their numbers, which the publisher gave in order. */
function sortKey(document: Document): string {
  return `${document.issue_date} ${document.id}`;
}

function orderInput(order: Document): JsonValue {
  return {
    id: order.id,
    currency: currencyOf(order),
    net: minorOf(order, "line_extension") ?? null,
    lines: (order.lines ?? []).map((line) => ({
      id: line.id,
      quantity: line.quantity.value,
      ...priceOf(line),
    })),
  };
}

function invoiceInput(invoice: Document): JsonValue {
  return {
    id: invoice.id,
    order: invoice.order_ref ?? null,
    currency: currencyOf(invoice),
    net: minorOf(invoice, "line_extension") ?? null,
    allowances: minorOf(invoice, "allowance_total") ?? null,
    charges: minorOf(invoice, "charge_total") ?? null,
    tax: minorOf(invoice, "tax") ?? null,
    prepaid: minorOf(invoice, "prepaid") ?? null,
    rounding: minorOf(invoice, "rounding") ?? null,
    payable: minorOf(invoice, "payable") ?? null,
    lines: (invoice.lines ?? []).map((line) => ({
      id: line.id,
      order_line: line.order_line_ref ?? null,
      quantity: line.quantity.value,
      ...priceOf(line),
    })),
  };
}

/** A credit note's lines are those of the invoice that it credits, so their order lines are found there. */
function billedInput(document: Document, billed: Document): JsonValue {
  return {
    id: document.id,
    currency: currencyOf(document),
    net: minorOf(document, "line_extension") ?? null,
    lines: (document.lines ?? []).map((line) => ({
      order_line: line.order_line_ref ?? lineOf(billed, line.id)?.order_line_ref ?? line.id,
      quantity: line.quantity.value,
    })),
  };
}

/** A line that names no order line is found through the despatch that was received, else by its item. */
function deliveryInput(
  delivery: Document,
  order: Document,
  documents: readonly Document[],
): JsonValue {
  const despatch = documents.find(
    (document) => document.kind === "DespatchAdvice" && document.id === delivery.despatch_ref,
  );
  const byItem = (line: Line): string | undefined => {
    const same = (order.lines ?? []).filter((ordered) => ordered.item_id === line.item_id);
    return same.length === 1 ? same[0]?.id : undefined;
  };
  return {
    id: delivery.id,
    kind: delivery.kind === "ReceiptAdvice" ? "receipt" : "despatch",
    lines: (delivery.lines ?? []).map((line) => ({
      order_line:
        line.order_line_ref ??
        (despatch && lineOf(despatch, line.id)?.order_line_ref) ??
        byItem(line) ??
        line.id,
      quantity: line.quantity.value,
    })),
  };
}

function lineOf(document: Document, id: string): Line | undefined {
  return document.lines?.find((line) => line.id === id);
}

function priceOf(line: Line): { readonly unit_price: JsonValue; readonly price_per: JsonValue } {
  return {
    unit_price: line.unit_price?.amount ?? null,
    price_per: line.price_base_quantity ?? null,
  };
}

function minorOf(document: Document, total: string): string | undefined {
  return document.totals?.[total]?.minor;
}

/** The OASIS examples name the currency at their amounts only. */
function currencyOf(document: Document): string {
  return document.currency ?? document.totals?.["line_extension"]?.currency ?? "";
}
