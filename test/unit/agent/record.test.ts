/** What is made from an agent's record: replays, traces, transcripts; and what the auditor says of a record that lies. */
import { afterEach, describe, expect, it } from "vitest";
import { replayAgent } from "../../../src/agent/index.ts";
import { recordOf } from "../../../src/app/run-record.ts";
import { auditBundle, sourceOf } from "../../../src/audit/index.ts";
import { digestOf } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import { call, calls, runtimeOf, say, script } from "../../support/agent.ts";
import { type Bank, bank, hostAt, refusal } from "../../support/gate.ts";
import { hostOptions, trust } from "../../support/host.ts";

const own = trust();
const FREE = { ...hostOptions(null, []).policy, profile: "privileged" } as const;
const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
});

async function made(tools: Bank = bank()): Promise<Host> {
  const host = await hostAt(null, tools, { policy: FREE, trust: own });
  hosts.push(host);
  return host;
}

const pay = (n: number): JsonValue =>
  call("bank.pay", { account: "7", amount: `${n}`, currency: "EUR" });
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
    const host = await made();
    const limits = { max_steps: 3, max_total_tokens: 900, reserve_tokens: 0 };
    const runtime = runtimeOf(host, script(...lines), { defaults: { limits } });
    const { run, reason: ended, message } = await runtime.run("pay");
    expect(ended).toBe(reason);
    expect(runtime.replay(run)).toMatchObject({ ended: true, report: { reason, message } });
  });

  it("with another prompt misses, names both requests, and asks nobody (B110)", async () => {
    const host = await made();
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
    const host = await made();
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
    const host = await made();
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
    const host = await made();
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
    const host = await made();
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
    const host = await made();
    const { run } = await runtimeOf(host, script(say(`${"x".repeat(98)}😀${"y".repeat(9)}`))).run(
      "pay",
    );
    const [told] = runtimeOf(host, script())
      .inspect(run)
      .events.filter(({ event }) => event === "replied");
    expect(told?.what).toBe(`"${"x".repeat(98)}\ufffd…" (? + ? tokens)`);
  });

  it("stands among the runs of the host as what it is", async () => {
    const host = await made();
    const { run } = await runtimeOf(host, script(pay(1), say("Paid."))).run("pay");
    const record = recordOf(host, run);
    expect(record).toMatchObject({ mode: "agent", state: "completed", reason: "completed" });
    expect(JSON.stringify(record)).not.toContain("undefined");
  });
});

describe("a transcript", () => {
  it("has talk and calls in their order, results as the model saw them, and no verdict", async () => {
    const host = await made();
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
    const host = await made();
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

describe("the auditor", () => {
  const findings = async (host: Host) => {
    const report = await auditBundle(sourceOf(partsOf(host).journal), { trust: own });
    return Object.keys(report.codes).filter((code) => code !== "tail_uncovered");
  };

  async function begun(
    host: Host,
  ): Promise<{ run: string; write(type: string, body: JsonValue): Promise<void> }> {
    const runtime = runtimeOf(host, { ...script(), reply: () => new Promise(() => undefined) });
    const stop = new AbortController();
    let run = "";
    const going = runtime.run("pay", { onStart: (id) => (run = id), signal: stop.signal });
    while (partsOf(host).journal.length(run) < 2) await new Promise((next) => setImmediate(next));
    stop.abort();
    await going;
    const claimed = await partsOf(host).journal.claim(run);
    if (!claimed.ok) throw new Error("held");
    return {
      run,
      async write(type, body) {
        const entry = { chain: run, type: type as "agent_asked", body };
        await partsOf(host).journal.append({ lease: claimed.value, entries: [entry] });
      },
    };
  }

  it("finds an answer to a turn that nobody asked", async () => {
    const host = await made();
    const { run, write } = await begun(host);
    const from = partsOf(host).journal.length(run);
    await write("run_resumed", { owner: "x", from_seq: from });
    expect(await findings(host)).toEqual([]);
    const response = { id: null, model: null };
    const usage = {
      input_tokens: null,
      output_tokens: null,
      cached_input_tokens: null,
      cache_write_tokens: null,
    };
    const said = { content: "ok", calls: [] };
    await write("agent_replied", {
      step: 1,
      attempt: 2,
      ms: 0,
      stop: "end",
      usage,
      response,
      said,
    });
    expect(await findings(host)).toEqual(["agent_turn_differs"]);
  });

  it("finds an end that its reason contradicts", async () => {
    const host = await made();
    const { run, write } = await begun(host);
    await write("run_resumed", { owner: "x", from_seq: partsOf(host).journal.length(run) });
    await write("run_ended", {
      state: "completed",
      reason: "max_steps",
      failure: { reason: "max_steps", node: null, message: "x" },
      stopped: null,
      result: null,
      ms: 0,
    });
    expect(await findings(host)).toContain("run_end_differs");
  });

  it("finds a completion without an answer, and a result that is not the answer", async () => {
    const ended = (result: JsonValue) => ({
      state: "completed",
      reason: "completed",
      failure: null,
      stopped: null,
      result,
      ms: 0,
    });
    const lies = [
      ["end", "", { result: digestOf("rote-result/v1", "Paid.") }],
      ["length", "Paid.", { result: digestOf("rote-result/v1", "Paid.") }],
      ["end", "Paid.", { result: digestOf("rote-result/v1", "Paid twice.") }],
      ["end", "Paid.", { result: null }],
    ] as const;
    for (const [stop, content, { result }] of lies) {
      const host = await made();
      const { run, write } = await begun(host);
      await write("run_resumed", { owner: "x", from_seq: partsOf(host).journal.length(run) });
      await write("agent_asked", {
        step: 1,
        attempt: 2,
        ms: 0,
        request: digestOf("rote-request/v1", null),
      });
      const unknown = ["input", "output", "cached_input", "cache_write"];
      await write("agent_replied", {
        step: 1,
        attempt: 2,
        ms: 0,
        stop,
        usage: Object.fromEntries(unknown.map((name) => [`${name}_tokens`, null])),
        response: { id: null, model: null },
        said: { content, calls: [] },
      });
      expect(await findings(host)).toEqual([]);
      await write("run_ended", ended(result));
      expect(await findings(host)).toContain("run_end_differs");
    }
  });

  it("finds an operation that the model did not ask for", async () => {
    const of = bank();
    const host = await made(of);
    const parts = partsOf(host);
    const original = parts.journal.append.bind(parts.journal);
    // A host that writes down another reply than the one that it acts on.
    Object.assign(parts.journal, {
      append: (request: Parameters<typeof original>[0]) =>
        original({
          ...request,
          entries: request.entries.map((entry) =>
            entry.type === "agent_replied"
              ? JSON.parse(
                  JSON.stringify(entry).replaceAll('\\"amount\\":\\"1\\"', '\\"amount\\":\\"2\\"'),
                )
              : entry,
          ),
        }),
    });
    await runtimeOf(host, script(pay(1), say("Paid."))).run("pay");
    expect(of.pay.calls).toHaveLength(1);
    expect(await findings(host)).toEqual(["operation_foreign"]);
  });
});
