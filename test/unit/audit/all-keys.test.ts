/**
 * What a host could write that holds the journal's key and the receipt key, and does what its own rules refuse: found
 * by making its judgements again.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { auditBundle, type Finding, type FindingCode } from "../../../src/audit/index.ts";
import { canonicalBytes } from "../../../src/base/canonical.ts";
import { digestOf, sha256Hex, taggedBytes } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { freezeOperation } from "../../../src/host/operation.ts";
import type { Operation } from "../../../src/model/operation.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { signWarrant } from "../../../src/trust/warrant.ts";
import { type Files, memorySource } from "../../support/audit/bundle.ts";
import {
  changedAt,
  entriesIn,
  forged,
  type Json,
  type Loose,
  statementIn,
  withFile,
  withStatement,
} from "../../support/audit/forge.ts";
import { payTwice, type Recorded, record } from "../../support/audit/record.ts";
import { asked, bank, begin, movedClock, ONE_PAYMENT, ONE_READ } from "../../support/gate.ts";
import { decision, KEYS, nowSeconds, ORIGIN, POLICY, trustDocument } from "../../support/host.ts";
import { seeded, someNonce, textOf } from "../../support/trust.ts";

const ACTING = seeded(20);
const amount = { value: "/amount", currency: "/currency" };

const warrant = () =>
  signWarrant(
    {
      type: "rote-warrant/v1",
      parent: null,
      issuer: "ida",
      holder_key: textOf(ACTING),
      audience: ORIGIN,
      tools: ["bank.pay", "bank.balance"],
      constraints: [{ pointer: "/account", op: "eq", value: "7" }],
      max_effects: 2,
      max_reads: 1,
      not_before: nowSeconds() - 60,
      expires: nowSeconds() + 3600,
      nonce: someNonce(9),
    },
    KEYS.issuer,
  );

let recorded: Recorded;
let entries: readonly Loose[];

/** With everything that an operation can be judged by. */
beforeAll(async () => {
  recorded = await record(
    {
      identity: { name: "agent", key: textOf(ACTING) },
      intent: { statement: "pay twice", tools: ["bank.balance", "bank.pay"] },
      warrant: [warrant()],
      budget: { run: { amounts: { EUR: "100" } }, host: { effects: 2 } },
    },
    async (host) => {
      await payTwice(host);
    },
    bank({ review: { amount } }),
  );
  entries = entriesIn(recorded.files);
});

const READ = 3;
const FIRST = 8;

async function found(
  changed: readonly Loose[],
  files = recorded.files,
): Promise<readonly Finding[]> {
  const source = memorySource(forged(files, changed, { receipt: KEYS.receipt }));
  return (await auditBundle(source, { trust: recorded.trust })).findings;
}

/** Another operation admitted in this entry, with a receipt that is about it. */
function operated(at: number, change: (operation: Operation) => Operation): readonly Loose[] {
  return admitted(at, (body) => {
    const frozen = freezeOperation(change(body["operation"] as unknown as Operation));
    const operation = frozen.operation as unknown as JsonValue;
    return { ...body, operation, digest: frozen.digest };
  });
}

/** Another body in this admission, with the receipt that its host would have written. */
function admitted(at: number, change: (body: Json) => Json): readonly Loose[] {
  const body = change(entries[at]?.body ?? {});
  const operation = body["operation"] as unknown as Operation;
  const digest = String(body["digest"]);
  return entries.map((entry, index) => {
    if (index === at) return { ...entry, body };
    if (index !== at + 1) return entry;
    const statement = statementIn(entry.body);
    const predicate = {
      ...(statement["predicate"] as Json),
      run: operation.run,
      audience: operation.audience,
      node: operation.node,
      index: operation.index,
      call: operation.call,
      attempt: operation.attempt,
      warrant: operation.warrant,
      policy: { digest: operation.policy, rules: body["rules"] ?? [] },
      approvals: (body["approvals"] as readonly Json[]).map(({ envelope }) => envelope ?? null),
      verifiers: operation.verifiers.map((verifier) => ({
        digest: verifier,
        verdict: operation.tool.category === "effect" ? "passed" : "not_asked",
      })),
      target: { name: operation.tool.name },
    };
    const [, result] = statement["subject"] as readonly JsonValue[];
    const subject = [{ name: "operation", digest: { sha256: digest.slice(7) } }, result ?? null];
    const said = withStatement(entry.body, { ...statement, subject, predicate });
    return { ...entry, body: { ...said, operation: digest } };
  });
}

function codeAt(findings: readonly Finding[], at: number): readonly FindingCode[] {
  return findings
    .filter(({ index }) => index !== null && index[0] <= at && at <= index[1])
    .map(({ code }) => code);
}

const zeros = `sha256:${"0".repeat(64)}` as Operation["policy"];

