import { describe, expect, it } from "vitest";
import { finish, type Inputs, shippedProcedure, startOptions } from "../../support/recipes.ts";
import { sharedPresent } from "../../support/shared.ts";
import {
  type Approval,
  controlInputs,
  madeUpApprovals,
  type Payment,
  publishedLimits,
  publishedPayments,
  type Tier,
} from "./adapters/spending.ts";

const NAME = "control-test";
const procedure = shippedProcedure(NAME);

interface Finding {
  readonly kind: string;
  readonly requirement?: string;
  readonly evidence?: string;
  readonly message: string;
}

interface Test {
  readonly payment: string;
  readonly tier?: string;
  readonly effective: boolean;
  readonly evidenced: readonly { readonly requirement: string; readonly evidence: string }[];
  readonly findings: readonly Finding[];
}

function testOf(inputs: Inputs): Test {
  const run = finish(procedure.start(inputs, startOptions), NAME);
  expect(run.report.failure).toBeNull();
  return run.result as unknown as Test;
}

/** The same control, computed here: a loop over tiers and a table of approvals. */
function computed(payment: Payment, tiers: readonly Tier[], approvals: readonly Approval[]): Test {
  const amount = BigInt(payment.amount);
  let tier: Tier | undefined;
  for (const candidate of tiers) {
    tier = candidate;
    if (candidate.up_to === null || amount <= BigInt(candidate.up_to)) break;
  }
  const evidenced: { requirement: string; evidence: string }[] = [];
  const findings: Finding[] = [];
  const seen = new Map(approvals.map((approval) => [approval.requirement, approval]));
  for (const requirement of tier?.required ?? []) {
    const approval = seen.get(requirement);
    if (approval === undefined) {
      const message = `${requirement}: no evidence`;
      findings.push({ kind: "missing_approval", requirement, message });
    } else if (approval.recorded > payment.date) {
      const message = `${requirement}: recorded ${approval.recorded}, after the payment of ${payment.date}`;
      findings.push({ kind: "late_approval", requirement, evidence: approval.evidence, message });
    } else {
      evidenced.push({ requirement, evidence: approval.evidence });
    }
  }
  return {
    payment: payment.id,
    ...(tier === undefined ? {} : { tier: tier.tier }),
    effective: findings.length === 0,
    evidenced,
    findings,
  };
}

const present = sharedPresent("data/council-spending", "data/authority-limits");

describe.skipIf(!present)(
  `council payments against published spending tiers${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it.each([
      {
        file: "card-transactions",
        payments: 1141,
        tiers: { "micro-purchase": 1141 },
        findings: { effective: 305, missing_approval: 950, late_approval: 114 },
      },
      {
        file: "payments",
        payments: 1220,
        tiers: { "micro-purchase": 1151, "small procurement": 46, "larger procurement": 23 },
        findings: { effective: 340, missing_approval: 1005, late_approval: 138 },
      },
    ] as const)(
      "$file: each of $payments payments gets the tier and the findings that an independent computation gives, the dollar table being declared to hold for pounds",
      ({ file, payments, tiers, findings }) => {
        const limits = publishedLimits("GBP");
        const published = publishedPayments(file);
        expect(published).toHaveLength(payments);
        const perTier: { [tier: string]: number } = {};
        const perKind: { [kind: string]: number } = { effective: 0 };
        for (const payment of published) {
          const approvals = madeUpApprovals(payment, limits.tiers);
          const test = testOf(controlInputs(payment, limits, approvals));
          expect(test).toEqual(computed(payment, limits.tiers, approvals));
          const tier = test.tier ?? "none";
          perTier[tier] = (perTier[tier] ?? 0) + 1;
          if (test.effective) perKind["effective"] = (perKind["effective"] ?? 0) + 1;
          for (const { kind } of test.findings) perKind[kind] = (perKind[kind] ?? 0) + 1;
        }
        expect(perTier).toEqual(tiers);
        expect(perKind).toEqual(findings);
      },
    );

    it("without any evidence every requirement of the tier is a finding", () => {
      const limits = publishedLimits("GBP");
      const [payment] = publishedPayments("payments");
      expect(payment?.amount).toBe("500000");
      const test = testOf(controlInputs(payment as Payment, limits, []));
      expect(test.tier).toBe("micro-purchase");
      expect(test.findings.map(({ message }) => message)).toEqual([
        "purchase request form: no evidence",
        "approval recorded before the purchase: no evidence",
      ]);
    });

    it("the table as published, in dollars, is not applied to a payment in pounds: one finding, no tier", () => {
      const [payment] = publishedPayments("payments");
      const test = testOf(controlInputs(payment as Payment, publishedLimits(), []));
      expect(test).toEqual({
        payment: "payments/1",
        effective: false,
        evidenced: [],
        findings: [{ kind: "currency", message: "payment in GBP, limits in USD: not tested" }],
      });
    });
  },
);

const tiers: readonly Tier[] = [
  { tier: "small", above: null, up_to: "1000", required: ["lead"] },
  { tier: "large", above: "1000", up_to: null, required: ["lead", "board"] },
];
const payment: Payment = {
  id: "P-1",
  row: 1,
  date: "2025-03-14",
  amount: "1000",
  currency: "EUR",
  merchant: "",
};
const limits = { currency: "EUR", tiers };

describe("the control of one payment", () => {
  it.each([
    ["1000", "small"],
    ["1001", "large"],
    ["0", "small"],
    ["-5", "small"],
  ])(
    "an amount of %s falls into tier %s: limits are inclusive, a refund is small",
    (amount, tier) => {
      expect(testOf(controlInputs({ ...payment, amount }, limits, [])).tier).toBe(tier);
    },
  );

  it("keeps the number of the evidence in what is evidenced and in what is late", () => {
    const approvals = [
      { requirement: "board", evidence: "EV-9", recorded: "2025-03-15" },
      { requirement: "lead", evidence: "EV-7", recorded: "2025-03-20" },
      { requirement: "lead", evidence: "EV-8", recorded: "2025-03-14" },
    ];
    const test = testOf(controlInputs({ ...payment, amount: "1001" }, limits, approvals));
    expect(test.evidenced).toEqual([{ requirement: "lead", evidence: "EV-8" }]);
    expect(test.findings).toEqual([
      {
        kind: "late_approval",
        requirement: "board",
        evidence: "EV-9",
        message: "board: recorded 2025-03-15, after the payment of 2025-03-14",
      },
    ]);
  });

  it.each([
    ["a gap", [{ ...tiers[0], up_to: "900" }, tiers[1]]],
    ["an overlap", [{ ...tiers[0], up_to: "1100" }, tiers[1]]],
    ["an upper limit at its end", [tiers[0], { ...tiers[1], up_to: "5000" }]],
    ["a lower limit at its start", [{ ...tiers[0], above: "0" }, tiers[1]]],
    [
      "two tiers without limits",
      [
        { ...tiers[0], up_to: null },
        { ...tiers[1], above: null },
      ],
    ],
    ["the wrong order", [tiers[1], tiers[0]]],
    ["no tier at all", []],
  ])("a table with %s is refused", (_what, table) => {
    const bad = { currency: "EUR", tiers: table as readonly Tier[] };
    const run = finish(procedure.start(controlInputs(payment, bad, []), startOptions), NAME);
    expect([run.state, run.report.failure?.node]).toEqual(["rejected", "table"]);
  });
});
