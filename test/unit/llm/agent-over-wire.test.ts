/** The agent loop over real requests: what the provider's server saw, what the tools did, what is on record. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { openChatModel } from "../../../src/app/llm.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import { FREE, runtimeOf } from "../../support/agent.ts";
import { type Bank, bank, hostAt } from "../../support/gate.ts";
import {
  anthropicMessage,
  brokenOff,
  completion,
  json,
  type ProviderServer,
  providerServer,
} from "../../support/provider-server.ts";

const KEY = "sk-test-Zq58f0c2Ab9x";
const PAYMENT = '{"account":"7","amount":"50","currency":"EUR"}';

let server: ProviderServer;
let host: Host;
let tools: Bank;

beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  tools = bank();
  host = await hostAt(null, tools, { policy: FREE });
});
afterEach(() => host.close());

const openai = () =>
  openChatModel("openai:gpt-test", {
    variables: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` },
    acceptCost: true,
  });

const asks = (...texts: readonly string[]) =>
  completion(
    {
      content: null,
      tool_calls: texts.map((text) => ({
        id: "t0",
        type: "function",
        function: { name: "bank_pay", arguments: text },
      })),
    },
    { finish: "tool_calls", usage: { prompt_tokens: 100, completion_tokens: 10 } },
  );
const says = (content: string) =>
  completion({ content }, { usage: { prompt_tokens: 200, completion_tokens: 20 } });

it("a tool runs once for each call, and the provider is told what came of it", async () => {
  server.answers(json(asks(PAYMENT)), json(says("Paid.")));
  const result = await runtimeOf(host, await openai()).run("pay 50 to account 7");
  expect(result).toMatchObject({ state: "completed", output: "Paid.", steps: 2 });
  expect(result.tokens).toEqual({ input: 300, output: 30, cached: "unknown" });
  expect(tools.pay.calls).toHaveLength(1);
  const [, second] = server.received;
  expect(second?.body["messages"]).toMatchObject([
    { role: "user", content: "pay 50 to account 7" },
    { role: "assistant", tool_calls: [{ id: "t0", function: { arguments: PAYMENT } }] },
    { role: "tool", tool_call_id: "t0" },
  ]);
});

it("every request to the provider is an attempt on record, and no more are made than that (B036)", async () => {
  server.answers(
    json({}, { status: 429, headers: { "retry-after": "0" } }),
    brokenOff,
    json(says("Fine.")),
  );
  const runtime = runtimeOf(host, await openai());
  const better = await runtime.run("anything");
  expect(better).toMatchObject({ state: "completed", model_calls: 3 });
  expect(server.received).toHaveLength(3);
  server.answers(json({}, { status: 500 }));
  const worse = await runtime.run("anything");
  expect(worse).toMatchObject({ state: "failed", reason: "provider_error", model_calls: 3 });
  expect(server.received).toHaveLength(3);
});

it("a reply that was cut off is not done, even where its arguments look whole (B104)", async () => {
  for (const text of ['{"account":"7","amou', PAYMENT]) {
    const cut = asks(text);
    const [choice] = cut["choices"] as { finish_reason: string }[];
    if (choice !== undefined) choice.finish_reason = "length";
    server.answers(json(cut));
    const result = await runtimeOf(host, await openai()).run("pay");
    expect(result).toMatchObject({ state: "failed", reason: "invalid_model_response" });
  }
  expect(tools.pay.calls).toHaveLength(0);
});

it("broken arguments reach no tool, and the model is told what is wrong with them", async () => {
  server.answers(json(asks('{"account":"7",}')), json(says("I give up.")));
  const result = await runtimeOf(host, await openai()).run("pay");
  expect(result).toMatchObject({ state: "completed", errors: 1 });
  expect(tools.pay.calls).toHaveLength(0);
  expect(JSON.stringify(server.received[1]?.body["messages"])).toContain("not JSON");
});

it("two calls with one id are two calls, in one turn and in the next (B046)", async () => {
  const pay = (amount: string) => PAYMENT.replace("50", amount);
  server.answers(json(asks(pay("2"), pay("3"))), json(asks(pay("5"))), json(says("Paid.")));
  const result = await runtimeOf(host, await openai()).run("pay");
  expect(result).toMatchObject({ state: "completed", tool_calls: 3 });
  const amounts = tools.pay.calls.map(({ arguments: args }) => (args as { amount: string }).amount);
  expect(amounts).toEqual(["2", "3", "5"]);
});

it("a number that no double holds is refused by the tool's reader, not rounded on the way", async () => {
  const content = [{ type: "tool_use", id: "toolu_1", name: "bank_pay", input: "%" }];
  const body = JSON.stringify(anthropicMessage(content, { stop_reason: "tool_use" }));
  server.answers(
    json(body.replace('"%"', PAYMENT.replace('"50"', "9007199254740993"))),
    json(anthropicMessage([{ type: "text", text: "No." }])),
  );
  const model = await openChatModel("anthropic:claude-sonnet-5-5", {
    variables: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    acceptCost: true,
  });
  const result = await runtimeOf(host, model).run("pay");
  expect(result).toMatchObject({ state: "completed", errors: 1 });
  expect(tools.pay.calls).toHaveLength(0);
});

it("a model's signed thoughts go back with its calls, and a replay has them too", async () => {
  const thought = { type: "thinking", thinking: "look first", signature: "sig-1" };
  const asked = { type: "tool_use", id: "toolu_1", name: "bank_pay", input: JSON.parse(PAYMENT) };
  server.answers(
    json(anthropicMessage([thought, asked], { stop_reason: "tool_use" })),
    json(anthropicMessage([{ type: "text", text: "Paid." }])),
  );
  const model = await openChatModel("anthropic:claude-sonnet-5-5", {
    variables: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    acceptCost: true,
  });
  const runtime = runtimeOf(host, model);
  const result = await runtime.run("pay");
  expect(result).toMatchObject({ state: "completed", output: "Paid." });
  expect(server.received[1]?.body["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [thought, asked] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
  ]);
  expect(runtime.replay(result.run)).toMatchObject({ replies: 2, ended: true });
});

it("the key is nowhere in the record or in the trace, even when the provider echoes it (B120)", async () => {
  server.answers(json({ error: { message: `bad key ${KEY}` } }, { status: 401 }));
  const runtime = runtimeOf(host, await openai());
  const result = await runtime.run("anything");
  expect(result).toMatchObject({
    reason: "provider_error",
    message: "the provider answered 401: bad key [key]",
  });
  const { journal } = partsOf(host);
  const record = Buffer.concat(journal.raw(0, 1000).map((bytes) => Buffer.from(bytes))).toString();
  expect(record).toContain("bad key [key]");
  const trace = JSON.stringify([runtime.inspect(result.run), runtime.spans(result.run), result]);
  for (const text of [record, trace]) expect(text).not.toContain(KEY.slice(0, 12));
});

it("a run over real requests replays without any", async () => {
  server.answers(json(asks(PAYMENT)), json(says("Paid.")));
  const runtime = runtimeOf(host, await openai());
  const { run } = await runtime.run("pay 50 to account 7");
  const { length } = server.received;
  expect(runtime.replay(run)).toMatchObject({ replies: 2, results: 1, ended: true });
  expect(server.received).toHaveLength(length);
});
