import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { judge, partsOf } from "../../../src/host/index.ts";
import { changeBetween } from "../../../src/host/operation.ts";
import { admit } from "../../../src/host/perform.ts";
import { GATE_CODES, type GateCode, type Operation } from "../../../src/model/operation.ts";
import type { Warrant } from "../../../src/model/trust.ts";
import { systemRandom } from "../../../src/os/random.ts";
import { type Run, startRun } from "../../../src/run/index.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { signWarrant } from "../../../src/trust/warrant.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  type Bank,
  bank,
  begin,
  CHECK,
  FENCED_PAYMENT,
  hostAt,
  INPUTS,
  movedClock,
  ONE_PAYMENT,
  ONE_READ,
  OPEN,
  type Options,
  pay,
  READ,
  recipeOf,
  VERIFIER,
} from "../../support/gate.ts";
import {
  decision,
  KEYS,
  madeTool,
  nowSeconds,
  ORIGIN,
  POLICY,
  registration,
  trustDocument,
} from "../../support/host.ts";
import { seeded, someNonce, textOf } from "../../support/trust.ts";
import { requestOf } from "./gate-outcomes.ts";

const places = directories();
afterAll(() => places.remove());

/** What a scenario comes to: the code, and how often money was moved. */
interface Outcome {
  readonly code: string | undefined;
  readonly state: string;
  readonly paid: number;
}

function outcome(run: Run, { pay: paying }: Bank): Outcome {
  const { failure, state } = run.report;
  return { code: failure?.code, state, paid: paying.calls.length };
}

/** A payment at a host with these options: refused at once. */
async function once(
  change: Options,
  { recipe = ONE_PAYMENT, inputs = INPUTS, of = bank() } = {},
): Promise<Outcome> {
  const host = await hostAt(null, of, change);
  const { run } = await begin(host, recipe, inputs);
  if (run.pendingRequest !== null) {
    await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
  }
  await host.close();
  return outcome(run, of);
}

/** A payment that is asked about at one host, approved, and looked at again by another with these options. */
async function changed(
  before: Options,
  after: Options,
  { recipe = FENCED_PAYMENT, then = bank() } = {},
): Promise<Outcome> {
  const directory = places.fresh();
  const first = await hostAt(directory, bank(), before);
  const { run, procedure } = await begin(first, recipe);
  await first.fileDecision(decision(asked(run), KEYS.alice, "alice"));
  await run.closeAsync();
  await first.close();
  const host = await hostAt(directory, then, after);
  const resumed = await procedure.resume(host, run.id);
  await resumed.advanceAsync(host);
  const code = resumed.pendingRequest?.replaces ?? resumed.report.failure?.code;
  const { state } = resumed;
  await host.close();
  return { code, state, paid: then.pay.calls.length };
}

const HOLDER = seeded(50);
const HOLDER_TEXT = textOf(HOLDER);

function warrant(change: Partial<Warrant> = {}): JsonValue {
  return signWarrant(
    {
      type: "rote-warrant/v1",
      parent: null,
      issuer: "ida",
      holder_key: HOLDER_TEXT,
      audience: ORIGIN,
      tools: ["bank.pay", "bank.balance"],
      constraints: [],
      max_effects: 5,
      max_reads: 5,
      not_before: nowSeconds() - 60,
      expires: nowSeconds() + 3600,
      nonce: someNonce(1),
      ...change,
    },
    KEYS.issuer,
  );
}

const holder = { name: "agent", key: HOLDER_TEXT };
const intent = { statement: "pay the bill", tools: ["bank.pay"] };
const verdict = (verdict: "allow" | "deny") => ({
  security: { evaluate: () => ({ verdict, rule: "test", message: "" }) },
});
const nextTrust = (expires = nowSeconds() + 9999) =>
  signTrust(trustDocument({ version: 2, expires }), [KEYS.root]);

