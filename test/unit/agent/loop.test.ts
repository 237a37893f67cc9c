/** The loop with people, clocks and tools that do not behave. */
import { afterEach, describe, expect, it } from "vitest";
import type { ChatModel } from "../../../src/ports/chat-model.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { PendingRequest } from "../../../src/run/index.ts";
import {
  ASKS,
  agentHosts,
  balance,
  call,
  calls,
  entryTypes,
  FREE,
  pay,
  runtimeOf,
  say,
  script,
} from "../../support/agent.ts";
import { bank, heldAlarms } from "../../support/gate.ts";
import { decision, KEYS, madeTool, registration } from "../../support/host.ts";

const hosts = agentHosts("tail_uncovered");
const { made } = hosts;
afterEach(async () => expect(await hosts.close()).toEqual([]));

function decided(
  request: PendingRequest | undefined,
  verdict: "approve" | "reject",
  clock: Pick<Clock, "wallMs"> = { wallMs: Date.now },
) {
  if (request === undefined) throw new Error("nothing was asked");
  const now = Math.floor(clock.wallMs() / 1000);
  const window = { not_before: now - 1, expires: now + 600 };
  return decision(request, KEYS.alice, "alice", { decision: verdict, ...window });
}

/** A clock that moves only when told, both hands together. */
function stoppedClock(): Clock & { pass(ms: number): void } {
  const from = Date.now();
  let passed = 0;
  return {
    wallMs: () => from + passed,
    monotonicMs: () => passed,
    pass: (ms) => {
      passed += ms;
    },
  };
}

describe("a call that needs an approval", () => {
  it("waits, is done once it is approved, and the call before it is not done again (B042)", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const lines = [calls(balance(1)), pay(1), say("Paid.")];
    const waits = await runtimeOf(host, script(...lines)).run("pay");
    expect(waits).toMatchObject({ state: "approval_pending", reason: null, output: null });
    expect(of.pay.calls).toHaveLength(0);
    const runtime = runtimeOf(host, script(...lines));
    expect(await runtime.resume(waits.run)).toMatchObject({ state: "approval_pending" });
    const before = entryTypes(host, waits.run);
    await runtime.resume(waits.run);
    expect(entryTypes(host, waits.run)).toEqual(before);
    const approval = decided(waits.requests[0], "approve");
    const done = await runtime.resume(waits.run, { approval });
    expect(done).toMatchObject({ state: "completed", output: "Paid.", requests: [] });
    expect([of.balance.calls.length, of.pay.calls.length]).toEqual([1, 1]);
    await expect(runtime.resume(waits.run, { approval })).resolves.toMatchObject({
      output: "Paid.",
    });
  });

  it("that is rejected ends the run, and nothing was done", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const runtime = runtimeOf(host, script(pay(1), say("Paid.")));
    const waits = await runtime.run("pay");
    const approval = decided(waits.requests[0], "reject");
    const ended = await runtime.resume(waits.run, { approval });
    expect(ended).toMatchObject({ state: "stopped", reason: "approval_rejected", output: null });
    expect(ended.message).toContain("alice rejected it");
    expect(of.pay.calls).toHaveLength(0);
  });

  it("may be told to the model instead, which then does not get to ask a person again", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const defaults = { stopOn: [] };
    const lines = [pay(1), pay(1), say("I could not pay.")];
    const runtime = runtimeOf(host, script(...lines), { defaults });
    const waits = await runtime.run("pay");
    const approval = decided(waits.requests[0], "reject");
    const ended = await runtime.resume(waits.run, { approval });
    expect(ended).toMatchObject({ state: "completed", errors: 2, output: "I could not pay." });
    const asked = entryTypes(host, waits.run).filter((type) => type === "approval_requested");
    expect(asked).toHaveLength(1);
    expect(of.pay.calls).toHaveLength(0);
  });

  it("that nobody decides in time ends the run; waiting is not work (B035)", async () => {
    const clock = stoppedClock();
    const of = bank();
    const work = async () => {
      clock.pass(5_000);
      return { kind: "done", result: "ok" } as const;
    };
    Object.assign(of.pay.tool, { call: work });
    const host = await made(of, { policy: ASKS, clock });
    const lines = [pay(1), say("Paid.")];
    const limits = { max_active_ms: 60_000, retry_delay_ms: 0 };
    const runtime = runtimeOf(host, script(...lines), { defaults: { limits } });
    const waits = await runtime.run("pay");
    clock.pass(3_600_000);
    const signed = decided(waits.requests[0], "approve", clock);
    const done = await runtime.resume(waits.run, { approval: signed });
    expect(done).toMatchObject({ state: "completed", active_ms: 5_000, total_ms: 3_605_000 });
    const short = await made(bank(), { policy: ASKS, clock, requestSeconds: 60 });
    const other = runtimeOf(short, script(...lines));
    const open = await other.run("pay");
    clock.pass(61_000);
    expect(await other.resume(open.run)).toMatchObject({ reason: "approval_expired" });
  });

  it("that the policy forbids ends the run without asking anybody", async () => {
    const of = bank();
    const deny = { ...FREE, deny: ["tool:effect:bank.pay"] };
    const host = await made(of, { policy: deny });
    const result = await runtimeOf(host, script(pay(1))).run("pay");
    expect(result).toMatchObject({ state: "stopped", reason: "policy_denied", requests: [] });
    const told = runtimeOf(host, script(pay(1), say("No.")), { defaults: { stopOn: [] } });
    expect(await told.run("pay")).toMatchObject({ state: "completed", errors: 1, output: "No." });
  });
});

