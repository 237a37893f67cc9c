/** Agent runs that break off anywhere, and go on in what is another process for all that they know. */
import { afterEach, describe, expect, it } from "vitest";
import { stateIn } from "../../../src/agent/index.ts";
import type { AgentResult } from "../../../src/app/agent-runtime.ts";
import { resumeIn } from "../../../src/app/journalled.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Append, Journal } from "../../../src/ports/journal.ts";
import type { ToolCall } from "../../../src/ports/tool.ts";
import {
  agentHosts,
  balance,
  call,
  calls,
  entryTypes,
  FREE,
  pay,
  QUICK,
  runtimeOf,
  say,
  script,
  TRUST,
} from "../../support/agent.ts";
import { bank, hostAt, movedClock, refusal } from "../../support/gate.ts";
import { decision, KEYS, registration } from "../../support/host.ts";

const hosts = agentHosts("nothing_to_verify", "tail_uncovered");
const { made } = hosts;
afterEach(async () => expect(await hosts.close()).toEqual([]));

/** The host with an `append` that fails once, before or after it did what it is for. */
function failing(host: Host, fails: (request: Append) => boolean, when: "before" | "after"): Host {
  const parts = partsOf(host);
  let left = 1;
  const journal: Journal = {
    ...parts.journal,
    async append(request) {
      if (left === 0 || !fails(request)) return parts.journal.append(request);
      left -= 1;
      if (when === "after") await parts.journal.append(request);
      throw new Error("the process died");
    },
  };
  return hostOf({ ...parts, journal });
}

const writes = (type: string) => (request: Append) =>
  request.entries.some((entry) => entry.type === type);

function nth(n: number): (request: Append) => boolean {
  let seen = 0;
  return ({ entries }) => entries.length > 0 && ++seen === n;
}

async function runIn(host: Host, lines: readonly JsonValue[]): Promise<AgentResult | string> {
  let run = "";
  try {
    const limits = { model_attempts: 5 };
    return await runtimeOf(host, script(...lines)).run("see to it", {
      limits: { ...QUICK, ...limits },
      onStart: (id) => (run = id),
    });
  } catch {
    return run;
  }
}

const STORY = [
  calls(balance(1), balance(2)),
  pay(1),
  { ...(pay(2) as object), fail: [{ kind: "timeout" }] },
  say("All paid."),
];

/** All that matters of a run when it has ended, without times and usage. */
function told(host: Host, run: string) {
  const { state } = stateIn(partsOf(host), run);
  const { conversation, end, step, errors, streak, progress, answer } = state;
  return {
    conversation: conversation.digest,
    end,
    step,
    errors,
    streak,
    quiet: progress.quiet,
    answer,
  };
}

