import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import {
  finish,
  type Inputs,
  jsonLines,
  shippedProcedure,
  startOptions,
} from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import {
  type MatchRun,
  matchRuns,
  type Observed,
  type ProcurementCase,
} from "./adapters/procurement.ts";

const NAME = "three-way-match";
const procedure = shippedProcedure(NAME);

interface Finding {
  readonly kind: string;
  readonly line?: string;
  readonly invoice_line?: string;
  readonly left: string;
  readonly right: string;
  readonly difference?: string;
  readonly message: string;
}

interface Match {
  readonly order: string;
  readonly invoice?: string;
  readonly matched: boolean;
  readonly comparisons: string;
  readonly findings: readonly Finding[];
}

function matchOf(inputs: Inputs): Match {
  const run = finish(procedure.start(inputs, startOptions), NAME);
  expect(run.report.failure).toBeNull();
  expect(run.report.independently_verified).toBe(true);
  return run.result as unknown as Match;
}

function findingsOf(inputs: Inputs): readonly Finding[] {
  return matchOf(inputs).findings;
}

const data = "data/procurement-documents/cases.jsonl";
const present = sharedPresent(data);
const cases = present
  ? jsonLines(sharedPath(data)).map((line) => line as unknown as ProcurementCase)
  : [];

/** Published checks over all sets, and how many of them fail. */
const CHECKS = 98;
const FAILED = 14;

const KINDS: { readonly [check: string]: string } = {
  invoice_present: "invoice_present",
  order_reference: "order_reference",
  currency: "currency",
  net_amount: "net_amount",
  delivery_evidence: "delivery_evidence",
  delivered_quantity: "received",
  order_accepted: "order_accepted",
  payable_arithmetic: "payable",
};

/** The finding that a published check stands for. `line_A_quantity` names an invoice line; we name its order line. */
function findingKey({ check }: Observed, run: MatchRun): string {
  const [, line, what] = /^line_(.+)_(quantity|unit_price)$/.exec(check) ?? [];
  if (line !== undefined && what !== undefined) return `${what} ${run.orderLine(line)}`;
  const kind = KINDS[check];
  if (kind === undefined) throw new Error(`no finding stands for ${check}`);
  return kind === "received" ? "received *" : kind;
}

function keyOf({ kind, line }: Finding): string {
  if (kind === "received") return "received *";
  return line === undefined ? kind : `${kind} ${line}`;
}

function byText(left: readonly unknown[], right: readonly unknown[]): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1;
}

/**
 * Both sides of a failed check as the finding states them. Three are told otherwise on purpose: what is absent is an
 * empty text and not null, an order is accepted or rejected and not True or False, and what was received stands on the
 * right, since left is always the invoice.
 */
function sidesOf({ check, left, right }: Observed): readonly (string | undefined)[] {
  if (check === "invoice_present" || check === "delivery_evidence") return ["", "present"];
  if (check === "order_accepted") return ["rejected", "accepted"];
  if (check === "delivered_quantity") return [right ?? undefined, left ?? undefined];
  return [left, right].map((side) => side?.replace(/\.0+$/, ""));
}

