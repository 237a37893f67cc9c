/** Control testing as a whole workflow: each operating failure with its evidence, and published payments and changes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { directories } from "../../support/directories.ts";
import { jsonLines } from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import { approveAll, boundTo, hostIn, prepareWith, type Row } from "../../support/workflows.ts";
import { madeUpApprovals, publishedLimits, publishedPayments } from "./adapters/spending.ts";
import { engagementOf, type Listed, rowsOf } from "./adapters/workflows.ts";

const made = directories();
afterAll(made.remove);

const tiers = [
  { tier: "small", up_to: "1000", required: ["lead"] },
  { tier: "large", above: "1000", required: ["lead", "board"] },
];
const limits = { currency: "EUR", tiers };

interface Approval {
  readonly requirement: string;
  readonly evidence: string;
  readonly by?: string;
  readonly recorded: string;
}

function payment(
  id: string,
  amount: string,
  approvals: readonly Approval[],
  change: { readonly [member: string]: JsonValue } = {},
): Listed {
  const record = {
    id,
    date: "2025-03-14",
    amount,
    currency: "EUR",
    requested_by: "Roth",
    approvals: approvals.map((one) => ({ ...one })),
    ...change,
  };
  return { record, amount };
}

const lead = (evidence: string, change: Partial<Approval> = {}): Approval => ({
  requirement: "lead",
  evidence,
  by: "Ode",
  recorded: "2025-03-14",
  ...change,
});
const board = { requirement: "board", evidence: "EV-B", by: "Sato", recorded: "2025-03-01" };

const CASES: { readonly [id: string]: { readonly of: Listed; readonly wanted: unknown } } = {
  "at-the-limit": { of: payment("", "1000", [lead("EV-1")]), wanted: ["small", []] },
  "above-it": {
    of: payment("", "1001", [lead("EV-2")]),
    wanted: ["large", [["missing_approval", "board", "", "present", "above-it"]]],
  },
  refund: { of: payment("", "-5", [lead("EV-3")]), wanted: ["small", []] },
  "all-there": { of: payment("", "2000", [board, lead("EV-4")]), wanted: ["large", []] },
  none: {
    of: payment("", "10", []),
    wanted: ["small", [["missing_approval", "lead", "", "present", "none"]]],
  },
  late: {
    of: payment("", "10", [lead("EV-5", { recorded: "2025-03-15" })]),
    wanted: ["small", [["late_approval", "lead", "2025-03-15", "2025-03-14", "EV-5"]]],
  },
  "late-and-in-time": {
    of: payment("", "10", [lead("EV-6", { recorded: "2025-03-15" }), lead("EV-7")]),
    wanted: ["small", []],
  },
  own: {
    of: payment("", "10", [lead("EV-8", { by: "Roth" })]),
    wanted: ["small", [["self_approval", "lead", "Roth", "somebody else", "EV-8"]]],
  },
  "own-and-late": {
    of: payment("", "10", [
      lead("EV-9", { by: "Roth" }),
      lead("EV-10", { recorded: "2025-04-01" }),
    ]),
    wanted: ["small", [["late_approval", "lead", "2025-04-01", "2025-03-14", "EV-10"]]],
  },
  "own-and-other": {
    of: payment("", "10", [lead("EV-11", { by: "Roth", recorded: "2025-03-01" }), lead("EV-12")]),
    wanted: ["small", []],
  },
  dollars: {
    of: payment("", "10", [lead("EV-13")], { currency: "USD" }),
    wanted: [undefined, [["currency", undefined, "USD", "EUR", "dollars"]]],
  },
};

const failures = ({ findings }: Row) =>
  findings.map(({ kind, requirement, left, right, evidence }) => [
    kind,
    requirement,
    left,
    right,
    evidence,
  ]);

describe("the approvals of a payment", () => {
  let rows: readonly Row[];
  beforeAll(async () => {
    const listed = Object.entries(CASES).map(
      ([
        id,
        {
          of: { record, amount },
        },
      ]) => ({
        record: { ...record, id },
        amount,
      }),
    );
    rows = await rowsOf(made.fresh(), "control-testing", listed, { limits });
  });

  it.each(Object.entries(CASES))(
    "are tested against its tier; failures keep the id of their evidence: %s",
    (id, { wanted }) => {
      const row = rows.find(({ evidence }) => evidence.id === id);
      expect(row && [row["tier"], failures(row)]).toEqual(wanted);
    },
  );

  it("that count are named with the evidence of each", () => {
    const row = rows.find(({ evidence }) => evidence.id === "all-there");
    expect(row?.["evidenced"]).toEqual([
      { requirement: "lead", evidence: "EV-4" },
      { requirement: "board", evidence: "EV-B" },
    ]);
  });

  it("are not tested against a table with a gap, an overlap, an end, a doubled approval, or no tier", async () => {
    const [low, high] = tiers;
    const tables: { readonly [name: string]: JsonValue } = {
      gap: [low ?? null, { ...high, above: "1100" }],
      overlap: [low ?? null, { ...high, above: "900" }],
      end: [low ?? null, { ...high, up_to: "5000" }],
      doubled: [low ?? null, { ...high, required: ["lead", "lead"] }],
      none: [],
    };
    const listed = [payment("P", "10", [])];
    const folder = made.fresh();
    const engagements = Object.entries(tables).map(([name, table]) =>
      engagementOf(name, "control-testing", listed, { limits: { currency: "EUR", tiers: table } }),
    );
    const evidence = listed.map(({ record }) => record);
    const inputs = prepareWith(folder, { evidence, engagements });
    const at = await hostIn(folder);
    const { procedure, environment } = boundTo(at.host, "control-testing");
    for (const given of inputs) {
      const run = procedure.start(given, { environment });
      expect([given["engagement"], await approveAll(run, at.host), run.report.reason]).toEqual([
        given["engagement"],
        ["engagement 1"],
        "verify_failed",
      ]);
    }
    await at.close();
  });
});

/** The ids that the rule of the sample draws: those whose digests are lowest. */
function drawn(ids: readonly string[], seed: string, size: number): readonly string[] {
  const rank = (id: string) =>
    sha256Hex(Buffer.from(`rote-value/v1\n${JSON.stringify({ id, seed })}`));
  const chosen = new Set(
    ids.toSorted((left, right) => (rank(left) < rank(right) ? -1 : 1)).slice(0, size),
  );
  return ids.filter((id) => chosen.has(id));
}

