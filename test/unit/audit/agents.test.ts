/**
 * Records of agents that lie: written anew by somebody with the journal's and the receipt key, so that every link, hash,
 * tree head and signature fits, and only what the entries come to can tell.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { pointer } from "../../../src/base/pointer.ts";
import { agentStateOf } from "../../../src/model/agent-states.ts";
import type { StopReason } from "../../../src/model/stop.ts";
import { ASKS, balance, call, calls, pay, runtimeOf, say, script } from "../../support/agent.ts";
import {
  both,
  type Change,
  found,
  inBody,
  later,
  recorded,
  reject,
  withLimit,
} from "../../support/audit/agents.ts";
import { changedAt, entriesIn, type Json, type Loose } from "../../support/audit/forge.ts";
import { audit, codesOf, type Recorded } from "../../support/audit/record.ts";
import { heldAlarms } from "../../support/gate.ts";

const USED = { input_tokens: 30, output_tokens: 20 };
const reading = (account: number) => calls(balance(account));
const LONG = [
  { ...(reading(1) as object), usage: USED },
  { ...(reading(1) as object), usage: USED },
  { ...(pay(1) as object), usage: USED },
  { ...(call("bank.pay", "no json") as object), usage: USED },
  { ...(call("bank.rob", {}) as object), usage: USED },
  { say: "Done.", usage: USED, fail: [{ kind: "rate_limited" }] },
] as JsonValue[];

describe("an agent's record that went on behind a limit of its own", () => {
  let long: Recorded;
  beforeAll(async () => {
    long = await recorded(LONG);
  });

  it("is clean as it was written, and when it is only written anew", async () => {
    expect(codesOf(await audit(long))).toEqual([]);
    expect(await found(long, (entry) => entry)).toEqual([]);
  });

  it.each([
    ["turns", withLimit("max_steps", 5)],
    ["tool calls", withLimit("max_tool_calls", 2)],
    [
      "tokens, set aside before a turn",
      both(withLimit("max_total_tokens", 310), withLimit("reserve_tokens", 61)),
    ],
    ["repeated calls", withLimit("repeated_action", 2)],
    ["turns without anything new", withLimit("no_progress", 1)],
    ["errors in a row", withLimit("consecutive_errors", 2)],
    ["attempts at a turn", withLimit("model_attempts", 1)],
    [
      "calls that no tool can be called with",
      inBody("agent_started", "/stop_on", () => ["invalid_call"]),
    ],
  ])("is found: %s", async (_, change) => {
    expect(await found(long, change)).toEqual(["agent_went_on"]);
  });

  it.each([
    ["input tokens", withLimit("max_input_tokens", 149)],
    ["output tokens", withLimit("max_output_tokens", 99)],
    ["tokens", withLimit("max_total_tokens", 249)],
    ["active time", both(withLimit("max_active_ms", 9_000), later(9_001))],
  ])("is found, and that it was completed in spite of it: %s", async (_, change) => {
    expect(await found(long, change)).toEqual(["agent_end_unsupported", "agent_went_on"]);
  });

  it.each([
    ["turns", withLimit("max_steps", 6)],
    ["tool calls", withLimit("max_tool_calls", 5)],
    ["input tokens", withLimit("max_input_tokens", 180)],
    ["tokens", withLimit("max_total_tokens", 300)],
    ["repeated calls", withLimit("repeated_action", 3)],
    ["turns without anything new", withLimit("no_progress", 3)],
    ["errors in a row", withLimit("consecutive_errors", 3)],
    ["attempts at a turn", withLimit("model_attempts", 2)],
    ["active time", both(withLimit("max_active_ms", 99_000), later(9_001))],
  ])("is not found where the limit was just kept: %s", async (_, change) => {
    expect(await found(long, change)).toEqual([]);
  });

  it("is found in a call of a turn whose first calls had used the limit up", async () => {
    const pays = calls(
      ...[1, 2].map(() => ["bank.pay", { account: "7", amount: "1", currency: "EUR" }] as const),
    );
    const twice = await recorded([pays, say("Paid.")]);
    expect(await found(twice, withLimit("repeated_action", 2))).toEqual(["agent_went_on"]);
    expect(await found(twice, withLimit("max_tool_calls", 1))).toEqual(["agent_went_on"]);
  });

  it("is found behind a failure or a refusal that ends the run", async () => {
    const closed = async () => ({ kind: "not_applied", code: "closed", message: "come later" });
    const failed = await recorded([pay(1), say("Not paid.")], { pay: closed });
    const stops = (...which: readonly string[]) => inBody("agent_started", "/stop_on", () => which);
    expect(await found(failed, stops("refused"))).toEqual([]);
    expect(await found(failed, stops("tool_error"))).toEqual(["agent_went_on"]);
    const denied = await recorded([pay(1), say("Not paid.")], {
      policy: { deny: ["tool:effect:bank.pay"] },
      options: { stopOn: [] },
    });
    expect(await found(denied, stops())).toEqual([]);
    expect(await found(denied, stops("refused"))).toEqual(["agent_went_on"]);
  });

  it("is found where the limit is that of the run it was begun by", async () => {
    const family = await recorded([reading(1), reading(2), say("Done.")], {
      after: async (host, parent) => {
        const lines = [reading(3), reading(4), say("Done.")];
        await runtimeOf(host, script(...lines)).run("help", { parent });
      },
    });
    const ofAll =
      (value: number): Change =>
      (entry) => {
        if (entry.type !== "agent_started") return entry;
        const body = changedAt(entry.body, "/limits/max_steps", value) as Json;
        if (body["root"] === null) return { ...entry, body };
        const ofFirst = pointer("root", "limits", "max_steps");
        return { ...entry, body: changedAt(body, ofFirst, value) as Json };
      };
    expect(await found(family, ofAll(6))).toEqual([]);
    expect(await found(family, ofAll(5))).toEqual(["agent_went_on"]);
  });

  it("is found where the application's marker stood still", async () => {
    const marked = await recorded([reading(1), reading(2), say("Done.")], {
      options: { progress: ({ step }) => step },
    });
    expect(await found(marked, withLimit("no_progress", 1))).toEqual([]);
    const same = (entry: Loose) =>
      entry.type === "agent_marked"
        ? { ...entry, body: { ...entry.body, marker: `sha256:${"1".repeat(64)}` } }
        : entry;
    expect(await found(marked, both(same, withLimit("no_progress", 1)))).toEqual(["agent_went_on"]);
    const none: Change = (entry) =>
      entry.type === "agent_marked" && entry.body["step"] === 2 ? [] : entry;
    expect(await found(marked, none)).toEqual(["agent_turn_differs"]);
  });
});

const REASONS: readonly StopReason[] = [
  "max_steps",
  "token_budget_exceeded",
  "max_runtime",
  "repeated_action",
  "no_progress",
  "consecutive_errors",
  "provider_error",
  "invalid_model_response",
  "tool_error",
  "policy_denied",
  "approval_rejected",
  "budget_exceeded",
  "internal_error",
  "not_qualified",
];

const again = (line: JsonValue): JsonValue => ({ ...(line as object), repeat: true });
const different = Array.from({ length: 20 }, (_, at) => reading(at));

/** A record for each reason that entries can show. */
const ENDED: { readonly [reason in StopReason]?: () => Promise<Recorded> } = {
  max_steps: () => recorded(different, { limits: { max_steps: 3 } }),
  token_budget_exceeded: () =>
    recorded([again({ ...(reading(1) as object), usage: USED })], {
      limits: { max_total_tokens: 90, reserve_tokens: 0 },
    }),
  max_runtime: async () => {
    const { clock, ring } = heldAlarms(1_000_001);
    return recorded([pay(1)], {
      limits: { max_active_ms: 1_000_000 },
      host: { clock },
      pay: async () => {
        ring();
        return { kind: "done", result: "paid" };
      },
    });
  },
  repeated_action: () => recorded([again(reading(1))]),
  no_progress: () => recorded(different, { limits: { no_progress: 3 } }),
  consecutive_errors: () =>
    recorded([call("bank.rob", { n: 1 }), call("bank.rob", { n: 2 }), call("bank.rob", { n: 3 })]),
  provider_error: () => recorded([{ say: "x", fail: [{ kind: "refused" }] }]),
  invalid_model_response: () => recorded([{ say: "cut", stop: "length" }]),
  tool_error: () =>
    recorded([pay(1)], {
      options: { stopOn: ["tool_error"] },
      pay: async () => ({ kind: "not_applied", code: "closed", message: "come later" }),
    }),
  policy_denied: () => recorded([pay(1)], { policy: { deny: ["tool:effect:bank.pay"] } }),
  approval_rejected: () => recorded([pay(1)], { policy: ASKS, after: reject }),
  budget_exceeded: () =>
    recorded([pay(1)], { host: { budget: { run: { effects: 0 }, host: {} } } }),
};