describe.skipIf(!present)(
  `published orders, deliveries and invoices${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("ten sets are run, eleven matches in all, one of them without an invoice", () => {
      expect(cases).toHaveLength(10);
      const runs = cases.flatMap(matchRuns);
      expect(runs).toHaveLength(11);
      expect(runs.filter(({ invoice }) => invoice === null)).toHaveLength(1);
    });

    it("findings are exactly the checks that the published comparison says fail, with the same sides", () => {
      let checks = 0;
      let failed = 0;
      for (const set of cases) {
        for (const run of matchRuns(set)) {
          const match = matchOf(run.inputs);
          const observed = set.observed.filter(({ invoice }) => (invoice ?? null) === run.invoice);
          checks += observed.length;
          const wanted = observed
            .filter(({ ok }) => !ok)
            .map((check) => [findingKey(check, run), ...sidesOf(check)]);
          failed += wanted.length;
          const found = match.findings.map((finding) => [
            keyOf(finding),
            finding.left,
            finding.right,
          ]);
          expect({ set: set.case_id, findings: found.toSorted(byText) }).toEqual({
            set: set.case_id,
            findings: wanted.toSorted(byText),
          });
          // The comparison has no check of its own for "the invoice has lines" and "its lines are on the order".
          expect(Number(match.comparisons)).toBeGreaterThanOrEqual(observed.length);
        }
      }
      expect({ checks, failed }).toEqual({ checks: CHECKS, failed: FAILED });
    });

    it("a complete chain that does not agree gives findings, though net amount, currency and references match", () => {
      const [run] = runsOf("OASIS_2_0");
      expect(findingsOf(run?.inputs ?? {})).toEqual([
        {
          kind: "received",
          line: "1",
          left: "100",
          right: "90",
          difference: "10",
          message: "invoiced 100 > received 90 (excess 10)",
        },
        {
          kind: "unit_price",
          line: "1",
          invoice_line: "A",
          left: "1",
          right: "100",
          difference: "-99",
          message: "unit price 1 instead of 100",
        },
      ]);
    });

    it("an invoice for a rejected order is a finding", () => {
      const [run] = runsOf("OASIS_2_0_REJECTED");
      expect(findingsOf(run?.inputs ?? {}).map(({ kind }) => kind)).toEqual([
        "order_accepted",
        "delivery_evidence",
        "unit_price",
      ]);
    });

    it("an invoice that was credited and billed again is counted once; without the credit note twice", () => {
      const again = runsOf("BASPRO_03_01_06").find(({ invoice }) => invoice === "A00095680");
      const inputs = again?.inputs ?? {};
      expect(findingsOf(inputs).map(({ kind }) => kind)).toEqual(["delivery_evidence"]);
      expect(findingsOf({ ...inputs, credit_notes: [] }).map(({ message }) => message)).toEqual([
        "nothing shows that the order was delivered",
        "amount differs by 505000 DKK minor units",
        "invoiced 2, ordered 1",
        "invoiced 4, ordered 2",
      ]);
    });

    it("a rejected order without an invoice has nothing to match, and says so", () => {
      const [run] = runsOf("BASPRO_02_01_02");
      const match = matchOf(run?.inputs ?? {});
      expect(match.matched).toBe(false);
      expect(match.findings.map(({ message }) => message)).toEqual(["no invoice to compare"]);
    });
  },
);

function runsOf(id: string): readonly MatchRun[] {
  return cases.filter(({ case_id }) => case_id === id).flatMap(matchRuns);
}

interface Figures {
  readonly ordered?: string;
  readonly orderNet?: string;
  readonly invoiced?: string;
  readonly net?: string;
  readonly price?: string;
  readonly received?: readonly string[];
  readonly more?: Inputs;
}

/** One order line at one price, delivered and billed. */
function oneLine(figures: Figures): Inputs {
  const ordered = figures.ordered ?? "100";
  const invoiced = figures.invoiced ?? ordered;
  const orderNet = figures.orderNet ?? "10000";
  const net = figures.net ?? orderNet;
  const received: readonly string[] = figures.received ?? [invoiced];
  return {
    order: {
      id: "PO-1",
      currency: "EUR",
      net: orderNet,
      lines: [{ id: "1", quantity: ordered, unit_price: "1" }],
    },
    deliveries: received.map((quantity, index) => ({
      id: `GR-${index + 1}`,
      kind: "receipt",
      lines: [{ order_line: "1", quantity }],
    })),
    invoice: {
      id: "INV-2",
      order: "PO-1",
      currency: "EUR",
      net,
      payable: net,
      lines: [{ id: "1", order_line: "1", quantity: invoiced, unit_price: figures.price ?? "1" }],
    },
    ...figures.more,
  };
}

describe("what was invoiced before counts", () => {
  const earlier = {
    id: "INV-1",
    currency: "EUR",
    net: "500",
    lines: [{ order_line: "1", quantity: "5" }],
  };
  const partial = (invoiced: string, more: { readonly [name: string]: JsonValue } = {}): Inputs =>
    oneLine({
      ordered: "10",
      orderNet: "1000",
      invoiced,
      net: `${invoiced}00`,
      received: ["4", "3"],
      more: { earlier_invoices: [earlier], partial: true, ...more },
    });

  it("a third unit too many is found by adding up, and is not matched (B127)", () => {
    const match = matchOf(partial("3"));
    expect(match.matched).toBe(false);
    expect(match.findings).toEqual([
      {
        kind: "received",
        line: "1",
        left: "8",
        right: "7",
        difference: "1",
        message: "invoiced 8 > received 7 (excess 1)",
      },
    ]);
  });

  it("invoiced as much as received matches (B127)", () => {
    const match = matchOf(partial("2"));
    expect([match.matched, match.findings]).toEqual([true, []]);
  });

  it("a credit note for an earlier invoice gives its quantity free again (B127)", () => {
    const credited = {
      ...earlier,
      id: "CN-1",
      net: "100",
      lines: [{ order_line: "1", quantity: "1" }],
    };
    expect(findingsOf(partial("3", { credit_notes: [credited] }))).toEqual([]);
  });

  it("a despatch adds nothing to what was received (B127)", () => {
    const inputs = partial("3");
    const deliveries = [
      ...(inputs["deliveries"] as readonly JsonValue[]),
      { id: "D-1", kind: "despatch", lines: [{ order_line: "1", quantity: "10" }] },
    ];
    expect(findingsOf({ ...inputs, deliveries }).map(({ message }) => message)).toEqual([
      "invoiced 8 > received 7 (excess 1)",
    ]);
  });

  it("earlier invoices in another currency are refused, not converted (B128)", () => {
    const inputs = partial("2", { earlier_invoices: [{ ...earlier, currency: "USD" }] });
    const run = finish(procedure.start(inputs, startOptions), NAME);
    expect([run.state, run.report.failure?.node]).toEqual(["rejected", "past"]);
  });
});

describe("amounts are compared in the document's currency", () => {
  it("ten minor units of difference are a finding (B128)", () => {
    const [finding] = findingsOf(oneLine({ orderNet: "100010", net: "100000" }));
    expect(finding).toEqual({
      kind: "net_amount",
      left: "100000",
      right: "100010",
      difference: "-10",
      message: "amount differs by 10 EUR minor units",
    });
  });

  it("amounts in two currencies are not compared at all, and that is a finding (B128)", () => {
    const inputs = oneLine({});
    const invoice = { ...(inputs["invoice"] as Inputs), currency: "USD", net: "1" };
    const match = matchOf({ ...inputs, invoice: { ...invoice, payable: "1" } });
    expect(match.findings.map(({ kind }) => kind)).toEqual(["currency"]);
    expect(match.matched).toBe(false);
  });
});

describe("one tolerance for quantity and amount", () => {
  const tolerance = { tolerance: { numerator: 2, denominator: 100 } };

  it.each([
    ["102", "10000", []],
    ["103", "10000", ["invoiced 103, ordered 100"]],
    ["98", "10000", []],
    ["97.999999", "10000", ["invoiced 97.999999, ordered 100"]],
    ["100", "10200", []],
    ["100", "10201", ["amount differs by 201 EUR minor units"]],
    ["100", "9800", []],
    ["100", "9799", ["amount differs by 201 EUR minor units"]],
  ])("two percent: %s of 100 units for %s of 10000 gives %j (B129)", (invoiced, net, messages) => {
    const findings = findingsOf(oneLine({ invoiced, net, more: tolerance }));
    expect(findings.map(({ message }) => message)).toEqual(messages);
  });

  it.each([
    ["1.02", []],
    ["1.03", ["unit price 1.03 instead of 1"]],
  ])("two percent: a price of %s instead of 1 gives %j (B129)", (price, messages) => {
    const findings = findingsOf(oneLine({ price, more: tolerance }));
    expect(findings.map(({ message }) => message)).toEqual(messages);
  });

  it("two percent of what was received, too (B129)", () => {
    const findings = (invoiced: string): readonly string[] =>
      findingsOf(oneLine({ invoiced, received: ["100"], more: tolerance })).map(({ kind }) => kind);
    expect(findings("102")).toEqual([]);
    expect(findings("103")).toEqual(["quantity", "received"]);
  });

  it.each([{}, { tolerance: { numerator: 0, denominator: 7 } }])(
    "without tolerance only equality matches: %j (B129)",
    (more) => {
      expect(findingsOf(oneLine({ more }))).toEqual([]);
      expect(findingsOf(oneLine({ net: "10001", more })).map(({ kind }) => kind)).toEqual([
        "net_amount",
      ]);
      expect(findingsOf(oneLine({ invoiced: "100.000001", more })).map(({ kind }) => kind)).toEqual(
        ["quantity"],
      );
    },
  );

  it("any amount against an order of nothing is a mismatch, without a division error (B129)", () => {
    const free = { orderNet: "0", more: tolerance };
    expect(findingsOf(oneLine({ ...free, net: "1" })).map(({ message }) => message)).toEqual([
      "amount differs by 1 EUR minor units",
    ]);
    expect(findingsOf(oneLine({ ...free, net: "0" }))).toEqual([]);
  });

  it.each([
    { numerator: 1, denominator: 0 },
    { numerator: -1, denominator: 50 },
  ])("a tolerance of %j is refused (B129)", (bad) => {
    const run = finish(procedure.start(oneLine({ more: { tolerance: bad } }), startOptions), NAME);
    expect([run.state, run.report.failure?.node]).toEqual(["rejected", "tolerance"]);
  });
});

describe("nothing to check is no match", () => {
  it("an invoice without lines is a finding, whatever else agrees (B108)", () => {
    const inputs = oneLine({});
    const match = matchOf({ ...inputs, invoice: { ...(inputs["invoice"] as Inputs), lines: [] } });
    expect(match.matched).toBe(false);
    expect(match.findings.map(({ kind }) => kind)).toEqual(["invoice_lines", "quantity"]);
  });

  it("an order and an invoice without lines are not matched either (B108)", () => {
    const inputs = oneLine({});
    const match = matchOf({
      ...inputs,
      order: { ...(inputs["order"] as Inputs), lines: [] },
      invoice: { ...(inputs["invoice"] as Inputs), lines: [] },
    });
    expect(match.matched).toBe(false);
    expect(match.findings.map(({ kind }) => kind)).toEqual(["invoice_lines"]);
  });

  it("missing deliveries are no empty list: the run does not start (B108)", () => {
    const { deliveries: _, ...inputs } = oneLine({});
    expect(() => procedure.start(inputs, startOptions)).toThrow(/deliveries/);
  });
});
