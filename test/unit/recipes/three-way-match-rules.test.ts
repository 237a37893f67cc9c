import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { finish, type Inputs, startOptions } from "../../support/recipes.ts";
import { findingsOf, matchOf, NAME, procedure } from "./three-way-matches.ts";

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