const hasSpending = sharedPresent("data/council-spending", "data/authority-limits");

describe.skipIf(!hasSpending)(
  `published payments against published limits${hasSpending ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("a sample of 1,220 payments has the tiers and failures that an independent computation gives", async () => {
      // The dollar table is declared to hold for pounds; the approvals are made up, since none were published.
      const published = publishedLimits("GBP");
      const all = publishedPayments("payments");
      expect(all).toHaveLength(1220);
      const listed = all.map((one): Listed => {
        const approvals = madeUpApprovals(one, published.tiers).map((approval) => ({
          ...approval,
        }));
        const { id, date, amount, currency } = one;
        return { record: { id, date, amount, currency, approvals }, amount };
      });
      const table = published.tiers.map(({ above, up_to, required, tier }) => ({
        tier,
        above,
        up_to,
        required: [...required],
      }));
      const rows = await rowsOf(made.fresh(), "control-testing", listed, {
        limits: { currency: "GBP", tiers: table },
        // Everything of the two upper tiers would be 69 payments; from 50,000 pounds on there are fewer.
        sample: { seed: "council", size: "20", all_from: "5000000" },
      });
      const large = all.filter(({ amount }) => BigInt(amount) >= 5_000_000n).map(({ id }) => id);
      const rest = all.map(({ id }) => id).filter((id) => !large.includes(id));
      const expected = new Set([...large, ...drawn(rest, "council", 20)]);
      expect(rows.map(({ evidence }) => evidence.id)).toEqual(
        all.map(({ id }) => id).filter((id) => expected.has(id)),
      );
      for (const row of rows) {
        const one = all.find(({ id }) => id === row.evidence.id);
        if (one === undefined) throw new Error("a row of no payment");
        const amount = BigInt(one.amount);
        const tier = published.tiers.find(({ up_to }) => up_to === null || amount <= BigInt(up_to));
        const seen = new Map(
          madeUpApprovals(one, published.tiers).map((approval) => [approval.requirement, approval]),
        );
        const wanted = (tier?.required ?? []).flatMap((requirement) => {
          const approval = seen.get(requirement);
          if (approval === undefined) {
            return [["missing_approval", requirement, "", "present", one.id]];
          }
          if (approval.recorded <= one.date) return [];
          return [["late_approval", requirement, approval.recorded, one.date, approval.evidence]];
        });
        expect([row["tier"], failures(row)]).toEqual([tier?.tier, wanted]);
      }
    });
  },
);

const changes = "data/change-approvals/changes.jsonl";
const hasChanges = sharedPresent(changes);

interface PublishedChange {
  readonly commit: string;
  readonly submitted: string;
  readonly author: { readonly id: string };
  readonly reviewers: readonly { readonly id: string }[];
  readonly automated_checks: boolean;
  readonly review_record: string;
  readonly observed: { readonly independent_reviewers: number };
}

/** Reviews and checks are approvals of a change as approvals are of a payment; the author is who requested it. */
function changeAsPayment(change: PublishedChange): Listed {
  const { commit, submitted, author, reviewers, automated_checks, review_record } = change;
  const date = submitted.slice(0, 10);
  const reviews = reviewers.map(({ id }) => ({
    requirement: "independent review",
    evidence: `${review_record}#${id}`,
    by: id,
    recorded: date,
  }));
  const checks = automated_checks
    ? [{ requirement: "automated checks", evidence: review_record, recorded: date }]
    : [];
  const approvals = [...reviews, ...checks];
  const record = { id: commit, date, amount: "0", currency: "XXX", requested_by: author.id };
  return { record: { ...record, approvals }, amount: "0" };
}

describe.skipIf(!hasChanges)(
  `published reviews of changes${hasChanges ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("a change fails where nobody but its author reviewed it, as observed, or where no check ran", async () => {
      const all = jsonLines(sharedPath(changes)) as unknown as readonly PublishedChange[];
      expect(all).toHaveLength(440);
      const alone = all.filter(({ observed }) => observed.independent_reviewers === 0);
      expect(alone).toHaveLength(8);
      // All eight exceptions, which a sample of this size might miss, and every twentieth of the others.
      const others = all.filter(({ observed }) => observed.independent_reviewers > 0);
      const tested = [...alone, ...others.filter((_, index) => index % 20 === 0)];
      const tier = { tier: "any change", required: ["independent review", "automated checks"] };
      const rows = await rowsOf(made.fresh(), "control-testing", tested.map(changeAsPayment), {
        limits: { currency: "XXX", tiers: [tier] },
      });
      for (const [index, { commit, observed, automated_checks }] of tested.entries()) {
        const row = rows[index];
        const failed = row?.findings.map(({ requirement }) => requirement);
        expect({ commit, failed }).toEqual({
          commit,
          failed: [
            ...(observed.independent_reviewers === 0 ? ["independent review"] : []),
            ...(automated_checks ? [] : ["automated checks"]),
          ],
        });
      }
    });
  },
);
