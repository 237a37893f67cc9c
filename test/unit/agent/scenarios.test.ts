/** The eight scenarios of an agent loop: each ends with one reason, and its record passes the auditor. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentResult } from "../../../src/app/agent-runtime.ts";
import { auditBundle, sourceOf } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import type { AgentLimits } from "../../../src/model/agent.ts";
import { call, calls, entryTypes, FREE, runtimeOf, say, script } from "../../support/agent.ts";
import { type Bank, bank, hostAt } from "../../support/gate.ts";
import { trust } from "../../support/host.ts";

const READ = call("bank.balance", { account: "7" });
const PAY = call("bank.pay", { account: "7", amount: "50", currency: "EUR" });

let host: Host;
let tools: Bank;
const own = trust();

beforeEach(async () => {
  tools = bank();
  host = await hostAt(null, tools, { policy: FREE, trust: own });
});

afterEach(async () => {
  const report = await auditBundle(sourceOf(partsOf(host).journal), { trust: own });
  await host.close();
  expect(report.findings).toEqual([]);
});

async function run(
  lines: readonly JsonValue[],
  limits: Partial<AgentLimits> = {},
): Promise<AgentResult & { readonly asked: number }> {
  const model = script(...lines);
  const result = await runtimeOf(host, model, { defaults: { limits } }).run("see to account 7");
  const ends = entryTypes(host, result.run).filter((type) => type === "run_ended");
  expect(ends).toEqual(["run_ended"]);
  return { ...result, asked: model.requests.length };
}

const again = (line: JsonValue): JsonValue => ({ ...(line as object), repeat: true });

describe("an agent run", () => {
  it("that gives an answer is completed with it", async () => {
    const result = await run([READ, PAY, say("Paid.")]);
    expect(result).toMatchObject({ state: "completed", reason: "completed", output: "Paid." });
    expect(result).toMatchObject({ steps: 3, tool_calls: 2, errors: 0, partial: null });
    expect(tools.pay.calls.map(({ arguments: args }) => args)).toEqual([
      { account: "7", amount: "50", currency: "EUR" },
    ]);
  });

  it("does not make the third identical call when the limit is three", async () => {
    const result = await run([again(PAY)]);
    expect(result).toMatchObject({ state: "stopped", reason: "repeated_action", asked: 3 });
    expect(tools.pay.calls).toHaveLength(2);
  });

  it("ends when different calls keep answering the same (B033)", async () => {
    const lines = Array.from({ length: 20 }, (_, at) => call("bank.balance", { account: `${at}` }));
    const result = await run(lines, { no_progress: 4 });
    expect(result).toMatchObject({ state: "stopped", reason: "no_progress", asked: 5 });
  });

  it("asks a provider that failed again, and no more often than allowed (B036)", async () => {
    const faults = [{ kind: "rate_limited" }, { kind: "timeout" }, { kind: "unavailable" }];
    const better = await run([{ say: "Done.", fail: faults.slice(0, 2) }]);
    expect(better).toMatchObject({ state: "completed", model_calls: 3, asked: 3, steps: 1 });
    const worse = await run([{ say: "Done.", fail: faults }]);
    expect(worse).toMatchObject({ state: "failed", reason: "provider_error", asked: 3 });
    expect(worse.tokens).toEqual({ input: "unknown", output: "unknown", cached: "unknown" });
  });

  it("does not ask a provider again that refuses", async () => {
    const result = await run([{ say: "Done.", fail: [{ kind: "refused", message: "no key" }] }]);
    expect(result).toMatchObject({ state: "failed", reason: "provider_error", asked: 1 });
    expect(result).toMatchObject({ message: "no key", code: "refused" });
  });

  it("tells the model of a tool that failed, and is completed if it recovers (B040)", async () => {
    const lost = bank();
    await host.close();
    const failing = {
      ...lost.balance.tool,
      call: () => Promise.resolve({ kind: "refused", code: "no_account", message: "no" } as const),
    };
    const [balance, pay] = lost.tools;
    const registered = { ...balance, tool: failing };
    if (balance === undefined || pay === undefined) throw new Error("no tools");
    host = await hostAt(null, { tools: [registered as never, pay] }, { policy: FREE, trust: own });
    const result = await run([READ, PAY, say("Paid.")]);
    expect(result).toMatchObject({ state: "completed", errors: 1, output: "Paid." });
    const distinct = Array.from({ length: 5 }, (_, at) => call("bank.balance", { account: at }));
    const hopeless = await run(distinct);
    expect(hopeless).toMatchObject({ reason: "consecutive_errors", errors: 3, asked: 3 });
  });

  it("runs nothing with arguments that are no JSON, and ends after three of them", async () => {
    const bad = (text: string) => ({ calls: [{ name: "bank.pay", arguments: text }] });
    const result = await run([bad("{"), bad('{"a":1,"a":2}'), bad("[]"), say("Paid.")]);
    expect(result).toMatchObject({ state: "stopped", reason: "consecutive_errors", asked: 3 });
    expect(tools.pay.calls).toHaveLength(0);
  });

  it("ends at its limit of turns, and what it said last is only a part (B037)", async () => {
    const lines = Array.from({ length: 9 }, (_, at) => ({
      say: `Step ${at}.`,
      ...(call("bank.pay", { n: at }) as object),
    }));
    const result = await run(lines, { max_steps: 3 });
    expect(result).toMatchObject({ state: "stopped", reason: "max_steps", asked: 3 });
    expect(result).toMatchObject({ output: null, partial: "Step 2." });
  });
});

describe("limits hold", () => {
  it("a limit of tool calls ends the loop, not only the calls (B032)", async () => {
    const nine = calls(...Array.from({ length: 9 }, (_, at) => ["bank.pay", { n: at }] as const));
    const result = await run([again(nine)], { max_tool_calls: 8 });
    expect(result).toMatchObject({ state: "stopped", reason: "max_steps", asked: 1 });
    expect(tools.pay.calls).toHaveLength(8);
  });

  it("a name that is no tool is answered with those that are, and ends the run (B105)", async () => {
    const model = script(again(call("send_mail", { to: "x" })));
    const result = await runtimeOf(host, model).run("send it");
    expect(result).toMatchObject({ reason: "consecutive_errors", errors: 3, tool_calls: 3 });
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({
      role: "tool",
      error: true,
      content: {
        error: "unknown_tool",
        message: 'there is no tool "send_mail"; there are: bank.balance, bank.pay',
      },
    });
    const other = await runtimeOf(host, script(call("Bank.Pay", {}), say("ok"))).run("send it");
    expect(other.errors).toBe(1);
    expect(tools.pay.calls).toHaveLength(0);
  });

  it.each([
    ["broken", { calls: [{ name: "bank.pay", arguments: '{"account":"7","mode"' }] }],
    ["whole", PAY],
  ])("a reply that was cut off runs nothing, its call %s (B104)", async (_, line) => {
    const result = await run([{ ...(line as object), stop: "length" }, say("Paid.")]);
    expect(result).toMatchObject({ state: "failed", reason: "invalid_model_response", asked: 1 });
    expect(tools.pay.calls).toHaveLength(0);
  });

  it.each([{ say: "" }, { say: "x", stop: "filtered" }, { say: "x", stop: "other" }])(
    "a reply that is none is not taken for an end: %j",
    async (line) => {
      expect(await run([line])).toMatchObject({ reason: "invalid_model_response", output: null });
    },
  );

  it("the same failing steps in a circle bring no progress, and the period is named (B033)", async () => {
    const read = call("bank.balance", { account: "7" });
    const edit = call("bank.edit", { file: "f" });
    const test = call("bank.test", { file: "f" });
    const circle = Array.from({ length: 5 }, () => [read, edit, test]).flat();
    const result = await run(circle, { no_progress: 6 });
    expect(result).toMatchObject({ reason: "no_progress", asked: 7 });
    expect(result.message).toContain("every 3 turns");
  });

  it("alternating calls with the same answers are stopped", async () => {
    const pair = [call("bank.balance", { account: "1" }), call("bank.balance", { account: "2" })];
    const result = await run(Array.from({ length: 10 }, () => pair).flat(), { no_progress: 4 });
    expect(result).toMatchObject({ reason: "no_progress", asked: 5 });
    expect(result.message).toContain("every 2 turns");
  });

  it("white space, the order of members and ids make no other call of it", async () => {
    const texts = ['{"a":1,"b":2}', '{ "b": 2, "a": 1 }', '{"b":2,\n"a":1}'];
    const lines = texts.map((text, at) => ({
      calls: [{ id: `id-${at}`, name: "bank.pay", arguments: text }],
    }));
    const result = await run(lines);
    expect(result.reason).toBe("repeated_action");
    expect(tools.pay.calls).toHaveLength(2);
  });

  it("tokens over the limit end the run before anything more is done", async () => {
    const usage = { input_tokens: 400, output_tokens: 100 };
    const lines = [1, 2, 3].map((n) => ({ ...(call("bank.pay", { n }) as object), usage }));
    const result = await run(lines, { max_total_tokens: 900 });
    expect(result).toMatchObject({ reason: "token_budget_exceeded", asked: 2 });
    expect(result.tokens).toMatchObject({ input: 800, output: 200 });
    expect(tools.pay.calls).toHaveLength(1);
  });

  it("usage that is missing is unknown, and charged with what was set aside", async () => {
    const lines = [1, 2, 3, 4].map((n) => call("bank.pay", { n }));
    const result = await run(lines, { max_total_tokens: 1_000, reserve_tokens: 400 });
    expect(result).toMatchObject({ reason: "token_budget_exceeded", asked: 2 });
    expect(result.tokens).toEqual({ input: "unknown", output: "unknown", cached: "unknown" });
  });
});
