/** Runs that are met at the worst moment: waiting, breaking off, past their lease or their time. */
import { afterEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { partsOf } from "../../../src/host/index.ts";
import { systemTimers } from "../../../src/os/timers.ts";
import type { ChatModel } from "../../../src/ports/chat-model.ts";
import type { PendingRequest } from "../../../src/run/index.ts";
import {
  ASKS,
  agentHosts,
  calls,
  entryTypes,
  pay,
  runtimeOf,
  say,
  script,
} from "../../support/agent.ts";
import { bank, heldAlarms, movedClock, refusal } from "../../support/gate.ts";
import { decision, KEYS, madeTool, registration } from "../../support/host.ts";

const hosts = agentHosts("tail_uncovered");
const { made } = hosts;
afterEach(async () => expect(await hosts.close()).toEqual([]));

function approve(request: PendingRequest | undefined, verdict: "approve" | "reject"): JsonValue {
  if (request === undefined) throw new Error("nothing was asked");
  return decision(request, KEYS.alice, "alice", { decision: verdict });
}

describe("a run that waits for a person", () => {
  it("is not written to by whoever looks after it, however many calls stand behind the one that waits", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const two = calls(
      ["bank.pay", { account: "7", amount: "1", currency: "EUR" }],
      ["bank.pay", { account: "7", amount: "2", currency: "EUR" }],
    );
    const runtime = runtimeOf(host, script(two, pay(3), say("Paid.")));
    const { run, requests } = await runtime.run("pay");
    const before = entryTypes(host, run);
    expect(await runtime.resume(run)).toMatchObject({ state: "approval_pending" });
    expect(entryTypes(host, run)).toEqual(before);
    const first = approve(requests[0], "approve");
    const next = await runtime.resume(run, { approval: first });
    expect([of.pay.calls.length, next.requests.length]).toEqual([2, 1]);
    // The approval of one turn is none of another.
    await expect(refusal(runtime.resume(run, { approval: first }))).resolves.toMatch(
      /^approval_refused/,
    );
    const done = await runtime.resume(run, {
      approval: approve(next.requests[0], "approve"),
    });
    expect(done).toMatchObject({ output: "Paid." });
    expect(of.pay.calls).toHaveLength(3);
  });

  it("can be replayed when it was cancelled, whatever else of its turn was done", async () => {
    const asks = madeTool("ask_first", () => ({ kind: "done", result: 1 }));
    const free = madeTool("look.up", () => ({ kind: "done", result: 2 }));
    const tools = [registration(asks, "read"), registration(free, "read")];
    const host = await made(
      { tools },
      { policy: { ...ASKS, approvable: ["tool:read:ask_first"] } },
    );
    const both = calls(["ask_first", {}], ["look.up", {}]);
    const runtime = runtimeOf(host, script(both, say("ok")));
    const { run, state } = await runtime.run("look");
    expect([state, free.calls.length, asks.calls.length]).toEqual(["approval_pending", 1, 0]);
    expect(runtime.replay(run)).toMatchObject({ ended: false, results: 1 });
    await runtime.cancel(run);
    expect(runtime.replay(run)).toMatchObject({ ended: true, results: 1 });
  });

  it("is cancelled also by who says so while it is about to wait", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const runtime = runtimeOf(host, script(pay(1), say("Paid.")));
    const { journal } = partsOf(host);
    const release = journal.release.bind(journal);
    const cancelled: Promise<unknown>[] = [];
    let run = "";
    Object.assign(journal, {
      release: (lease: never) => {
        if (cancelled.length === 0) cancelled.push(runtime.cancel(run));
        return release(lease);
      },
    });
    await runtime.run("pay", { onStart: (id) => (run = id) });
    const ends = await Promise.all(cancelled);
    expect(ends).toMatchObject([{ state: "cancelled", reason: "user_cancelled" }]);
    expect(entryTypes(host, run).filter((type) => type === "run_ended")).toHaveLength(1);
  });

  it("can be cancelled as soon as its id is known", async () => {
    const of = bank();
    const host = await made(of);
    const runtime = runtimeOf(host, script(pay(1), say("Paid.")));
    const cancelled: Promise<unknown>[] = [];
    const result = await runtime.run("pay", {
      onStart: (run) => {
        cancelled.push(runtime.cancel(run));
      },
    });
    expect(result).toMatchObject({ state: "cancelled" });
    expect(await Promise.all(cancelled)).toMatchObject([{ state: "cancelled" }]);
    expect(of.pay.calls).toHaveLength(0);
  });
});

describe("a lease", () => {
  it("is not lost to a model that takes its time: nobody else may go on meanwhile (B052)", async () => {
    const clock = movedClock();
    const host = await made(bank(), { clock, leaseMs: 1_000 });
    let answer = (): void => undefined;
    const model = script(say("ok"));
    const slow: ChatModel = {
      ...model,
      reply: async (...given) => {
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return model.reply(...given);
      },
    };
    let run = "";
    const limits = { model_timeout_ms: 60_000 };
    const going = runtimeOf(host, slow, { defaults: { limits } }).run("wait", {
      onStart: (id) => (run = id),
    });
    while (partsOf(host).journal.length(run) < 2) await new Promise((next) => setImmediate(next));
    clock.move(59_000);
    expect(await refusal(runtimeOf(host, script(say("no"))).resume(run))).toBe("run_busy");
    answer();
    expect(await going).toMatchObject({ state: "completed", output: "ok", model_calls: 1 });
  });
});

