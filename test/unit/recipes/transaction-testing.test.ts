/** Transaction testing as a whole workflow: each kind of finding, one match once, and published documents. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { directories } from "../../support/directories.ts";
import { jsonLines } from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import {
  approveAll,
  boundTo,
  entriesIn,
  hostIn,
  prepareWith,
  type Row,
  resultOf,
} from "../../support/workflows.ts";
import type { PublishedInvoice } from "./adapters/invoices.ts";
import { matchRuns, type ProcurementCase } from "./adapters/procurement.ts";
import { invoiceAlone, matchAsTransaction } from "./adapters/transactions.ts";
import { engagementOf, type Listed, rowsOf } from "./adapters/workflows.ts";

const made = directories();
afterAll(made.remove);

type Members = { readonly [member: string]: JsonValue };

interface Change {
  readonly order?: Members | null;
  readonly bill?: Members | null;
  readonly line?: Members;
  readonly received?: string | null;
  readonly accepted?: boolean;
  readonly supplier?: string;
  readonly kind?: string;
}

/** Ten of something at 40.00, ordered, received, and billed with 19 percent of tax; but for the change. */
function transaction(id: string, change: Change = {}): Listed {
  const { received = "10", accepted = true, supplier = "Kessler & Sohn" } = change;
  const bill = {
    kind: "invoice",
    number: `R-${id}`,
    order: "PO-1",
    currency: "EUR",
    net: "40000",
    tax: "7600",
    payable: "47600",
    lines: [
      {
        id: "a",
        order_line: "1",
        quantity: "10",
        unit_price: "40",
        amount: "40000",
        ...change.line,
      },
    ],
    ...change.bill,
  };
  const order = {
    id: "PO-1",
    currency: "EUR",
    net: "40000",
    lines: [{ id: "1", quantity: "10", unit_price: "40.00" }],
    ...change.order,
  };
  const record = {
    id,
    supplier,
    ...(change.order === null ? {} : { order }),
    response: { id: "OR-1", accepted },
    deliveries:
      received === null
        ? []
        : [{ id: "GR-1", kind: "receipt", lines: [{ order_line: "1", quantity: received }] }],
    ...(change.bill === null ? {} : { bill }),
  };
  return { record, amount: change.bill === null ? "0" : String(bill.payable) };
}

const found = ({ findings }: Row) =>
  findings.map(({ kind, line, left, right }) => [kind, ...(line ? [line] : []), left, right]);

const CASES: { readonly [id: string]: { readonly change: Change; readonly findings: unknown } } = {
  agrees: { change: {}, findings: [] },
  "no-order": { change: { order: null }, findings: [["order_present", "", "present"]] },
  "no-bill": { change: { bill: null }, findings: [["bill_present", "", "present"]] },
  reference: {
    change: { bill: { order: "PO-2" } },
    findings: [["order_reference", "PO-2", "PO-1"]],
  },
  currency: { change: { bill: { currency: "USD" } }, findings: [["currency", "USD", "EUR"]] },
  "ten-cents": {
    change: { order: { net: "40010" } },
    findings: [["net_amount", "40000", "40010"]],
  },
  rejected: { change: { accepted: false }, findings: [["order_accepted", "rejected", "accepted"]] },
  undelivered: { change: { received: null }, findings: [["delivery_evidence", "", "present"]] },
  arithmetic: {
    change: { bill: { payable: "47601" } },
    findings: [["payable", "47601", "47600"]],
  },
  "short-delivery": {
    change: { received: "8.5" },
    findings: [["received", "1", "10", "8.500000"]],
  },
  quantity: {
    change: { order: { lines: [{ id: "1", quantity: "9", unit_price: "40" }] } },
    findings: [["quantity", "1", "10", "9"]],
  },
  price: {
    change: { order: { lines: [{ id: "1", quantity: "10", unit_price: "39.995" }] } },
    findings: [["unit_price", "a", "40.00", "39.995000000"]],
  },
  "price-per": {
    change: { order: { lines: [{ id: "1", quantity: "10", unit_price: "40", price_per: 10 }] } },
    findings: [["unit_price", "a", "40.00", "40.00 for 10"]],
  },
  "other-line": {
    change: { line: { order_line: "7" } },
    findings: [
      ["quantity", "1", "0", "10"],
      ["line_order", "a", "7", "a line of the order"],
    ],
  },
  "line-amount": {
    change: { line: { amount: "39999" } },
    findings: [
      ["sum_of_lines", "39999", "40000"],
      ["line_amount", "a", "39999", "40000"],
    ],
  },
  "billed-before": {
    change: { line: { billed_before: "5" }, bill: { net_before: "20000" } },
    findings: [
      ["net_amount", "60000", "40000"],
      ["quantity", "1", "15", "10"],
      ["received", "1", "15", "10"],
    ],
  },
  credit: { change: { bill: { kind: "credit_note" }, received: null }, findings: [] },
};