/** An operation that was judged and admitted at a host, to be admitted once more. */
async function admittedTwice(approved: boolean): Promise<Outcome> {
  const of = bank();
  const host = await hostAt(null, of, approved ? {} : OPEN);
  const parts = partsOf(host);
  const claimed = await parts.journal.claim("run-x");
  if (!claimed.ok) throw new Error("held");
  const judged = judge(parts, requestOf());
  if (judged.kind !== "judged") throw new Error(judged.code);
  const approvals = approved ? [usedApproval(judged.frozen.operation)] : [];
  const codes: string[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const admission = await admit(parts, claimed.value, judged, approvals, {
      qualification: null,
      ms: 0,
    });
    codes.push(admission.kind === "refused" ? admission.code : admission.kind);
  }
  expect(codes[0]).toBe("admitted");
  await host.close();
  return { code: codes[1], state: "denied", paid: of.pay.calls.length };
}

function usedApproval({ run }: Operation) {
  const approval = { approver: "alice", run } as never;
  const checked = { approval, key: KEYS.alice.publicKey.id, digest: "sha256:x" as never };
  return { nonce: someNonce(3), checked: { ...checked, until: nowSeconds() + 60 } };
}

/** What a change of one member of an operation is called. */
function between(change: Partial<Operation>): Outcome {
  const operation = { ...requestOf(), identity: "agent" } as unknown as Operation;
  const code = changeBetween(operation, { ...operation, ...change });
  return { code, state: "awaiting_approval", paid: 0 };
}