describe("an agent's record that gives another reason for its end than its entries show", () => {
  const told =
    (reason: StopReason): Change =>
    (entry) =>
      entry.type === "run_ended"
        ? {
            ...entry,
            body: {
              ...entry.body,
              state: agentStateOf(reason),
              reason,
              failure: { reason, node: null, message: "x" },
              result: null,
            },
          }
        : entry;

  it.each(Object.entries(ENDED))("is found whatever it gives: %s", async (reason, make) => {
    const of = await make();
    expect(entriesIn(of.files).at(-1)?.body["reason"]).toBe(reason);
    expect(codesOf(await audit(of))).toEqual([]);
    const unseen: string[] = [];
    for (const other of REASONS) {
      const codes = await found(of, told(other));
      const expected = other === reason ? [] : ["agent_end_unsupported"];
      if (codes.join() !== expected.join()) unseen.push(`${other}: ${codes.join()}`);
    }
    expect(unseen).toEqual([]);
  });

  it("is found where it was completed, and gives a limit", async () => {
    const of = await recorded([say("Done.")]);
    for (const reason of REASONS) {
      expect(await found(of, told(reason))).toEqual(["agent_end_unsupported"]);
    }
  });

  it("is found where its answer used more tokens than the run had", async () => {
    const of = await recorded([{ say: "Done.", usage: USED }]);
    expect(await found(of, withLimit("max_total_tokens", 50))).toEqual([]);
    expect(await found(of, withLimit("max_total_tokens", 49))).toEqual(["agent_end_unsupported"]);
  });
});
