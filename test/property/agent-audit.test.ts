/** Whatever a model says and whatever limits a run has, an honest record of it is a clean one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentRuntime } from "../../src/app/agent-runtime.ts";
import { auditBundle, sourceOf } from "../../src/audit/index.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { fileDecision, partsOf } from "../../src/host/index.ts";
import { STOPPING } from "../../src/model/agent.ts";
import { ASKS, FREE, runtimeOf, script, TRUST } from "../support/agent.ts";
import { bank, hostAt } from "../support/gate.ts";
import { decision, KEYS, madeTool, registration } from "../support/host.ts";

const policies = {
  nothing: FREE,
  effects: ASKS,
  "one read": { ...FREE, approvable: ["tool:read:vault.read"] },
  everything: { ...ASKS, approvable: ["tool:read:vault.read", "tool:read:bank.balance"] },
};

const account = fc.constantFrom("1", "2");
const asked = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ name: fc.constant("bank.balance"), arguments: fc.record({ account }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant("bank.pay"),
      arguments: fc.record({ account, amount: account, currency: fc.constant("EUR") }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ name: fc.constant("vault.read"), arguments: fc.record({ account }) }),
  },
  fc.constantFrom<{ name: string; arguments: JsonValue }>(
    { name: "bank.pay", arguments: "no json" },
    { name: "bank.rob", arguments: {} },
  ),
);
const usage = fc.constantFrom<JsonValue>(
  { input_tokens: 10, output_tokens: 5 },
  { input_tokens: 40 },
);
const fail = fc.constantFrom<JsonValue>(
  [],
  [],
  [],
  [{ kind: "timeout" }],
  [{ kind: "rate_limited" }],
);
const turn = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ calls: fc.array(asked, { minLength: 1, maxLength: 4 }), usage, fail }),
  },
  { weight: 1, arbitrary: fc.record({ say: fc.constant("Done."), usage, fail }) },
  { weight: 1, arbitrary: fc.constant({ say: "cut", stop: "length" }) },
);
const limit = (from: number, to: number) =>
  fc.option(fc.integer({ min: from, max: to }), { nil: undefined });
const limits = fc.record({
  max_steps: limit(1, 6),
  max_tool_calls: limit(1, 8),
  max_total_tokens: limit(20, 200),
  max_input_tokens: limit(20, 200),
  repeated_action: limit(1, 3),
  no_progress: limit(1, 3),
  consecutive_errors: limit(1, 3),
  model_attempts: limit(1, 2),
  parallel_calls: limit(1, 3),
});
/** What a payment comes to, in turn; and what a reviewer says. */
const outcomes = fc.array(fc.constantFrom("done", "not_applied", "threw"), {
  minLength: 1,
  maxLength: 3,
});
const verdicts = fc.array(fc.constantFrom("approve", "reject", "wait"), {
  minLength: 1,
  maxLength: 3,
});
const story = fc.record({
  lines: fc.array(turn, { minLength: 1, maxLength: 6 }),
  limits,
  stopOn: fc.subarray([...STOPPING]),
  polls: fc.subarray(["bank.balance"]),
  markers: fc.boolean(),
  asks: fc.constantFrom("nothing", "effects", "one read", "everything"),
  /** What is decided while a read is at work. */
  meanwhile: fc.array(fc.constantFrom("approve", "reject", "wait"), { maxLength: 4 }),
  denies: fc.boolean(),
  outcomes,
  verdicts,
  children: fc.nat(1),
});

function defined(all: object): object {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** As far as it goes with what the reviewer says; the auditor looks at it on the way and at its end. */
async function codesAlong(one: typeof story extends fc.Arbitrary<infer T> ? T : never) {
  const of = bank();
  let count = 0;
  Object.assign(of.pay.tool, {
    call: async () => {
      const outcome = one.outcomes[count++ % one.outcomes.length];
      if (outcome === "threw" && count > 2) throw new Error("connection reset");
      if (outcome === "not_applied")
        return { kind: "not_applied", code: "closed", message: "later" };
      return { kind: "done", result: `paid ${count}` };
    },
  });
  let runtime: AgentRuntime | undefined;
  let running = "";
  let looked = 0;
  const answer = of.balance.tool.call;
  Object.assign(of.balance.tool, {
    call: async (given: Parameters<typeof answer>[0]) => {
      const verdict = one.meanwhile[looked++] ?? "wait";
      const [request] = (verdict === "wait" ? undefined : runtime?.result(running).requests) ?? [];
      if (request !== undefined && verdict !== "wait") {
        const envelope = decision(request, KEYS.alice, "alice", { decision: verdict });
        await fileDecision(partsOf(host), envelope);
      }
      return answer(given);
    },
  });
  const vault = madeTool("vault.read", () => ({ kind: "done", result: "gold" }));
  const tools = [...of.tools, registration(vault, "read")];
  const deny = one.denies ? ["tool:read:bank.balance"] : [];
  const policy = { ...policies[one.asks], deny };
  const host = await hostAt(null, { tools }, { policy, trust: TRUST });
  const codes = new Set<string>();
  const look = async () => {
    const report = await auditBundle(sourceOf(partsOf(host).journal), { trust: TRUST });
    for (const { code, message } of report.findings) {
      if (code !== "tail_uncovered") codes.add(`${code}: ${message}`);
    }
  };
  const play = async (parent?: string) => {
    const defaults = {
      limits: { ...defined(one.limits), retry_delay_ms: 0 },
      stopOn: one.stopOn,
      polls: one.polls,
    };
    const progress = one.markers ? { progress: ({ step }: { step: number }) => step >> 1 } : {};
    runtime = runtimeOf(host, script(...(one.lines as JsonValue[])), {
      defaults: { ...defaults, ...progress },
    });
    const above = parent === undefined ? {} : { parent };
    const onStart = (id: string) => {
      running = id;
    };
    let result = await runtime.run("see to it", { ...above, onStart });
    for (const verdict of one.verdicts) {
      await look();
      const [request] = result.requests;
      if (request === undefined || verdict === "wait") continue;
      const approval = decision(request, KEYS.alice, "alice", { decision: verdict });
      result = await runtime.resume(result.run, { approval });
    }
    if (result.reason === null) await runtime.cancel(result.run);
    return result.run;
  };
  const run = await play();
  for (let child = 0; child < one.children; child += 1) await play(run);
  await look();
  await host.close();
  return [...codes];
}

describe("the record of an agent's run", () => {
  it("is clean, whatever its model says, its tools do, its limits are and its reviewer decides", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (one) => {
        expect(await codesAlong(one)).toEqual([]);
      }),
      { numRuns: Number(process.env["AGENT_AUDIT_RUNS"] ?? 25) },
    );
  });
});