describe("a record of everything that can be judged", () => {
  it("is clean, and so it is when its own keys write it again", async () => {
    expect(await found(entries)).toEqual([]);
    expect(entries.map(({ type }) => type)).toEqual([
      "host_opened",
      "trust",
      "run_started",
      "admitted",
      "receipt",
      "approval_requested",
      "approval_received",
      "approved",
      "admitted",
      "receipt",
      "admitted",
      "receipt",
      "run_ended",
    ]);
  });
});

const OPERATIONS: readonly [
  what: string,
  change: (operation: Operation) => Operation,
  code: FindingCode,
][] = [
  ["of another run", (one) => ({ ...one, run: "run-other" }), "operation_foreign"],
  ["for another host", (one) => ({ ...one, audience: "other" }), "operation_foreign"],
  ["of another recipe", (one) => ({ ...one, recipe: zeros }), "operation_foreign"],
  ["in another environment", (one) => ({ ...one, environment: zeros }), "operation_foreign"],
  ["under another verifier", (one) => ({ ...one, verifiers: [zeros] }), "operation_foreign"],
  ["under another policy", (one) => ({ ...one, policy: zeros }), "operation_foreign"],
  ["of a node that is not there", (one) => ({ ...one, node: "nowhere" }), "operation_foreign"],
  ["of another node", (one) => ({ ...one, node: "one" }), "operation_foreign"],
  ["at a position", (one) => ({ ...one, index: 0 }), "operation_foreign"],
  ["of an agent's call", (one) => ({ ...one, call: 1 }), "operation_foreign"],
  ["under another trust store", (one) => ({ ...one, trust: zeros }), "trust_outdated"],
  [
    "that the warrant excludes",
    (one) => ({ ...one, arguments: { account: "8" } }),
    "warrant_refused",
  ],
  [
    "with another definition of its tool",
    (one) => ({ ...one, tool: { ...one.tool, definition: zeros } }),
    "tool_refused",
  ],
  ["asked for later than it was done", (one) => ({ ...one, requested_at: 9e15 }), "times_disagree"],
  ["under a budget that is not kept", (one) => ({ ...one, budget: zeros }), "document_missing"],
  ["with an intent that is not kept", (one) => ({ ...one, intent: zeros }), "document_missing"],
  ["with a warrant that is not kept", (one) => ({ ...one, warrant: zeros }), "document_missing"],
  ["without the warrant", (one) => ({ ...one, warrant: null }), "budget_differs"],
];

describe("a read that was let through", () => {
  it.each(OPERATIONS)("%s is found", async (_, change, code) => {
    expect(codeAt(await found(operated(READ, change)), READ)).toContain(code);
  });

  it.each<[string, string, JsonValue, FindingCode]>([
    ["by a rule that its policy does not have", "/rules/0", "grant:tool:read:*", "policy_refused"],
    ["without a word of operation security", "/rules", ["grant:*:read:*"], "policy_refused"],
    ["for other permissions", "/permissions", ["tool:effect:bank.balance"], "policy_refused"],
    ["for no permissions", "/permissions", [], "policy_refused"],
    ["with another review", "/review", zeros, "document_missing"],
    ["with less reserved", "/reserved", [], "budget_differs"],
    ["with a reservation that is not due", "/reserved/0/add", "0", "budget_differs"],
    ["with a digest of something else", "/digest", zeros, "operation_differs"],
  ])("%s is found", async (_, pointer, value, code) => {
    const changed = admitted(READ, (body) => changedAt(body, pointer, value) as Json);
    expect(codeAt(await found(changed), READ)).toContain(code);
  });

  it("twice at one place is found", async () => {
    const [admission, receipt] = entries.slice(READ, READ + 2);
    if (admission === undefined || receipt === undefined) throw new Error("no read");
    const again = { ...receipt, body: { ...receipt.body, admission: 3 } };
    const findings = await found(entries.toSpliced(READ + 2, 0, admission, again));
    expect(codeAt(findings, READ + 2)).toContain("operation_repeated");
    expect(codeAt(findings, READ + 2)).toContain("budget_exceeded");
  });
});

