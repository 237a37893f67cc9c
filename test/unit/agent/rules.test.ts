/** The rules of a run one by one: what begins it, what it is held to, and what a change behind its back does. */
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { AgentOptions } from "../../../src/agent/index.ts";
import { assembleHost } from "../../../src/app/create-host.ts";
import { partsOf } from "../../../src/host/index.ts";
import { systemTimers } from "../../../src/os/timers.ts";
import type { ChatModel } from "../../../src/ports/chat-model.ts";
import {
  ASKS,
  agentHosts,
  calls,
  entryTypes,
  FREE,
  pay,
  runtimeOf,
  say,
  script,
  TRUST,
} from "../../support/agent.ts";
import { directories } from "../../support/directories.ts";
import { bank, refusal } from "../../support/gate.ts";
import { decision, hostOptions, KEYS, madeTool, registration } from "../../support/host.ts";

const hosts = agentHosts("nothing_to_verify", "tail_uncovered");
const { made } = hosts;
afterEach(async () => expect(await hosts.close()).toEqual([]));
const folders = directories();
afterAll(() => folders.remove());

/** A host whose alarms do not ring by themselves. */
async function alarmed() {
  const alarms: { readonly ms: number; readonly ring: () => void }[] = [];
  const deadline = (ms: number, ring: () => void) => {
    alarms.push({ ms, ring });
    return () => undefined;
  };
  const options = hostOptions(null, bank().tools, { policy: FREE, trust: TRUST });
  const host = await assembleHost(options, { timers: { ...systemTimers, deadline } });
  hosts.add(host);
  return { host, alarms };
}

describe("a run begins with", () => {
  it.each<[string, string, AgentOptions]>([
    ["bad_goal", " \n", {}],
    ["bad_limit", "pay", { stopOn: ["never"] as never }],
    ["bad_limit", "pay", { keys: { "bank.pay": ["amount"] } }],
    ["bad_limit", "pay", { limits: { steps: 1 } as never }],
    ["bad_limit", "pay", { limits: { max_steps: 0 } }],
    ["bad_limit", "pay", { limits: { max_steps: null } as never }],
    ["bad_limit", "pay", { limits: { max_total_tokens: 10, reserve_tokens: 11 } }],
    ["tool_missing", "pay", { tools: ["bank.rob"] }],
    ["tool_missing", "pay", { tools: ["bank.balance"], polls: ["bank.pay"] }],
    ["tool_missing", "pay", { tools: ["bank.balance"], keys: { "bank.pay": ["/amount"] } }],
    ["unknown_run", "pay", { parent: "run-none" }],
    ["unknown_run", "pay", { parent: "host" }],
  ])("%s, or with nothing: %j %j", async (code, goal, options) => {
    const host = await made(bank());
    const model = script(say("ok"));
    const runtime = runtimeOf(host, model);
    expect(await refusal(runtime.run(goal, options))).toBe(code);
    expect([runtime.list(), model.requests]).toEqual([[], []]);
  });

  it.each([0, 51, 1.5, Number.NaN])("no %s notes", async (recallK) => {
    const host = await made(bank());
    const recall = { recall: async () => ["x"], remember: async () => undefined };
    const runtime = runtimeOf(host, script(say("ok")), { memory: { recall, recallK } });
    expect(await refusal(runtime.run("pay"))).toBe("bad_limit");
    expect(runtime.list()).toEqual([]);
  });
});