describe("a run that breaks off at any of its writes", () => {
  it.each(["before", "after"] as const)(
    "goes on as if nothing had happened, or says that it does not know: %s the write",
    async (when) => {
      const probing = () => {
        const of = bank();
        // A target that knows what it did under which operation, and refuses what it does not know from then on.
        Object.assign(of.pay.tool, {
          probe: async ({ operationId }: ToolCall) => {
            const at = of.pay.calls.findIndex((one) => one.operationId === operationId);
            return at < 0 ? { kind: "absent" } : { kind: "done", result: `paid ${at + 1}` };
          },
        });
        const balance = registration(of.balance, "read", { repeatable: true });
        return { ...of, tools: [balance, registration(of.pay, "effect", { fenced: true })] };
      };
      const whole = await made(probing());
      const expected = await runIn(whole, STORY);
      if (typeof expected === "string") throw new Error("it did not run");
      const writesInAll = partsOf(whole).journal.length(expected.run);
      const undone: number[] = [];
      const wanted = told(whole, expected.run);
      for (let at = 1; at <= writesInAll; at += 1) {
        const of = probing();
        const host = await made(of);
        const broken = await runIn(failing(host, nth(at), when), STORY);
        // A start that was not written has not happened.
        if (broken === "") continue;
        const run = typeof broken === "string" ? broken : broken.run;
        const result = await runtimeOf(host, script(...STORY)).resume(run);
        expect({ at, result }).toMatchObject({ at, result: { output: "All paid." } });
        // An effect that was admitted and never sent is told to the model as not done.
        if (result.errors === 0) expect({ at, ...told(host, run) }).toEqual({ at, ...wanted });
        else expect(undone.push(at)).toBeLessThanOrEqual(2);
        const sent = of.pay.calls.map(({ operationId }) => operationId);
        expect(new Set(sent).size).toBe(sent.length);
        expect(sent).toHaveLength(2 - result.errors);
        expect(runtimeOf(host, script()).replay(run)).toMatchObject({ ended: true });
      }
    },
  );

  it("between dispatch and receipt of an effect is uncertain, and the model is not asked again (B045)", async () => {
    const of = bank();
    const host = await made(of);
    const run = await runIn(failing(host, writes("receipt"), "before"), [pay(1), say("Paid.")]);
    const model = script(pay(1), say("Paid."));
    const result = await runtimeOf(host, model).resume(String(run));
    expect(result).toMatchObject({ state: "stopped", reason: "uncertain_operation", output: null });
    expect([of.pay.calls.length, model.requests.length]).toEqual([1, 0]);
  });

  it("in a repeatable read reads again, and every call in the next request has its answer (B045)", async () => {
    const of = bank();
    const host = await made({
      tools: [
        registration(of.balance, "read", { repeatable: true }),
        registration(of.pay, "effect"),
      ],
    });
    const lines = [calls(balance(1)), say("1000.")];
    const run = await runIn(failing(host, writes("receipt"), "before"), lines);
    const model = script(...lines);
    const result = await runtimeOf(host, model).resume(String(run));
    expect(result).toMatchObject({ state: "completed", output: "1000.", tool_calls: 1 });
    expect(of.balance.calls).toHaveLength(2);
    const roles = model.requests.map(({ messages }) => messages.map(({ role }) => role));
    expect(roles).toEqual([["user", "assistant", "tool"]]);
  });

  it("after a tool's result does not make the call again, whatever ids the provider gives (B046)", async () => {
    const of = bank();
    const host = await made(of);
    const same = (n: number) => ({
      calls: [{ id: "t0", name: "bank.pay", arguments: { account: "7", amount: `${n}` } }],
    });
    const lines = [same(1), same(2), say("Paid both.")];
    let receipts = 0;
    const second = (request: Append) => writes("admitted")(request) && ++receipts === 2;
    const run = await runIn(failing(host, second, "before"), lines);
    const result = await runtimeOf(host, script(...lines)).resume(String(run));
    expect(result.output).toBe("Paid both.");
    expect(of.pay.calls.map(({ arguments: args }) => args)).toEqual([
      { account: "7", amount: "1" },
      { account: "7", amount: "2" },
    ]);
  });

  it("keeps its counters: the next error in a row is the last one (B043)", async () => {
    const bad = (n: number) => call("no_tool", { n });
    const lines = [pay(1), pay(2), bad(1), bad(2), bad(3), say("x")];
    const host = await made(bank());
    let asked = 0;
    const fifth = (request: Append) => writes("agent_asked")(request) && ++asked === 5;
    const run = await runIn(failing(host, fifth, "before"), lines);
    const limits = { max_steps: 9 };
    const result = await runtimeOf(host, script(...lines), { defaults: { limits } }).resume(
      String(run),
    );
    expect(result).toMatchObject({ reason: "consecutive_errors", steps: 5, errors: 3 });
  });
});

