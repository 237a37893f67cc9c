/** What is made from an agent's record: replays, traces, transcripts. */
import { afterEach, describe, expect, it } from "vitest";
import { replayAgent } from "../../../src/agent/index.ts";
import { recordOf } from "../../../src/app/run-record.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import { agentHosts, call, calls, pay, runtimeOf, say, script } from "../../support/agent.ts";
import { bank, refusal } from "../../support/gate.ts";

const hosts = agentHosts("tail_uncovered");
const { made } = hosts;
afterEach(async () => expect(await hosts.close()).toEqual([]));

const READS = calls(["bank.balance", { account: "1" }], ["bank.balance", { account: "2" }]);
const LINES = [
  { ...(READS as object), say: "I look.", usage: { input_tokens: 10, output_tokens: 2 } },
  { ...(pay(1) as object), fail: [{ kind: "unavailable", message: "busy" }] },
  call("no.tool", {}),
  say("Paid."),
];

describe("a replay", () => {
  it("goes through a run again without a model or a tool, to the same end", async () => {
    const of = bank();
    const host = await made(of);
    const { run, output, steps, tool_calls, errors, tokens } = await runtimeOf(
      host,
      script(...LINES),
    ).run("pay");
    const before = partsOf(host).journal.head();
    const model = script();
    const replayed = runtimeOf(host, model).replay(run);
    expect(replayed).toMatchObject({
      replies: 4,
      results: 3,
      ended: true,
      report: { run, state: "completed", output, steps, tool_calls, errors, tokens },
    });
    expect(model.requests).toEqual([]);
    expect([of.balance.calls.length, of.pay.calls.length]).toEqual([2, 1]);
    expect(partsOf(host).journal.head()).toEqual(before);
  });

  it.each([
    ["repeated_action", [1, 2, 3].map(() => pay(1))],
    ["consecutive_errors", [1, 2, 3].map((n) => call("no.tool", { n }))],
    ["invalid_model_response", [{ say: "cut", stop: "length" }]],
    ["provider_error", [{ say: "x", fail: [{ kind: "refused" }] }]],
    ["token_budget_exceeded", [{ say: "x", usage: { input_tokens: 999, output_tokens: 1 } }]],
    ["max_steps", [pay(1), pay(2), pay(3), pay(4)]],
  ])("comes to the end of a run that ended by %s (B111)", async (reason, lines) => {
    const host = await made(bank());
    const limits = { max_steps: 3, max_total_tokens: 900, reserve_tokens: 0 };
    const runtime = runtimeOf(host, script(...lines), { defaults: { limits } });
    const { run, reason: ended, message } = await runtime.run("pay");
    expect(ended).toBe(reason);
    expect(runtime.replay(run)).toMatchObject({ ended: true, report: { reason, message } });
  });

  it("with another prompt misses, names both requests, and asks nobody (B110)", async () => {
    const host = await made(bank());
    const model = script(...LINES);
    const runtime = runtimeOf(host, model);
    const { run } = await runtime.run("pay");
    const asked = model.requests.length;
    const other = () => runtime.replay(run, { goal: "pay twice" });
    expect(other).toThrow(
      /^Not on record: turn 1: asked is sha256:[0-9a-f]{64}, and the nearest on record, of turn 1, is sha256:[0-9a-f]{64}\.$/,
    );
    expect(await refusal(Promise.resolve().then(other))).toBe("replay_miss");
    expect(model.requests).toHaveLength(asked);
  });

  it("of a run that goes on stops where the record does", async () => {
    const host = await made(bank());
    const pause = new AbortController();
    const model = script(pay(1), say("Paid."));
    const stops = { ...model, reply: model.reply.bind(model) };
    const runtime = runtimeOf(host, {
      ...stops,
      reply: (request, signal) => {
        if (model.requests.length === 1) pause.abort();
        return model.reply(request, signal);
      },
    });
    const { run, state } = await runtime.run("pay", { signal: pause.signal });
    expect(state).toBe("paused");
    expect(runtime.replay(run)).toMatchObject({ ended: false, replies: 1, results: 1 });
  });

  it("matches results by what was called with what, not by their order (B110)", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(...LINES)).run("pay");
    const parts = partsOf(host);
    const entries = parts.journal.read(run);
    const swapped = renumbered(entries);
    const journal = { ...parts.journal, read: () => swapped };
    // Two independent reads of one turn, recorded the other way round.
    expect(replayAgent({ ...parts, journal }, run)).toMatchObject({ ended: true, results: 3 });
  });
});

describe("a record that was changed", () => {
  const read = (host: Host, run: string, from: string, to: string) => {
    const parts = partsOf(host);
    const entries = parts.journal
      .read(run)
      .map((one) =>
        one.entry.type === "agent_replied" || one.entry.type === "agent_started"
          ? { ...one, entry: JSON.parse(JSON.stringify(one.entry).replace(from, to)) }
          : one,
      );
    return hostOf({ ...parts, journal: { ...parts.journal, read: () => entries } });
  };

  it("to ask for another tool with the same arguments is noticed, and nothing is called (B109)", async () => {
    const of = bank();
    const host = await made(of);
    const { run } = await runtimeOf(host, script(pay(1), say("Paid."))).run("pay");
    const other = read(host, run, '"name":"bank.pay"}', '"name":"bank.balance"}');
    const runtime = runtimeOf(other, script());
    const length = partsOf(host).journal.length(run);
    const looks: readonly (() => unknown)[] = [
      () => runtime.replay(run),
      () => runtime.inspect(run),
      () => runtime.export(run),
      () => runtime.result(run),
      () => runtime.spans(run),
    ];
    for (const look of looks) {
      expect(look).toThrow(/call 0 is of bank\.balance, not of bank\.pay/);
      expect(await refusal(Promise.resolve().then(look))).toBe("journal_damaged");
    }
    expect([of.balance.calls.length, of.pay.calls.length]).toEqual([0, 1]);
    expect(partsOf(host).journal.length(run)).toBe(length);
  });

  it("to be of other rules is refused as that, and stays what it is (B048, B111)", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(pay(1), say("Paid."))).run("pay");
    const other = runtimeOf(read(host, run, '"version":1', '"version":2'), script());
    const looks: readonly (() => unknown)[] = [
      () => other.resume(run),
      () => other.cancel(run),
      () => other.replay(run),
      () => other.inspect(run),
    ];
    for (const look of looks) {
      expect(await refusal(Promise.resolve().then(look))).toBe("other_semantics");
    }
  });
});