describe("what was shown", () => {
  it("is asked for anew when the host has changed since, and what was approved before is not done", async () => {
    const directory = folders.fresh();
    const of = bank();
    const lines = [pay(1), say("Paid.")];
    const before = await made(of, { policy: ASKS }, {}, directory);
    const { run, requests } = await runtimeOf(before, script(...lines)).run("pay");
    const [request] = requests;
    if (request === undefined) throw new Error("nothing was asked");
    expect(await hosts.closed(before)).toEqual([]);
    const host = await made(
      of,
      { policy: ASKS, budget: { run: { effects: 5 }, host: {} } },
      {},
      directory,
    );
    const runtime = runtimeOf(host, script(...lines));
    const approval = decision(request, KEYS.alice, "alice");
    const again = await runtime.resume(run, { approval });
    expect(again).toMatchObject({ state: "approval_pending" });
    expect(again.requests.map(({ nonce }) => nonce)).not.toContain(request.nonce);
    expect(again.requests).toHaveLength(1);
    expect(of.pay.calls).toHaveLength(0);
    const [anew] = again.requests;
    if (anew === undefined) throw new Error("nothing was asked anew");
    const done = await runtime.resume(run, { approval: decision(anew, KEYS.alice, "alice") });
    expect([done.output, of.pay.calls.length]).toEqual(["Paid.", 1]);
  });
});

describe("what ends a run, where the application says so", () => {
  const failing = () => {
    const of = bank();
    Object.assign(of.pay.tool, {
      call: async () => ({ kind: "not_applied", code: "closed", message: "come later" }) as const,
    });
    return of;
  };

  it("is a tool that failed", async () => {
    const host = await made(failing());
    const lines = [pay(1), say("No.")];
    const told = await runtimeOf(host, script(...lines)).run("pay");
    expect(told).toMatchObject({ state: "completed", errors: 1 });
    const strict = runtimeOf(host, script(...lines), { defaults: { stopOn: ["tool_error"] } });
    const ended = await strict.run("pay");
    expect(ended).toMatchObject({ state: "failed", reason: "tool_error", code: "closed" });
    expect(ended.message).toBe("call 0 of bank.pay: come later");
  });
});

describe("a provider that fails", () => {
  it("is waited for as long as it says, within bounds, and twice as long each time otherwise", async () => {
    const { host, alarms } = await alarmed();
    const fail = [
      { kind: "unavailable" },
      { kind: "unavailable" },
      { kind: "rate_limited", retry_after_ms: 7_000 },
      { kind: "rate_limited", retry_after_ms: 9_000_000 },
    ];
    const limits = { retry_delay_ms: 100, model_attempts: 5, max_active_ms: 10_000_000 };
    const runtime = runtimeOf(host, script({ say: "ok", fail }), { defaults: { limits } });
    const going = runtime.run("say ok");
    const waits: number[] = [];
    while (waits.length < 4) {
      await new Promise((next) => setImmediate(next));
      const own = [limits.max_active_ms + 1, 120_000];
      const wait = alarms.filter(({ ms }) => !own.includes(ms)).at(waits.length);
      if (wait === undefined) continue;
      waits.push(wait.ms);
      wait.ring();
    }
    expect(await going).toMatchObject({ output: "ok", model_calls: 5 });
    expect(waits).toEqual([100, 200, 7_000, 60_000]);
  });

  it("is not waited for by a run that is put down", async () => {
    const { host, alarms } = await alarmed();
    const limits = { retry_delay_ms: 100 };
    const model = script({ say: "ok", fail: [{ kind: "unavailable" }] });
    const stop = new AbortController();
    const runtime = runtimeOf(host, model, { defaults: { limits } });
    const going = runtime.run("say ok", { signal: stop.signal });
    while (alarms.every(({ ms }) => ms !== 100)) await new Promise((next) => setImmediate(next));
    stop.abort();
    const { state, run } = await going;
    expect([state, model.requests.length]).toEqual(["paused", 1]);
    const again = runtime.resume(run);
    while (alarms.filter(({ ms }) => ms === 100).length < 2) {
      await new Promise((next) => setImmediate(next));
    }
    alarms.findLast(({ ms }) => ms === 100)?.ring();
    expect(await again).toMatchObject({ output: "ok", model_calls: 2 });
  });

  it("has no more attempts by dying with its process each time (B034)", async () => {
    const host = await made(bank());
    const { journal } = partsOf(host);
    const append = journal.append.bind(journal);
    Object.assign(journal, {
      append: (request: Parameters<typeof append>[0]) =>
        request.entries.some(({ type }) => type === "agent_replied")
          ? Promise.reject(new Error("the process died"))
          : append(request),
    });
    const model = script(say("ok"));
    const limits = { model_attempts: 3 };
    const runtime = runtimeOf(host, model, { defaults: { limits } });
    let run = "";
    await refusal(runtime.run("say ok", { onStart: (id) => (run = id) }));
    for (let more = 0; more < 5; more += 1) await refusal(runtime.resume(run));
    expect(runtime.result(run)).toMatchObject({ reason: "provider_error", model_calls: 3 });
    expect(model.requests).toHaveLength(3);
  });
});