const SCENARIOS: { readonly [code in GateCode]: () => Promise<Outcome> | Outcome } = {
  identity_missing: () => once({ identity: null }),
  identity_not_holder: () => once({ warrant: [warrant()] }),
  identity_changed: () => changed({}, { identity: { name: "another" } }),
  trust_expired: async () => {
    const clock = movedClock();
    const of = bank();
    const trust = signTrust(trustDocument({ expires: nowSeconds() + 60 }), [KEYS.root]);
    const host = await hostAt(null, of, { clock, trust });
    const { run } = await begin(host);
    clock.move(61_000);
    await run.advanceAsync(host);
    return outcome(run, of);
  },
  trust_changed: () => changed({}, { trust: nextTrust() }),
  intent_missing: () => once({ policy: { ...POLICY, requires: ["intent"] } }),
  intent_not_covered: () => once({ intent: { ...intent, tools: ["bank.balance"] } }),
  intent_changed: () => changed({ intent }, { intent: { ...intent, statement: "pay it all" } }),
  warrant_missing: () => once({ policy: { ...POLICY, requires: ["warrant"] } }),
  warrant_invalid: () => once({ identity: holder, warrant: [warrant({ issuer: "eve" })] }),
  warrant_not_covered: () => once({ identity: holder, warrant: [warrant({ tools: ["other"] })] }),
  warrant_spent: () => once({ identity: holder, warrant: [warrant({ max_effects: 0 })] }),
  warrant_changed: () => {
    const before = { identity: holder, warrant: [warrant()] };
    return changed(before, { ...before, warrant: [warrant({ nonce: someNonce(2) })] });
  },
  tool_unknown: () => once({ tools: [] }),
  tool_not_reviewed: async () => {
    const of = bank();
    return once({ tools: of.tools.map((one) => ({ ...one, review: null })) }, { of });
  },
  tool_review_invalid: () => once({}, { of: bank({ review: { reviewer: "alice" } }) }),
  tool_definition_changed: async () => {
    const of = bank();
    const { definition } = madeTool("bank.pay", () => ({ kind: "done", result: 1 })).tool;
    // The same name and review, and a word more in the description.
    const tool = { ...of.pay.tool, definition: { ...definition, description: "pays, gladly" } };
    return once(
      { tools: of.tools.map((one) => (one.tool === of.pay.tool ? { ...one, tool } : one)) },
      { of },
    );
  },
  tool_wrong_category: async () => {
    const of = bank();
    // A read node that names the effect.
    const read = { ...READ, step: { ...READ.step, tool: "bank.pay" } };
    return once(OPEN, { recipe: recipeOf([read]), of });
  },
  tool_arguments_invalid: () =>
    once({}, { of: bank({ tool: { fault: () => "amount is missing" } }) }),
  policy_denied: () => once({ policy: { ...POLICY, deny: ["tool:effect:bank.pay"] } }),
  policy_error: async () => {
    const of = bank();
    return once({ tools: of.tools.map((one) => ({ ...one, permissions: ["pay"] })) }, { of });
  },
  policy_changed: () => changed({}, { policy: { ...POLICY, deny: ["tool:effect:other"] } }),
  security_denied: () => once(verdict("deny")),
  security_error: () =>
    once({
      security: {
        evaluate: () => {
          throw new Error("no facts");
        },
      },
    }),
  budget_exceeded: () => once({ budget: { run: { effects: 0 }, host: {} } }),
  budget_changed: () => changed({}, { budget: { run: { effects: 5 }, host: {} } }),
  amount_unreadable: () =>
    once({}, { of: bank({ review: { amount: { value: "/sum", currency: "/currency" } } }) }),
  before_effect_refused: async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host, ONE_PAYMENT, INPUTS, { ...VERIFIER, before_effect: false });
    await host.close();
    return outcome(run, of);
  },
  verifier_changed: () => between({ verifiers: ["sha256:other" as never] }),
  approval_rejected: async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const approval = decision(asked(run), KEYS.alice, "alice", { decision: "reject" });
    await run.advanceAsync(host, { approval });
    await host.close();
    return outcome(run, of);
  },
  approval_expired: async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock, requestSeconds: 60 });
    const { run } = await begin(host);
    clock.move(60_000);
    await run.advanceAsync(host);
    await host.close();
    return outcome(run, of);
  },
  environment_changed: () => changed({}, { configuration: { region: "elsewhere" } }),
  not_qualified: async () => {
    const of = bank();
    const host = await hostAt(null, of, OPEN);
    const { procedure } = await begin(host, ONE_READ);
    const environment = host.environment(procedure.plan);
    const qualification = { id: "q-gone", learned: [], stands: () => true, demote: () => {} };
    const run = startRun(procedure.plan, procedure.verifier, INPUTS, {
      mode: "compiled",
      environment,
      qualification,
      clock: movedClock(),
      random: systemRandom,
    });
    await run.advanceAsync(host);
    await host.close();
    return outcome(run, of);
  },
  arguments_changed: async () => {
    // A read that is asked about and breaks: its second attempt is another operation.
    const balance = madeTool("bank.balance", () => Promise.reject(new Error("line down")));
    const tools = [registration(balance, "read", { repeatable: true })];
    const host = await hostAt(
      null,
      { tools },
      { policy: { ...POLICY, approvable: ["tool:read:*"] } },
    );
    const { run } = await begin(host, ONE_READ);
    await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
    await host.close();
    return { code: asked(run).replaces ?? undefined, state: run.state, paid: 0 };
  },
  approval_consumed: () => admittedTwice(true),
  duplicate_key: async () => {
    const of = bank();
    const key = { key: { input: "account" } };
    const host = await hostAt(null, of, OPEN);
    const recipe = recipeOf([CHECK, pay("pay", ["check"], {}, key)]);
    const first = await begin(host, recipe);
    expect(first.run.state).toBe("verified");
    const { run } = await begin(host, recipe);
    await host.close();
    return { ...outcome(run, of), paid: of.pay.calls.length - 1 };
  },
  duplicate_operation: () => admittedTwice(false),
  clock_behind: async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock, ...OPEN });
    clock.move(3_600_000);
    await begin(host, ONE_READ);
    clock.move(-61_000);
    const { run } = await begin(host);
    await host.close();
    return outcome(run, of);
  },
};

describe("every code of the gate", () => {
  it.each(Object.entries(SCENARIOS))(
    "%s is what it says, and nothing is paid",
    async (code, play) => {
      const found = await play();
      expect(found.code).toBe(code);
      expect(found.paid).toBe(0);
      expect(["denied", "exhausted", "rejected", "awaiting_approval"]).toContain(found.state);
    },
  );

  it("is played here", () => {
    expect(Object.keys(SCENARIOS).sort()).toEqual(Object.keys(GATE_CODES).sort());
  });
});