describe("a tested transaction", () => {
  let rows: readonly Row[];
  beforeAll(async () => {
    const listed = Object.entries(CASES).map(([id, { change }]) => transaction(id, change));
    rows = await rowsOf(made.fresh(), "transaction-testing", listed);
  });

  it.each(Object.entries(CASES))(
    "gives the findings of what is wrong with it: %s",
    (id, wanted) => {
      const row = rows.find(({ evidence }) => evidence.id === id);
      expect(row && found(row)).toEqual(wanted.findings);
      expect(row?.findings.every(({ evidence }) => evidence === id)).toBe(true);
    },
  );

  it("invoiced as much as received is no finding, one unit more is one (B127)", async () => {
    const lines = (quantity: string) => ({ lines: [{ id: "1", quantity, unit_price: "40" }] });
    const bill = (quantity: string, amount: string) => ({
      line: { quantity, amount, billed_before: "5" },
      bill: { net: amount, payable: amount, tax: "0" },
      received: "7",
    });
    const [equal, excess] = await rowsOf(made.fresh(), "transaction-testing", [
      transaction("equal", { ...bill("2", "8000"), order: { ...lines("7"), net: "8000" } }),
      transaction("excess", { ...bill("3", "12000"), order: { ...lines("8"), net: "12000" } }),
    ]);
    expect(equal && found(equal)).toEqual([]);
    expect(excess && found(excess)).toEqual([["received", "1", "8", "7"]]);
  });

  it("compares amounts in the currency of the documents, to the last minor unit (B128)", () => {
    const row = rows.find(({ evidence }) => evidence.id === "ten-cents");
    expect(row?.findings).toMatchObject([{ kind: "net_amount", left: "40000", right: "40010" }]);
    const other = rows.find(({ evidence }) => evidence.id === "currency");
    expect(other?.findings.map(({ kind }) => kind)).toEqual(["currency"]);
  });
});

describe("one bill", () => {
  const original = transaction("T-1", { bill: { number: "INV 77" } });
  const copy = transaction("T-2", { supplier: "KESSLER & SOHN", bill: { number: "inv77" } });
  const credit = transaction("T-3", { bill: { number: "INV 77", kind: "credit_note" } });
  const other = transaction("T-4", { supplier: "Kessler", bill: { number: "INV 77" } });

  it("is tested once: a second run, with other capitals and spaces, says where and adds no row (B130)", async () => {
    const folder = made.fresh();
    const [first = {}, second = {}, third = {}] = prepareWith(folder, {
      evidence: [original, copy, credit, other].map(({ record }) => record),
      engagements: [
        engagementOf("one", "transaction-testing", [original]),
        engagementOf("two", "transaction-testing", [copy]),
        engagementOf("three", "transaction-testing", [credit, other]),
      ],
    });
    const at = await hostIn(folder);
    const { procedure, environment } = boundTo(at.host, "transaction-testing");
    const tested = async (inputs: typeof first) => {
      const run = procedure.start(inputs, { environment });
      await approveAll(run, at.host);
      return { run, rows: resultOf(run).rows };
    };
    const one = await tested(first);
    const two = await tested(second);
    expect(two.rows).toMatchObject([
      { status: "already_tested", position: "1", row: { key: "invoice / kessler&sohn / inv77" } },
    ]);
    const [entry] = await entriesIn(at);
    // The operation of the first run, by which its receipt is found.
    expect(two.rows[0]?.operation).toBe(entry?.operation);
    expect(one.rows[0]?.operation).toBe(entry?.operation);
    expect(await entriesIn(at)).toHaveLength(1);

    const three = await tested(third);
    expect(three.rows.map(({ status, row }) => [status, row.key])).toEqual([
      ["written", "credit_note / kessler&sohn / inv77"],
      ["written", "invoice / kessler / inv77"],
    ]);
    expect(await entriesIn(at)).toHaveLength(3);
    await at.close();
  });

  it("that stands twice in one sample has one row, with a finding that names the other", async () => {
    const rows = await rowsOf(made.fresh(), "transaction-testing", [original, copy, credit]);
    expect(rows.map(({ evidence, also, findings }) => [evidence.id, also, findings])).toEqual([
      ["T-1", ["T-2"], [{ kind: "billed_twice", left: "T-2", right: "once", evidence: "T-2" }]],
      ["T-3", [], []],
    ]);
  });
});