describe("an effect that was let through", () => {
  it.each<[string, (operation: Operation) => Operation, FindingCode]>([
    [
      "with other arguments than were approved",
      (one) => ({ ...one, arguments: {} }),
      "approval_invalid",
    ],
    ["with more than the budget", (one) => more(one, "101"), "budget_differs"],
    ["with an amount that nobody can read", (one) => more(one, "much"), "budget_differs"],
    ["as a read", (one) => ({ ...one, tool: { ...one.tool, category: "read" } }), "tool_refused"],
  ])("%s is found", async (_, change, code) => {
    expect(codeAt(await found(operated(FIRST, change)), FIRST)).toContain(code);
  });

  it("beyond the limit of a currency is found at the one that went beyond", async () => {
    const budget = { run: { amounts: { EUR: "99" } }, host: { effects: 2 } };
    const { files, changed } = underBudget(budget);
    const findings = await found(changed, files);
    expect(findings.map(({ code, index }) => [code, index])).toContainEqual([
      "budget_exceeded",
      [10, 10],
    ]);
    expect(codeAt(findings, FIRST)).not.toContain("budget_exceeded");
  });

  it("although its approver had rejected it is found", async () => {
    const nay = entries[6];
    if (nay === undefined) throw new Error("no decision");
    const { run } = asRequest(nay.body);
    const rejected = decision(asRequest(nay.body), KEYS.bob, "bob", { decision: "reject" });
    const body = { ...nay.body, run, approver: "bob", decision: "reject", envelope: rejected };
    const findings = await found(entries.toSpliced(7, 0, { ...nay, body }));
    expect(codeAt(findings, FIRST + 1)).toContain("approval_overruled");
  });
});

function more(operation: Operation, value: string): Operation {
  return { ...operation, arguments: { ...(operation.arguments as Json), amount: value } };
}

/** The same entries, as if a host with this budget had let them through. */
function underBudget(budget: JsonValue): {
  readonly files: Files;
  readonly changed: readonly Loose[];
} {
  const bytes = taggedBytes("rote-budget/v1", canonicalBytes(budget));
  const files = withFile(recorded.files, `blobs/sha256/${sha256Hex(bytes)}`, bytes);
  const digest = digestOf("rote-budget/v1", budget);
  const changed = [READ, FIRST, 10].reduce<readonly Loose[]>((before, at) => {
    const next = operated(at, (one) => ({ ...one, budget: digest }));
    return before.map((entry, index) =>
      index === at || index === at + 1 ? (next[index] ?? entry) : entry,
    );
  }, entries);
  return { files, changed };
}

/** What a reviewer was asked, from the decision that answered it. */
function asRequest(body: Json): Parameters<typeof decision>[0] {
  return statementIn(body) as unknown as Parameters<typeof decision>[0];
}

describe("the natural key of an effect", () => {
  it("taken again by another run is found, in another tool's hands it is another deed", async () => {
    const once = await record({}, async (host) => {
      await payTwice(host);
    });
    const own = entriesIn(once.files);
    const other = own.slice(2).map((entry) => ({
      ...entry,
      chain: entry.chain === "host" ? "host" : "run-other",
    }));
    const source = memorySource(forged(once.files, [...own, ...other], { receipt: KEYS.receipt }));
    const findings = (await auditBundle(source, { trust: once.trust })).findings;
    expect(findings.map(({ code, chain }) => [code, chain])).toContainEqual([
      "key_repeated",
      "run-other",
    ]);
  });
});

describe("policies", () => {
  it("that want two approvals, of others than who asked, are judged by", async () => {
    const strict = { ...POLICY, approvals: { required: 2, requester_may_approve: false } };
    const approved = await record({ policy: strict }, async (host) => {
      const { run } = await begin(host, ONE_PAYMENT);
      await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
      await host.fileDecision(decision(asked(run), KEYS.bob, "bob"));
      expect(await run.advanceAsync(host)).toBe("verified");
    });
    const source = (changed: readonly Loose[]) =>
      memorySource(forged(approved.files, changed, { receipt: KEYS.receipt }));
    const own = entriesIn(approved.files);
    const clean = await auditBundle(source(own), { trust: approved.trust });
    expect(clean.findings).toEqual([]);
    const at = own.findIndex(({ type }) => type === "admitted");
    const one = own.map((entry, index) => {
      if (index === at)
        return { ...entry, body: changedAt(entry.body, "/approvals/1", undefined) as Json };
      if (index !== at + 1) return entry;
      const statement = changedAt(statementIn(entry.body), "/predicate/approvals/1", undefined);
      return { ...entry, body: withStatement(entry.body, statement) };
    });
    const findings = (await auditBundle(source(one), { trust: approved.trust })).findings;
    expect(findings.map(({ code, index }) => [code, index])).toEqual([
      ["approval_missing", [at, at]],
    ]);
  });
});

describe("trust", () => {
  it("that had expired when something was let through is found", async () => {
    const clock = movedClock();
    const expires = Math.floor(clock.wallMs() / 1000) + 2;
    const own = signTrust(trustDocument({ expires }), [KEYS.root]);
    const once = await record({ trust: own, clock }, async (host) => {
      await begin(host, ONE_READ);
    });
    const later = entriesIn(once.files).map((entry, at) =>
      at < 3 ? entry : { ...entry, time: entry.time + 3_000 },
    );
    const source = memorySource(forged(once.files, later, { receipt: KEYS.receipt }));
    const { findings } = await auditBundle(source, { trust: own });
    expect(findings.map(({ code, index }) => [code, index])).toContainEqual([
      "trust_outdated",
      [3, 3],
    ]);
  });
});
