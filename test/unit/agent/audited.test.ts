/** What the auditor says of an agent's record that lies. */
import { afterEach, describe, expect, it } from "vitest";
import { auditBundle, sourceOf } from "../../../src/audit/index.ts";
import { digestOf } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import { agentHosts, pay, runtimeOf, say, script, TRUST } from "../../support/agent.ts";
import { bank } from "../../support/gate.ts";

const hosts = agentHosts();
const { made } = hosts;
afterEach(() => hosts.close());

describe("the auditor", () => {
  const findings = async (host: Host) => {
    const report = await auditBundle(sourceOf(partsOf(host).journal), { trust: TRUST });
    // What was asked is made up here, or was asked before the record was changed.
    const beside = ["tail_uncovered", "agent_request_differs"];
    return Object.keys(report.codes).filter((code) => !beside.includes(code));
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
    const host = await made(bank());
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
    const host = await made(bank());
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
      ms: 60_000,
    });
    const lies = [
      ["end", "", { result: digestOf("rote-result/v1", "Paid.") }],
      ["length", "Paid.", { result: digestOf("rote-result/v1", "Paid.") }],
      ["end", "Paid.", { result: digestOf("rote-result/v1", "Paid twice.") }],
      ["end", "Paid.", { result: null }],
    ] as const;
    for (const [stop, content, { result }] of lies) {
      const host = await made(bank());
      const { run, write } = await begun(host);
      await write("run_resumed", { owner: "x", from_seq: partsOf(host).journal.length(run) });
      await write("agent_asked", {
        step: 1,
        attempt: 2,
        ms: 60_000,
        request: digestOf("rote-request/v1", null),
      });
      const unknown = ["input", "output", "cached_input", "cache_write"];
      await write("agent_replied", {
        step: 1,
        attempt: 2,
        ms: 60_000,
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
    expect(await findings(host)).toEqual(["call_unasked"]);
  });
});