/** The receipts of the first two calls in the other order, with the chain made whole again in memory. */
function renumbered(entries: ReturnType<ReturnType<typeof partsOf>["journal"]["read"]>) {
  const at = entries.flatMap(({ entry }, index) => (entry.type === "receipt" ? [index] : []));
  const [first = 0, second = 0] = at;
  const order = entries.map((_, index) =>
    index === first ? second : index === second ? first : index,
  );
  let prev = entries[0]?.entry.prev ?? "";
  return order.map((from, seq) => {
    const one = entries[from];
    if (one === undefined) throw new Error("no entry");
    const entry = { ...one.entry, seq, prev };
    prev = one.hash;
    return { ...one, entry };
  });
}

describe("a trace", () => {
  it("has every entry with the state it led to, and what became of every call", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(...LINES)).run("pay");
    const trace = runtimeOf(host, script()).inspect(run);
    expect(trace.events.map(({ event, state }) => `${event} -> ${state}`)).toEqual([
      "started -> created",
      "asked -> model_pending",
      "replied -> decision_received",
      "admitted -> tool_executing",
      "admitted -> tool_executing",
      "settled -> tool_executing",
      "settled -> observation_recorded",
      "asked -> model_pending",
      "unanswered -> model_pending",
      "asked -> model_pending",
      "replied -> decision_received",
      "admitted -> tool_executing",
      "settled -> observation_recorded",
      "asked -> model_pending",
      "replied -> observation_recorded",
      "asked -> model_pending",
      "replied -> decision_received",
      "ended -> completed",
    ]);
    expect(
      trace.calls.map(({ tool, outcome, code, attempts }) => [tool, outcome, code, attempts]),
    ).toEqual([
      ["bank.balance", "done", null, 1],
      ["bank.balance", "done", null, 1],
      ["bank.pay", "done", null, 1],
      ["no.tool", "invalid", "unknown_tool", 0],
    ]);
    expect(trace.events[8]?.what).toBe("unavailable: busy");
    expect(trace.report).toMatchObject({ model_calls: 5, steps: 4, errors: 1 });
    const receipts = trace.calls.flatMap(({ receipt }) => receipt ?? []);
    expect(new Set(receipts).size).toBe(3);
  });

  it("leaves no half of a character where it cuts short what was said", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(say(`${"x".repeat(98)}😀${"y".repeat(9)}`))).run(
      "pay",
    );
    const [told] = runtimeOf(host, script())
      .inspect(run)
      .events.filter(({ event }) => event === "replied");
    expect(told?.what).toBe(`"${"x".repeat(98)}\ufffd…" (? + ? tokens)`);
  });

  it("stands among the runs of the host as what it is", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(pay(1), say("Paid."))).run("pay");
    const record = recordOf(host, run);
    expect(record).toMatchObject({ mode: "agent", state: "completed", reason: "completed" });
    expect(JSON.stringify(record)).not.toContain("undefined");
  });
});

describe("a transcript", () => {
  it("has talk and calls in their order, results as the model saw them, and no verdict", async () => {
    const host = await made(bank());
    const { run } = await runtimeOf(host, script(...LINES)).run("pay");
    const transcript = runtimeOf(host, script()).export(run);
    expect(transcript).toMatchObject({
      type: "rote-transcript/v1",
      task_id: run,
      agent: "scripted:test",
      instruction: "pay",
      turns: [
        { user: "pay" },
        { assistant: "I look." },
        { call: 0 },
        { call: 1 },
        { call: 2 },
        { call: 3 },
        { assistant: "Paid." },
      ],
      final: "Paid.",
      verified: false,
      mutations: ["bank.pay"],
    });
    expect(
      transcript.tool_calls.map(({ name, result, error, category }) => [
        name,
        result,
        error,
        category,
      ]),
    ).toMatchObject([
      ["bank.balance", { amount: "1000" }, undefined, "read"],
      ["bank.balance", { amount: "1000" }, undefined, "read"],
      ["bank.pay", "paid 1", undefined, "effect"],
      ["no.tool", { error: "unknown_tool" }, true, null],
    ]);
  });

  it("of a run that was stopped has what was done in its last turn too", async () => {
    const host = await made(bank());
    const three = calls(["bank.pay", { n: 1 }], ["bank.pay", { n: 1 }], ["bank.pay", { n: 1 }]);
    const runtime = runtimeOf(host, script(three));
    const { run } = await runtime.run("pay");
    const { tool_calls: told, final, state } = runtime.export(run);
    expect([final, state]).toEqual([null, "stopped"]);
    expect(told.map(({ outcome, result }) => [outcome, result])).toEqual([
      ["done", "paid 1"],
      ["done", "paid 2"],
      ["not_run", { error: "open" }],
    ]);
  });
});