describe("calls of one turn", () => {
  it("have an outcome each: one that fails leaves the others, and the model sees them in its order", async () => {
    const answers = [
      () => Promise.resolve({ kind: "done", result: "first" } as const),
      () => Promise.reject(new Error("broken")),
      () => Promise.resolve({ kind: "done", result: "third" } as const),
    ];
    let at = 0;
    const lookup = madeTool("look.up", () => answers[at++ % 3]?.() as never);
    const host = await made({ tools: [registration(lookup, "read")] });
    const three = calls(["look.up", { n: 1 }], ["look.up", { n: 2 }], ["look.up", { n: 3 }]);
    const model = script(three, say("Two of three."));
    const result = await runtimeOf(host, model).run("look");
    expect(result).toMatchObject({ state: "completed", errors: 1, tool_calls: 3 });
    const told = model.requests[1]?.messages.slice(-3) ?? [];
    expect(told.map((one) => [one.role, one.role === "tool" && one.content])).toEqual([
      ["tool", "first"],
      ["tool", { error: "tool_threw", message: "broken" }],
      ["tool", "third"],
    ]);
  });

  it("are together only as long as they read: an effect is alone, and what is behind it waits", async () => {
    const under: string[] = [];
    const log: string[] = [];
    const tool = (name: string) =>
      madeTool(name, async (given) => {
        const n = JSON.stringify(given.arguments);
        under.push(n);
        log.push(`${name}${n}: ${under.length}`);
        await new Promise((resolve) => setImmediate(resolve));
        under.splice(under.indexOf(n), 1);
        return { kind: "done", result: n };
      });
    const tools = [registration(tool("r"), "read"), registration(tool("e"), "effect")];
    const host = await made({ tools });
    const order = ["r", "r", "e", "e", "r"].map((name, at) => [name, { at }] as const);
    await runtimeOf(host, script(calls(...order), say("ok"))).run("do");
    expect(log.map((line) => line.replace(/\{.*\}/, ""))).toEqual([
      "r: 1",
      "r: 2",
      "e: 1",
      "e: 1",
      "r: 1",
    ]);
  });
});

/** A tool that is at work until its signal says stop, or for ever. */
function endless(category: "read" | "effect", heeds: boolean) {
  let begun = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const tool = madeTool("slow", ({ signal }) => {
    begun();
    return new Promise((_, reject) => {
      if (heeds) signal.addEventListener("abort", () => reject(new Error("stopped")));
    });
  });
  return { started, tools: [registration(tool, category)], calls: tool.calls };
}

