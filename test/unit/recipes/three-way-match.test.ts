import { describe, expect, it } from "vitest";
import { jsonLines } from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import {
  type MatchRun,
  matchRuns,
  type Observed,
  type ProcurementCase,
} from "./adapters/procurement.ts";
import { type Finding, findingsOf, matchOf } from "./three-way-matches.ts";

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