const procurement = "data/procurement-documents/cases.jsonl";
const hasProcurement = sharedPresent(procurement);

describe.skipIf(!hasProcurement)(
  `published orders, deliveries and invoices${hasProcurement ? "" : " (skipped: shared data absent)"}`,
  () => {
    /** The finding that stands for a published check; those of lines name our line where theirs named the invoice's. */
    const KINDS: { readonly [check: string]: string } = {
      delivered_quantity: "received",
      invoice_present: "bill_present",
      payable_arithmetic: "payable",
    };

    it("have the findings that the published comparison says, all of them and no others", async () => {
      const sets = jsonLines(sharedPath(procurement)) as unknown as readonly ProcurementCase[];
      const matches = sets.flatMap((set) =>
        matchRuns(set).map((run, index) => ({ set, run, id: `${set.case_id}-${index}` })),
      );
      const rows = await rowsOf(
        made.fresh(),
        "transaction-testing",
        matches.map(({ id, run }) => matchAsTransaction(id, run)),
      );
      let failed = 0;
      for (const { set, run, id } of matches) {
        const wanted = set.observed
          .filter(({ invoice, ok }) => !ok && (invoice ?? null) === run.invoice)
          .map(
            ({ check }) => KINDS[check] ?? check.replace(/^line_.+_(quantity|unit_price)$/, "$1"),
          );
        failed += wanted.length;
        const row = rows.find(({ evidence }) => evidence.id === id);
        expect({ id, kinds: row?.findings.map(({ kind }) => kind).toSorted() }).toEqual({
          id,
          kinds: wanted.toSorted(),
        });
      }
      expect({ matches: matches.length, failed }).toEqual({ matches: 11, failed: 14 });
      const chain = rows.find(({ evidence }) => evidence.id === "OASIS_2_0-0");
      expect(chain && found(chain)).toEqual([
        ["received", "1", "100", "90"],
        ["unit_price", "A", "1.00", "100.00"],
      ]);
    });
  },
);

const invoices = "data/invoices-en16931/invoices.jsonl";
const hasInvoices = sharedPresent(invoices);

describe.skipIf(!hasInvoices)(
  `published invoices without orders${hasInvoices ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("add up as observed, except lines with allowances; order and delivery are not there, and each time that is a finding", async () => {
      const published = jsonLines(sharedPath(invoices)) as unknown as readonly PublishedInvoice[];
      expect(published).toHaveLength(33);
      const rows = await rowsOf(
        made.fresh(),
        "transaction-testing",
        published.map((invoice, index) => invoiceAlone(`I-${index}`, invoice)),
      );
      let withAllowances = 0;
      for (const [index, { observed }] of published.entries()) {
        if (observed["line_amounts_equal_quantity_times_price"] !== true) withAllowances += 1;
        const kinds = rows[index]?.findings.map(({ kind }) => kind) ?? [];
        expect(kinds.slice(0, 2)).toEqual(["order_present", "delivery_evidence"]);
        expect({ index, found: new Set(kinds.slice(2)) }).toEqual({
          index,
          found: new Set([
            ...(observed["payable_equals_components"] ? [] : ["payable"]),
            ...(observed["sum_of_lines_equals_net"] ? [] : ["sum_of_lines"]),
            ...(observed["line_amounts_equal_quantity_times_price"] ? [] : ["line_amount"]),
          ]),
        });
      }
      expect(withAllowances).toBe(3);
    });
  },
);