describe("what takes too long", () => {
  it.each([true, false])(
    "a cancelled effect is uncertain, whether its tool heeds the signal (%s)",
    async (heeds) => {
      const slow = endless("effect", heeds);
      const host = await made(slow);
      const runtime = runtimeOf(host, script(call("slow", {}), say("ok")));
      let run = "";
      const going = runtime.run("wait", { onStart: (id) => (run = id) });
      await slow.started;
      expect(await runtime.cancel(run)).toMatchObject({ reason: "uncertain_operation" });
      expect(await going).toMatchObject({ state: "stopped", reason: "uncertain_operation" });
    },
  );

  it("a cancelled read is not, and the run is cancelled; what comes later changes nothing (B039)", async () => {
    const slow = endless("read", false);
    const host = await made(slow);
    const runtime = runtimeOf(host, script(call("slow", {}), say("ok")));
    let run = "";
    const going = runtime.run("wait", { onStart: (id) => (run = id) });
    await slow.started;
    expect(await runtime.cancel(run)).toMatchObject({ state: "cancelled", output: null });
    const entries = entryTypes(host, run);
    expect(await going).toMatchObject({ reason: "user_cancelled" });
    expect(await runtime.resume(run)).toMatchObject({ reason: "user_cancelled" });
    expect(await runtime.cancel(run)).toMatchObject({ reason: "user_cancelled" });
    expect(entryTypes(host, run)).toEqual(entries);
  });

  it("the end of the time breaks a tool off: a read ends the run by that, an effect is uncertain", async () => {
    const limits = { max_active_ms: 1_000_000 };
    for (const [category, reason] of [
      ["read", "max_runtime"],
      ["effect", "uncertain_operation"],
    ] as const) {
      const slow = endless(category, false);
      const { timers, clock, ring } = heldAlarms(1_000_001);
      const host = await made(slow, { clock }, { timers });
      const runtime = runtimeOf(host, script(call("slow", {})), { defaults: { limits } });
      const going = runtime.run("wait");
      await slow.started;
      ring();
      expect(await going).toMatchObject({ state: "stopped", reason });
      expect(slow.calls).toHaveLength(1);
    }
  });

  it("a model that does not answer is asked again, and then the run fails", async () => {
    const host = await made(bank());
    let asked = 0;
    const silent: ChatModel = {
      identity: { provider: "scripted", name: "silent" },
      reply: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    };
    const limits = { model_timeout_ms: 5, model_attempts: 2 };
    const result = await runtimeOf(host, silent, { defaults: { limits } }).run("wait");
    expect(result).toMatchObject({ reason: "provider_error", code: "timeout", model_calls: 2 });
    expect([asked, result.tokens.input]).toEqual([2, "unknown"]);
  });

  it("a pause breaks the model off, lets a tool finish, and the run goes on where it was", async () => {
    const of = bank();
    const host = await made(of);
    const pause = new AbortController();
    Object.assign(of.pay.tool, {
      call: async (given: never) => {
        of.pay.calls.push(given);
        pause.abort();
        return { kind: "done", result: "paid" } as const;
      },
    });
    const lines = [pay(1), say("Paid.")];
    const runtime = runtimeOf(host, script(...lines));
    const paused = await runtime.run("pay", { signal: pause.signal });
    expect(paused).toMatchObject({ state: "paused", reason: null, tool_calls: 1 });
    expect(await runtime.resume(paused.run)).toMatchObject({ output: "Paid.", model_calls: 2 });
    expect(of.pay.calls).toHaveLength(1);
    const during = new AbortController();
    const hangs: ChatModel = {
      ...script(),
      reply: () => {
        during.abort();
        return new Promise(() => undefined);
      },
    };
    const put = await runtimeOf(host, hangs).run("pay", { signal: during.signal });
    expect(put).toMatchObject({ state: "paused", model_calls: 1 });
    const again = await runtimeOf(host, script(say("Now."))).resume(put.run);
    expect(again).toMatchObject({ state: "completed", output: "Now.", model_calls: 2 });
  });
});

describe("notes", () => {
  it("are few and short, shown before the goal, and an answer is remembered once it is one", async () => {
    const host = await made(bank());
    const remembered: unknown[] = [];
    const asked: unknown[] = [];
    const recall = {
      recall: async (query: string, k: number) => {
        asked.push([query, k]);
        return Array.from({ length: 9 }, (_, at) => `note ${at} ${"x".repeat(5_000)}`);
      },
      remember: async (note: unknown) => void remembered.push(note),
    };
    const model = script(say("Yes."));
    const runtime = runtimeOf(host, model, { memory: { recall } });
    const { run } = await runtime.run("Is it so?");
    expect(asked).toEqual([["Is it so?", 5]]);
    const [system, user] = model.requests[0]?.messages ?? [];
    expect([system?.role, user]).toEqual(["system", { role: "user", content: "Is it so?" }]);
    const text = system?.role === "system" ? system.content : "";
    expect([text.split("\n").length, text.length < 5_200]).toEqual([6, true]);
    expect(remembered).toEqual([{ run, goal: "Is it so?", answer: "Yes." }]);
    const stops = runtimeOf(host, script({ say: "" }), { memory: { recall } });
    expect(await stops.run("Is it so?")).toMatchObject({ state: "failed" });
    expect(remembered).toHaveLength(1);
    const without = script(say("Yes."));
    await runtimeOf(host, without).run("Is it so?");
    expect(without.requests[0]?.messages).toHaveLength(1);
  });
});