describe("calls that are broken off", () => {
  /** Three reads that end when they are told to; `begun` once all are at work. */
  function three() {
    let left = 3;
    let all = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      all = resolve;
    });
    const slow = madeTool("slow", ({ signal }) => {
      left -= 1;
      if (left === 0) all();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
      });
    });
    const asks = calls(...[1, 2, 3].map((n) => ["slow", { n }] as const));
    return { begun, tools: [registration(slow, "read")], model: script(asks, say("ok")) };
  }

  it("are no errors of theirs: the run was cancelled, and replays to that", async () => {
    const { begun, tools, model } = three();
    const host = await made({ tools });
    const limits = { consecutive_errors: 3, no_progress: 1 };
    const runtime = runtimeOf(host, model, { defaults: { limits } });
    let run = "";
    const going = runtime.run("look", { onStart: (id) => (run = id) });
    await begun;
    expect(await runtime.cancel(run)).toMatchObject({ reason: "user_cancelled" });
    await going;
    expect(runtime.replay(run)).toMatchObject({ ended: true, results: 3 });
  });

  it("at the end of the time end the run by that", async () => {
    const { begun, tools, model } = three();
    const { timers, clock, ring } = heldAlarms(1_000_001);
    const host = await made({ tools }, { clock }, { timers });
    const limits = { max_active_ms: 1_000_000, consecutive_errors: 3, no_progress: 1 };
    const runtime = runtimeOf(host, model, { defaults: { limits } });
    const going = runtime.run("look");
    await begun;
    ring();
    const { run, reason } = await going;
    expect(reason).toBe("max_runtime");
    expect(runtime.replay(run)).toMatchObject({ ended: true });
  });
});

describe("what a tool did", () => {
  it("is lost to a process that slept past its lease: uncertain, and written by the other one (B052)", async () => {
    const clock = movedClock();
    const of = bank();
    let finish = (): void => undefined;
    Object.assign(of.pay.tool, {
      call: async (given: never) => {
        of.pay.calls.push(given);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { kind: "done", result: "paid" } as const;
      },
    });
    const host = await made(of, { clock, leaseMs: 1_000, callMs: 5_000 });
    let run = "";
    const limits = { model_timeout_ms: 1_000 };
    const lines = [pay(1), say("Paid.")];
    const first = runtimeOf(host, script(...lines), { defaults: { limits } }).run("pay", {
      onStart: (id) => (run = id),
    });
    while (of.pay.calls.length === 0) await new Promise((next) => setImmediate(next));
    expect(await refusal(runtimeOf(host, script(...lines)).resume(run))).toBe("run_busy");
    clock.move(7_000);
    const second = await runtimeOf(host, script(...lines)).resume(run);
    expect(second).toMatchObject({ state: "stopped", reason: "uncertain_operation" });
    const entries = entryTypes(host, run);
    finish();
    expect(await refusal(first)).toBe("lease_lost");
    expect(entryTypes(host, run)).toEqual(entries);
    expect(of.pay.calls).toHaveLength(1);
  });
});

describe("the time of a run", () => {
  /** Moves when told, both hands. */
  function hands() {
    const from = Date.now();
    let passed = 0;
    return {
      wallMs: () => from + passed,
      monotonicMs: () => passed,
      pass: (ms: number) => {
        passed += ms;
      },
    };
  }

  it("is counted whole for its family when it breaks off behind an admission (B043)", async () => {
    const clock = hands();
    const of = bank();
    Object.assign(of.pay.tool, {
      call: async () => {
        clock.pass(5_000);
        return { kind: "done", result: "paid" } as const;
      },
    });
    const host = await made(of, { clock });
    const { journal } = partsOf(host);
    const append = journal.append.bind(journal);
    let receipts = 0;
    Object.assign(journal, {
      append: async (request: Parameters<typeof append>[0]) => {
        const receipt = request.entries.some(({ type }) => type === "receipt");
        if (receipt && ++receipts === 2) throw new Error("the process died");
        return append(request);
      },
    });
    const two = calls(["bank.pay", { n: 1 }], ["bank.pay", { n: 2 }]);
    let run = "";
    const runtime = runtimeOf(host, script(two, say("ok")));
    await refusal(runtime.run("pay", { onStart: (id) => (run = id) }));
    const result = await runtime.resume(run);
    expect(result).toMatchObject({ reason: "uncertain_operation", active_ms: 5_000 });
    expect(journal.total(`agent/${run}/active_ms`)).toBe(5_000n);
  });

  it("is no longer than what its family has left (B034)", async () => {
    const clock = hands();
    const of = bank();
    Object.assign(of.pay.tool, {
      call: async () => {
        clock.pass(5_000);
        return { kind: "done", result: "paid" } as const;
      },
    });
    const alarms: number[] = [];
    const deadline: typeof systemTimers.deadline = (ms, end) => {
      alarms.push(ms);
      return systemTimers.deadline(ms, end);
    };
    const host = await made(of, { clock }, { timers: { ...systemTimers, deadline } });
    const limits = { max_active_ms: 7_000 };
    const runtime = runtimeOf(host, script(pay(1), say("ok")), { defaults: { limits } });
    const parent = await runtime.run("pay");
    alarms.length = 0;
    const child = await runtime.run("pay", { parent: parent.run });
    expect(alarms[0]).toBe(2_001);
    expect(child).toMatchObject({ reason: "max_runtime", active_ms: 5_000 });
  });
});