describe("limits", () => {
  it("bound how many reads are at work together", async () => {
    let [under, most] = [0, 0];
    const look = madeTool("look", async () => {
      under += 1;
      most = Math.max(most, under);
      await new Promise((next) => setImmediate(next));
      under -= 1;
      return { kind: "done", result: 1 };
    });
    const host = await made({ tools: [registration(look, "read")] });
    const seven = calls(...[1, 2, 3, 4, 5, 6, 7].map((n) => ["look", { n }] as const));
    const limits = { parallel_calls: 3 };
    await runtimeOf(host, script(seven, say("ok")), { defaults: { limits } }).run("look");
    expect([most, look.calls.length]).toEqual([3, 7]);
  });

  it.each([
    ["max_input_tokens", { input_tokens: 60, output_tokens: 1 }],
    ["max_output_tokens", { input_tokens: 1, output_tokens: 60 }],
  ])("hold for %s by themselves", async (name, usage) => {
    const of = bank();
    const host = await made(of);
    const lines = [1, 2, 3].map((n) => ({ ...(pay(n) as object), usage }));
    const limits = { [name]: 100, reserve_tokens: 0 };
    const result = await runtimeOf(host, script(...lines), { defaults: { limits } }).run("pay");
    expect(result).toMatchObject({ reason: "token_budget_exceeded", model_calls: 2 });
    expect(of.pay.calls).toHaveLength(1);
  });

  it("tell the provider how much it may write at most, less with each turn", async () => {
    const host = await made(bank());
    const usage = { input_tokens: 20, output_tokens: 10 };
    const model = script(
      { ...(pay(1) as object), usage },
      { ...(pay(2) as object), usage },
      say("ok"),
    );
    const limits = { max_total_tokens: 100, max_reply_tokens: 50, reserve_tokens: 5 };
    await runtimeOf(host, model, { defaults: { limits } }).run("pay");
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([50, 50, 40]);
  });

  it("of tokens are kept by a provider that says that it used none, as far as it says so", async () => {
    const host = await made(bank());
    const usage = { input_tokens: 0, output_tokens: null };
    const model: ChatModel = {
      identity: { provider: "scripted", name: "test" },
      reply: async ({ messages }) => ({
        content: "",
        calls: [{ id: "a", name: "bank.pay", arguments: `{"n":${messages.length}}` }],
        stop: "calls",
        usage: { ...usage, cached_input_tokens: null, cache_write_tokens: null },
        response: { id: null, model: null },
      }),
    };
    const limits = { max_total_tokens: 100, reserve_tokens: 30 };
    const result = await runtimeOf(host, model, { defaults: { limits } }).run("pay");
    expect(result).toMatchObject({ reason: "token_budget_exceeded", model_calls: 3 });
    expect(result.tokens).toMatchObject({ input: 0, output: "unknown" });
  });
});

describe("markers of progress", () => {
  it("belong to the run: nobody goes on with it without them", async () => {
    const host = await made(bank());
    const stop = new AbortController();
    const model = script(pay(1), say("ok"));
    const runtime = runtimeOf(host, model);
    const { run, state } = await runtime.run("pay", {
      signal: stop.signal,
      progress: () => {
        stop.abort();
        return 1;
      },
    });
    expect(state).toBe("paused");
    const before = entryTypes(host, run);
    expect(await refusal(runtime.resume(run))).toBe("other_model");
    expect(entryTypes(host, run)).toEqual(before);
    expect(await runtime.resume(run, { progress: () => 2 })).toMatchObject({ output: "ok" });
  });
});