describe("who may go on with a run", () => {
  it("not a host without its tools, and nothing is written (B047)", async () => {
    const of = bank();
    const host = await made(of);
    const run = String(await runIn(failing(host, writes("receipt"), "after"), [pay(1), say("ok")]));
    const before = entryTypes(host, run);
    const without = hostOf({ ...partsOf(host), tools: new Map() });
    expect(await refusal(runtimeOf(without, script(say("ok"))).resume(run))).toBe("tool_missing");
    const other = { ...script(), identity: { provider: "scripted", name: "another" } };
    expect(await refusal(runtimeOf(host, other).resume(run))).toBe("other_model");
    expect(entryTypes(host, run)).toEqual(before);
    const result = await runtimeOf(host, script(pay(1), say("ok"))).resume(run);
    expect([result.output, of.pay.calls.length]).toEqual(["ok", 1]);
  });

  it("one of two at a time: the other is told who has it, and does nothing (B055)", async () => {
    const of = bank();
    const host = await made(of);
    const lines = [pay(1), pay(2), say("ok")];
    const run = String(await runIn(failing(host, writes("receipt"), "after"), lines));
    const both = [script(...lines), script(...lines)].map((model) =>
      runtimeOf(host, model).resume(run),
    );
    const turns = await Promise.allSettled(both);
    const codes = turns.map((turn) =>
      turn.status === "fulfilled" ? turn.value.output : String(turn.reason.code),
    );
    expect(codes.sort()).toEqual(["ok", "run_busy"]);
    expect(of.pay.calls).toHaveLength(2);
    const late = script(...lines);
    expect(await runtimeOf(host, late).resume(run)).toMatchObject({ output: "ok" });
    expect(late.requests).toHaveLength(0);
  });

  it("not one whose lease ran out: it writes nothing more, however late it wakes up (B052)", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await made(of, { clock, leaseMs: 1_000 });
    const answers: (() => void)[] = [];
    const slow = script(pay(1), say("ok"));
    const frozen = {
      ...slow,
      reply: async (...given: Parameters<typeof slow.reply>) => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return slow.reply(...given);
      },
    };
    let run = "";
    const first = runtimeOf(host, frozen).run("see to it", { onStart: (id) => (run = id) });
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // Past the time that its model has, and the lease behind it.
    clock.move(130_000);
    const second = await runtimeOf(host, script(pay(1), say("ok"))).resume(run);
    expect(second.output).toBe("ok");
    for (const answer of answers) answer();
    expect(await refusal(first)).toBe("lease_lost");
    expect(of.pay.calls).toHaveLength(1);
    expect(entryTypes(host, run).filter((type) => type === "run_ended")).toHaveLength(1);
  });

  it("not under another policy: a changed one ends the run instead of doing the effect (B044)", async () => {
    const of = bank();
    const asks = { ...FREE, profile: "standard" } as const;
    const host = await made(of, { policy: asks });
    const waits = await runtimeOf(host, script(pay(1), say("ok"))).run("pay");
    expect(waits).toMatchObject({ state: "approval_pending", reason: null });
    const parts = partsOf(host);
    const policy = { document: FREE, digest: `sha256:${"0".repeat(64)}` } as never;
    const other = hostOf({ ...parts, policy });
    const result = await runtimeOf(other, script(pay(1), say("ok"))).resume(waits.run);
    expect(result).toMatchObject({ reason: "environment_changed", code: "policy_changed" });
    expect(of.pay.calls).toHaveLength(0);
  });

  it("an entry that no agent writes stops the resumption, and stays where it is (B048)", async () => {
    // Its record has what no auditor takes.
    const host = await hostAt(null, bank(), { policy: FREE, trust: TRUST });
    const run = String(await runIn(failing(host, writes("receipt"), "after"), [pay(1), say("ok")]));
    const { journal } = partsOf(host);
    const lease = await journal.claim(run);
    if (!lease.ok) throw new Error("held");
    const entry = { chain: run, type: "checkpointed", body: { node: "x", ms: 0 } } as const;
    await journal.append({ lease: lease.value, entries: [entry] });
    await journal.release(lease.value);
    expect(await refusal(runtimeOf(host, script(say("ok"))).resume(run))).toBe("journal_damaged");
    expect(entryTypes(host, run).at(-1)).toBe("checkpointed");
    await host.close();
  });

  it("a run of another kind is refused on both sides", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(say("ok"))).run("say ok");
    expect(await refusal(resumeIn(host, run))).toBe("other_kind");
    expect(await refusal(runtimeOf(host, script()).resume("run-none"))).toBe("unknown_run");
  });
});

describe("a run with many calls", () => {
  it("has all of them, large results too, however often it is looked at and resumed (B051)", async () => {
    const big = "x".repeat(200_000);
    const of = bank();
    Object.assign(of.balance.tool, {
      call: async () => ({ kind: "done", result: big }) as const,
    });
    const host = await made(of);
    const lines = [
      calls(balance(1), balance(2), balance(3)),
      ...Array.from({ length: 27 }, (_, at) => pay(at)),
      say("Done."),
    ];
    const runtime = runtimeOf(host, script(...lines));
    const { run } = await runtime.run("many");
    await runtime.resume(run);
    const outcomes = runtime.inspect(run).calls.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array.from({ length: 30 }, () => "done"));
    expect(runtime.list().map((one) => [one.run, one.mode, one.state])).toEqual([
      [run, "agent", "completed"],
    ]);
    expect(runtime.export(run).tool_calls.map(({ error }) => error)).toEqual(
      Array.from({ length: 30 }, () => undefined),
    );
  });

  it("ends with a decision that came before anybody asked refused, not swallowed (B049)", async () => {
    const host = await made(bank(), { policy: { ...FREE, profile: "standard" } });
    const runtime = runtimeOf(host, script(pay(1), say("ok")));
    const { run, requests } = await runtime.run("pay");
    const [request] = requests;
    if (request === undefined) throw new Error("nothing asked");
    const envelope = decision(request, KEYS.alice, "alice", { nonce: "A".repeat(22) });
    const early = runtime.resume(run, { approval: envelope });
    expect(await refusal(early)).toBe("approval_refused: no_pending_request");
    expect(runtime.result(run).state).toBe("approval_pending");
  });
});
