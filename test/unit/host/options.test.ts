/** What a host is made of is taken once: read in full, copied, and never looked up again. */
import { afterAll, describe, expect, it } from "vitest";
import { createHost, type HostOptions } from "../../../src/app/create-host.ts";
import type { PrivateKey } from "../../../src/base/sign.ts";
import { partsOf } from "../../../src/host/index.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  FENCED_PAYMENT,
  hostAt,
  type Options,
  procedureOf,
  refusal,
} from "../../support/gate.ts";
import {
  decision,
  hostOptions,
  KEYS,
  POLICY,
  trust,
  trustDocument,
  trustedKey,
} from "../../support/host.ts";
import { textOf } from "../../support/trust.ts";

/** Options as whoever made them may go on writing into them. */
interface Open {
  readonly policy: {
    readonly approvals: { required: number; requester_may_approve: boolean };
    readonly grants: string[];
  };
  readonly budget: { readonly run: { effects: number; readonly amounts: { EUR: string } } };
  readonly intent: { readonly tools: string[] };
  readonly identity: { name: string };
  readonly keys: { receipt: PrivateKey };
}

const places = directories();
afterAll(() => places.remove());

const changed = (change: object) => bank().tools.map((one) => ({ ...one, ...change }));
const approvals = { required: 2, requester_may_approve: false };

describe("a host", () => {
  it("does not see what its options become once it is made", async () => {
    const of = bank();
    const tools = of.tools.map((one) => ({
      ...one,
      permissions: ["tool:read:balance", "tool:effect:pay"],
      credentials: ["bank"],
    }));
    const options: HostOptions = hostOptions(null, tools, {
      identity: { name: "agent", key: textOf(KEYS.stranger) },
      intent: { statement: "pay", tools: ["bank.pay"] },
      keys: { journal: KEYS.journal, receipt: KEYS.receipt },
      policy: { ...POLICY, grants: [], deny: [], approvals },
      budget: { run: { effects: 1, amounts: { EUR: "50" } }, host: {} },
    });
    const host = await createHost(options);
    const before = host.environment(procedureOf(host).plan);
    const { run } = await begin(host, FENCED_PAYMENT);
    const open = options as unknown as Open;
    for (const one of tools) {
      one.permissions.splice(0, 2, "*:*:*");
      one.credentials.push("another");
      Object.assign(one, { review: null });
    }
    tools.length = 0;
    Object.assign(open.policy.approvals, { required: 1, requester_may_approve: true });
    open.policy.grants.push("*:effect:*");
    open.budget.run.amounts.EUR = "5000";
    open.budget.run.effects = 100;
    open.intent.tools.push("*");
    open.identity.name = "alice";
    open.keys.receipt = KEYS.alice;
    expect(host.environment(procedureOf(host).plan)).toEqual(before);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    await host.fileDecision(decision(asked(run), KEYS.bob, "bob"));
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });

  it("may come to wait longer and to read more often: neither is in a digest, and what was approved is done, once (B016)", async () => {
    const directory = places.fresh();
    const of = bank();
    const first = await hostAt(directory, of, { callMs: 1_000, readAttempts: 1 });
    const { run, procedure } = await begin(first, FENCED_PAYMENT);
    await first.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    await run.closeAsync();
    await first.close();
    const second = await hostAt(directory, of, { callMs: 2_000, readAttempts: 9, leaseMs: 5_000 });
    expect(second.environment(procedure.plan)).toEqual(procedure.plan.environment);
    const resumed = await procedure.resume(second, run.id);
    expect(await resumed.advanceAsync(second)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await second.close();
  });

  it("is made of what nobody can change", async () => {
    const host = await hostAt(null, bank(), {
      intent: { statement: "pay", tools: ["*"] },
      warrant: null,
    });
    const parts = partsOf(host);
    const { identity, intent, policy: rules, budget } = parts;
    for (const part of [
      parts,
      identity,
      intent,
      rules,
      rules.document.grants,
      budget.document.run,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    for (const one of parts.tools.values()) expect(Object.isFrozen(one)).toBe(true);
    await host.close();
  });

  it.each<[string, string, Options]>([
    ["of two words", "origin", { origin: "two words" }],
    ["of nothing", "origin", { origin: "" }],
    ["of two lines", "origin", { origin: "tests.example/journal\nnext" }],
    ["too short", "leaseMs", { leaseMs: 0 }],
    ["that is no number", "leaseMs", { leaseMs: Number.NaN }],
    ["longer than timers", "leaseMs", { leaseMs: 2 ** 31 }],
    ["missing one", "keys", { keys: { journal: KEYS.journal } as HostOptions["keys"] }],
    ["without the secret", "keys", { keys: { ...KEYS, receipt: KEYS.receipt.publicKey as never } }],
    ["the same twice", "keys", { keys: { journal: KEYS.journal, receipt: KEYS.journal } }],
    ["in capitals", "identity", { identity: { name: "Alice" } }],
    ["with a space", "identity", { identity: { name: "alice " } }],
    ["that are no list", "tools", { tools: "bank.pay" as never }],
    ["that are no list", "permissions", { tools: changed({ permissions: "*" }) }],
    ["that are no names", "credentials", { tools: changed({ credentials: [7] }) }],
    ["that is not JSON", "JSON", { configuration: { at: Number.NaN } }],
  ])("is not made with one %s: %s", async (_, what, change) => {
    const made = createHost({ ...hostOptions(null, bank().tools), ...change });
    await expect(made).rejects.toMatchObject({ code: "host_invalid" });
    await expect(made).rejects.toThrow(what);
  });

  it("does not sign receipts or tree heads with a key that is trusted for something else", async () => {
    const doubled = (role: "receipt" | "journal") =>
      hostAt(null, bank(), { keys: { ...KEYS, [role]: KEYS.alice } });
    for (const role of ["receipt", "journal"] as const) {
      expect(await refusal(doubled(role))).toBe("host_invalid");
    }
    const { keys } = trustDocument();
    const later = trust({
      keys: [...keys, trustedKey(KEYS.stranger, "receipts", "receipt")],
    });
    const host = await hostAt(null, bank(), {
      trust: later,
      keys: { journal: KEYS.journal, receipt: KEYS.stranger },
    });
    await host.close();
  });
});
