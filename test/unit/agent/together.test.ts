/** Several effects of one turn that wait for one signature. */
import { afterEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { fileDecision, partsOf } from "../../../src/host/index.ts";
import type { PendingRequest } from "../../../src/run/index.ts";
import {
  ASKS,
  agentHosts,
  balance,
  calls,
  entryTypes,
  runtimeOf,
  say,
  script,
} from "../../support/agent.ts";
import { directories } from "../../support/directories.ts";
import { bank, refusal } from "../../support/gate.ts";
import { decision, KEYS, madeTool, registration } from "../../support/host.ts";

const hosts = agentHosts("tail_uncovered");
const folders = directories();
const { made } = hosts;
afterEach(async () => {
  expect(await hosts.close()).toEqual([]);
  folders.remove();
});

const paying = (amount: number, account = "7") =>
  ["bank.pay", { account, amount: `${amount}`, currency: "EUR" }] as const;

function decided(requests: readonly PendingRequest[], change: object = {}): JsonValue {
  const [request] = requests;
  if (request === undefined) throw new Error("nothing was asked");
  return decision(request, KEYS.alice, "alice", change);
}

describe("effects of one turn that need an approval", () => {
  it("are shown together word for word, and one signature lets each of them pass once", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const turn = calls(paying(1), balance(7), paying(2));
    const runtime = runtimeOf(host, script(turn, say("Paid.")));
    const waits = await runtime.run("pay");
    expect(waits.requests.map(({ operations }) => operations.length)).toEqual([2]);
    expect(waits.requests[0]?.text).toMatch(/"amount": *"1".*"amount": *"2"/su);
    const done = await runtime.resume(waits.run, { approval: decided(waits.requests) });
    expect(done).toMatchObject({ state: "completed", output: "Paid." });
    expect(of.pay.calls.map(({ arguments: args }) => (args as { amount: string }).amount)).toEqual([
      "1",
      "2",
    ]);
    const types = entryTypes(host, waits.run);
    expect(types.filter((type) => type === "approval_requested")).toHaveLength(1);
    expect(types.filter((type) => type === "admitted")).toHaveLength(3);
  });

  it("are all refused when it is rejected: the run ends, or its model is told of each", async () => {
    for (const [stopOn, state, errors] of [
      [["refused"], "stopped", 1],
      [[], "completed", 2],
    ] as const) {
      const of = bank();
      const host = await made(of, { policy: ASKS });
      const lines = [calls(paying(1), paying(2)), say("I could not.")];
      const runtime = runtimeOf(host, script(...lines), { defaults: { stopOn } });
      const waits = await runtime.run("pay");
      const approval = decided(waits.requests, { decision: "reject" });
      const ended = await runtime.resume(waits.run, { approval });
      expect(ended).toMatchObject({ state, errors, requests: [] });
      expect(of.pay.calls).toHaveLength(0);
      const types = entryTypes(host, waits.run);
      expect(types.filter((type) => type === "approval_requested")).toHaveLength(1);
    }
  });

  it("are not let through by a signature over other operations, fewer or more of them", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const lines = [calls(paying(1), paying(2)), say("Paid.")];
    const runtime = runtimeOf(host, script(...lines));
    const { run, requests } = await runtime.run("pay");
    const [first = "", second = ""] = requests[0]?.operations ?? [];
    const other = `sha256:${"0".repeat(64)}`;
    for (const operations of [[first, other], [first], [second, first], [first, second, other]]) {
      const resumed = runtime.resume(run, { approval: decided(requests, { operations }) });
      expect(await refusal(resumed)).toBe("approval_refused: wrong_operations");
    }
    expect(of.pay.calls).toHaveLength(0);
    expect(runtime.result(run).requests).toHaveLength(1);
  });

  it("are all asked for anew, and together, when the host has changed since", async () => {
    const directory = folders.fresh();
    const of = bank();
    const lines = [calls(paying(1), paying(2)), say("Paid.")];
    const before = await made(of, { policy: ASKS }, {}, directory);
    const { run, requests } = await runtimeOf(before, script(...lines)).run("pay");
    expect(await hosts.closed(before)).toEqual([]);
    const budget = { run: { effects: 5 }, host: {} };
    const host = await made(of, { policy: ASKS, budget }, {}, directory);
    const runtime = runtimeOf(host, script(...lines));
    const again = await runtime.resume(run, { approval: decided(requests) });
    expect(again.requests).toMatchObject([{ replaces: "budget_changed" }]);
    expect([again.requests[0]?.operations.length, of.pay.calls.length]).toEqual([2, 0]);
    const done = await runtime.resume(run, { approval: decided(again.requests) });
    expect([done.output, of.pay.calls.length]).toEqual(["Paid.", 2]);
  });

  it("use up as many approvals as the policy wants of them, each of them for every effect", async () => {
    const approvals = { required: 2, requester_may_approve: false };
    const host = await made(bank(), { policy: { ...ASKS, approvals } });
    const runtime = runtimeOf(host, script(calls(paying(1), paying(2)), say("Paid.")));
    const { run, requests } = await runtime.run("pay");
    const [request] = requests;
    if (request === undefined) throw new Error("nothing was asked");
    await fileDecision(partsOf(host), decision(request, KEYS.bob, "bob"));
    await runtime.resume(run, { approval: decided(requests) });
    const used = partsOf(host)
      .journal.read(run)
      .flatMap(({ entry }) => (entry.type === "admitted" ? [entry.body] : []))
      .map((body) => (body as { readonly approvals: readonly JsonValue[] }).approvals.length);
    expect(used).toEqual([2, 2]);
  });

  it("that were approved are no approval of the next turn's", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const lines = [calls(paying(1), paying(2)), calls(paying(3)), say("Paid.")];
    const runtime = runtimeOf(host, script(...lines));
    const { run, requests } = await runtime.run("pay");
    const approval = decided(requests);
    const next = await runtime.resume(run, { approval });
    expect([next.state, of.pay.calls.length]).toEqual(["approval_pending", 2]);
    expect(next.requests[0]?.operations).toHaveLength(1);
    expect(await refusal(runtime.resume(run, { approval }))).toMatch(/^approval_refused/u);
    await runtime.cancel(run);
  });

  it("are gone on with by another process behind the one that was done, without asking again", async () => {
    const directory = folders.fresh();
    const of = bank();
    const lines = [calls(paying(1), paying(2), paying(3)), say("Paid.")];
    const host = await made(of, { policy: ASKS }, {}, directory);
    const stop = new AbortController();
    Object.assign(of.pay.tool, {
      call: async ({ arguments: args }: { arguments: JsonValue }) => {
        of.pay.calls.push({ arguments: args } as never);
        stop.abort();
        return { kind: "done", result: `paid ${of.pay.calls.length}` } as const;
      },
    });
    const runtime = runtimeOf(host, script(...lines));
    const { run, requests } = await runtime.run("pay");
    const approval = decided(requests);
    const left = await runtime.resume(run, { approval, signal: stop.signal });
    expect([left.state, of.pay.calls.length, left.requests.length]).toEqual(["paused", 1, 0]);
    expect(await hosts.closed(host)).toEqual([]);
    const other = await made(of, { policy: ASKS }, {}, directory);
    const done = await runtimeOf(other, script(...lines)).resume(run);
    expect([done.output, of.pay.calls.length]).toEqual(["Paid.", 3]);
  });

  it("are shown as far as a limit of the run lets them come, and no further", async () => {
    const of = bank();
    const host = await made(of, { policy: ASKS });
    const turn = calls(paying(1), paying(1), paying(1), paying(2));
    const runtime = runtimeOf(host, script(turn, say("Paid.")));
    const { run, requests } = await runtime.run("pay");
    expect(requests[0]?.operations).toHaveLength(2);
    const ended = await runtime.resume(run, { approval: decided(requests) });
    expect([ended.reason, of.pay.calls.length]).toEqual(["repeated_action", 2]);
  });

  it("are shown as far as the budget lasts for all of them together", async () => {
    const of = bank();
    const budget = { run: { effects: 2 }, host: {} };
    const host = await made(of, { policy: ASKS, budget });
    const turn = calls(paying(1), paying(2), paying(3));
    const runtime = runtimeOf(host, script(turn, say("Paid.")));
    const { run, requests } = await runtime.run("pay");
    expect(requests[0]?.operations).toHaveLength(2);
    const ended = await runtime.resume(run, { approval: decided(requests) });
    expect([ended.reason, of.pay.calls.length]).toEqual(["budget_exceeded", 2]);
  });

  it("are shown without what needs none, what the policy forbids, and what a tool cannot be called with", async () => {
    const of = bank();
    const free = madeTool("note.add", () => ({ kind: "done", result: "noted" }));
    const never = madeTool("bank.close", () => ({ kind: "done", result: "closed" }));
    const policy = { ...ASKS, grants: ["tool:effect:note.add"], deny: ["tool:effect:bank.close"] };
    const tools = [...of.tools, registration(free, "effect"), registration(never, "effect")];
    const host = await made({ tools }, { policy });
    const turn = calls(paying(1), ["note.add", {}], ["bank.close", {}], paying(2));
    const defaults = { stopOn: [] };
    const runtime = runtimeOf(host, script(turn, say("Done.")), { defaults });
    const { run, requests } = await runtime.run("pay");
    expect(requests[0]?.operations).toHaveLength(2);
    const done = await runtime.resume(run, { approval: decided(requests) });
    expect(done).toMatchObject({ output: "Done.", errors: 1 });
    expect([of.pay.calls.length, free.calls.length, never.calls.length]).toEqual([2, 1, 0]);
  });

  it("are not shown where one in front of them would end the run: refused, or over a budget", async () => {
    const of = bank();
    const free = madeTool("note.add", () => ({ kind: "done", result: "noted" }));
    const never = madeTool("bank.close", () => ({ kind: "done", result: "closed" }));
    const policy = { ...ASKS, grants: ["tool:effect:note.add"], deny: ["tool:effect:bank.close"] };
    const tools = [...of.tools, registration(free, "effect"), registration(never, "effect")];
    const budget = { run: { effects: 2 }, host: {} };
    for (const [turn, reason] of [
      [calls(paying(1), ["bank.close", {}], paying(2)), "policy_denied"],
      [calls(paying(1), ["note.add", {}], paying(2)), "budget_exceeded"],
    ] as const) {
      const host = await made({ tools }, { policy, budget });
      const runtime = runtimeOf(host, script(turn, say("Done.")));
      const { run, requests } = await runtime.run("pay");
      expect(requests[0]?.operations).toHaveLength(1);
      const ended = await runtime.resume(run, { approval: decided(requests) });
      expect(ended.reason).toBe(reason);
    }
  });

  it("stand in the trace of the run as one request", async () => {
    const host = await made(bank(), { policy: ASKS });
    const runtime = runtimeOf(host, script(calls(paying(1), paying(2)), say("Paid.")));
    const { run, requests } = await runtime.run("pay");
    await runtime.resume(run, { approval: decided(requests) });
    const told = runtime.inspect(run).events.filter(({ event }) => event === "requested");
    expect(told).toMatchObject([{ what: "approval of call 0 of bank.pay, call 1 of bank.pay" }]);
    expect(runtime.replay(run)).toMatchObject({ ended: true, results: 2 });
  });
});
