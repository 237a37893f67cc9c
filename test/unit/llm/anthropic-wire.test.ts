import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RoteError } from "../../../src/base/error.ts";
import { namedChat } from "../../../src/llm/providers.ts";
import type { ChatMessage } from "../../../src/model/chat.ts";
import type { ChatModel, ChatRequest } from "../../../src/ports/chat-model.ts";
import { manualClock } from "../../support/manual-clock.ts";
import {
  type Answering,
  anthropicMessage,
  json,
  type ProviderServer,
  providerServer,
} from "../../support/provider-server.ts";

const KEY = "sk-ant-test-0123456789abcdef";
let server: ProviderServer;
let model: ChatModel;

const open = (name: string) =>
  namedChat(
    `anthropic:${name}`,
    { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    {},
    { clock: manualClock(), fetch },
  );

beforeAll(async () => {
  server = await providerServer();
  model = await open("claude-sonnet-5-5");
});
afterAll(() => server.close());

const ask = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  maxOutputTokens: null,
  answerSchema: null,
  ...more,
});

async function replyTo(answering: Answering, request = ask(), asked = model) {
  server.answers(answering);
  return await asked.reply(request);
}

async function faultOf(answering: Answering) {
  server.answers(answering);
  const error: unknown = await model.reply(ask()).catch((thrown: unknown) => thrown);
  if (!(error instanceof RoteError)) throw error;
  expect(server.received).toHaveLength(1);
  return { ...error.data, message: error.message };
}

const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });

describe("a reply over the messages wire", () => {
  it("is text, with what the provider says of it", async () => {
    expect(await replyTo(json(anthropicMessage([{ type: "text", text: "hi" }])))).toEqual({
      content: "hi",
      calls: [],
      stop: "end",
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cached_input_tokens: null,
        cache_write_tokens: null,
      },
      response: { id: "msg_1", model: "claude-test-2026" },
    });
    const [received] = server.received;
    expect(received?.path).toBe("/v1/messages");
    expect(received?.headers["x-api-key"]).toBe(KEY);
    expect(received?.headers["anthropic-version"]).toBe("2023-06-01");
  });

  it("has parallel calls in their order, each with its arguments as they were sent", async () => {
    const body = JSON.stringify(
      anthropicMessage(
        [
          { type: "text", text: "both" },
          use("toolu_1", "add", "%1"),
          use("toolu_1", "add", "%2"),
          use("toolu_3", "none", "%3"),
        ],
        { stop_reason: "tool_use" },
      ),
    )
      .replace('"%1"', '{ "n": 9007199254740993, "s": "}]" }')
      .replace('"%2"', '{"n":1.50,"n":2}')
      .replace(',"input":"%3"', "");
    expect(await replyTo(json(body))).toMatchObject({
      content: "both",
      stop: "calls",
      calls: [
        { id: "toolu_1", name: "add", arguments: '{ "n": 9007199254740993, "s": "}]" }' },
        { id: "toolu_1", name: "add", arguments: '{"n":1.50,"n":2}' },
        { id: "toolu_3", name: "none", arguments: "" },
      ],
    });
  });

  it("says why it ends, and does not take what it does not know for an end", async () => {
    const stops = {
      end_turn: "end",
      stop_sequence: "end",
      tool_use: "calls",
      max_tokens: "length",
      model_context_window_exceeded: "length",
      refusal: "filtered",
      pause_turn: "other",
      toString: "other",
    };
    for (const [stop_reason, stop] of Object.entries(stops)) {
      const body = anthropicMessage([{ type: "text", text: "x" }], { stop_reason });
      expect((await replyTo(json(body))).stop).toBe(stop);
    }
  });

  it("leaves thoughts out, and is no end when a block is of a kind that is not known", async () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" };
    const text = { type: "text", text: "x" };
    expect(await replyTo(json(anthropicMessage([thinking, text])))).toMatchObject({
      content: "x",
      stop: "end",
    });
    expect((await replyTo(json(anthropicMessage([text])))).carry).toBeUndefined();
    expect(await replyTo(json(anthropicMessage([text, { type: "hologram" }])))).toMatchObject({
      content: "x",
      stop: "other",
    });
  });
});

describe("usage over the messages wire", () => {
  const usageOf = async (usage: unknown) =>
    (await replyTo(json(anthropicMessage([{ type: "text", text: "x" }], { usage })))).usage;
  const unknown = {
    input_tokens: null,
    output_tokens: null,
    cached_input_tokens: null,
    cache_write_tokens: null,
  };

  it("counts what came from and went into the cache beside the input (B065)", async () => {
    expect(
      await usageOf({ input_tokens: 400, cache_read_input_tokens: 4600, output_tokens: 40 }),
    ).toEqual({ ...unknown, input_tokens: 5000, cached_input_tokens: 4600, output_tokens: 40 });
    expect(
      await usageOf({
        input_tokens: 400,
        cache_read_input_tokens: 4000,
        cache_creation_input_tokens: 600,
        output_tokens: 40,
      }),
    ).toEqual({
      input_tokens: 5000,
      cached_input_tokens: 4000,
      cache_write_tokens: 600,
      output_tokens: 40,
    });
  });

  it("is unknown where nothing is reported, never zero (B064)", async () => {
    expect(await usageOf(undefined)).toEqual(unknown);
    expect(await usageOf({ output_tokens: 7 })).toEqual({ ...unknown, output_tokens: 7 });
    expect(await usageOf({ input_tokens: 7, cache_read_input_tokens: null })).toEqual({
      ...unknown,
      input_tokens: 7,
    });
  });

  it("takes negative, broken and huge counts for none (B066)", async () => {
    expect(await usageOf({ input_tokens: -1, output_tokens: 1.5 })).toEqual(unknown);
    expect(await usageOf({ input_tokens: 5, cache_read_input_tokens: -5 })).toEqual(unknown);
    expect(
      await usageOf({ input_tokens: 2 ** 53 - 1, cache_creation_input_tokens: 2 ** 53 - 1 }),
    ).toEqual(unknown);
  });
});

describe("what is no reply over the messages wire", () => {
  const error = (type: string, message: string) => ({ type: "error", error: { type, message } });

  it("says what the provider says, and whether asking again makes sense", async () => {
    expect(
      await faultOf(
        json(error("rate_limit_error", "too many"), {
          status: 429,
          headers: { "retry-after": "3" },
        }),
      ),
    ).toMatchObject({ kind: "rate_limited", retry: true, retry_after_ms: 3000 });
    expect(
      await faultOf(json(error("overloaded_error", "Overloaded"), { status: 529 })),
    ).toMatchObject({
      kind: "unavailable",
      retry: true,
      message: "the provider answered 529: Overloaded",
    });
    expect(
      await faultOf(json(error("authentication_error", `bad key ${KEY}`), { status: 401 })),
    ).toMatchObject({
      kind: "refused",
      retry: false,
      message: "the provider answered 401: bad key [key]",
    });
  });

  it("is malformed when it is of another shape", async () => {
    for (const body of [
      "{",
      {},
      { content: "text" },
      anthropicMessage(["text"]),
      anthropicMessage([{ text: "no type" }]),
      anthropicMessage([{ type: "tool_use", id: "a" }]),
      error("api_error", "inside a success"),
    ]) {
      expect(await faultOf(json(body))).toMatchObject({ kind: "malformed", retry: true });
    }
  });
});

describe("a request over the messages wire", () => {
  const tool = { name: "ledger.post", description: "Posts.", inputSchema: { type: "object" } };
  const sent = async (request: ChatRequest, asked = model) => {
    await replyTo(json(anthropicMessage([{ type: "text", text: "{}" }])), request, asked);
    return server.received[0]?.body ?? {};
  };

  it("has all messages in order, and errors marked as such", async () => {
    const messages: readonly ChatMessage[] = [
      { role: "system", content: "be brief" },
      { role: "system", content: "recalled" },
      { role: "user", content: "post 2" },
      {
        role: "assistant",
        content: "well",
        calls: [
          { id: "t0", name: "ledger.post", arguments: '{"n":2}' },
          { id: "t0", name: "ledger.post", arguments: '{"n"' },
        ],
      },
      { role: "tool", call: "t0", name: "ledger.post", content: { ok: true }, error: false },
      { role: "tool", call: "t0", name: "ledger.post", content: { error: "bad" }, error: true },
    ];
    const body = await sent(ask({ messages, tools: [tool], maxOutputTokens: 50 }));
    expect(body["max_tokens"]).toBe(50);
    expect(body["system"]).toEqual([
      { type: "text", text: "be brief" },
      { type: "text", text: "recalled" },
    ]);
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "post 2" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "well" },
          { type: "tool_use", id: "t0", name: "ledger_post", input: { n: 2 } },
          { type: "tool_use", id: "t0_2", name: "ledger_post", input: { unreadable: '{"n"' } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t0", content: '{"ok":true}' },
          { type: "tool_result", tool_use_id: "t0_2", content: '{"error":"bad"}', is_error: true },
        ],
      },
    ]);
    expect(body["tools"]).toMatchObject([
      { name: "ledger_post", input_schema: { type: "object" } },
    ]);
  });

  it("has the model's thoughts back, whole and in their place", async () => {
    const content = [
      { type: "thinking", thinking: "first", signature: "sig-1" },
      { type: "text", text: "Both " },
      { type: "text", text: "now." },
      { type: "redacted_thinking", data: "sealed" },
      use("toolu_1", "ledger_post", { n: 1 }),
      use("toolu_2", "ledger_post", { n: 2 }),
    ];
    const body = anthropicMessage(content, { stop_reason: "tool_use" });
    const reply = await replyTo(json(body), ask({ tools: [tool] }));
    expect(reply).toMatchObject({ content: "Both now.", stop: "calls" });
    const said = { role: "assistant", content: reply.content, calls: reply.calls } as const;
    const carry = reply.carry ?? null;
    const back = async (message: ChatMessage) =>
      (await sent(ask({ messages: [message], tools: [tool] })))["messages"];
    expect(await back({ ...said, carry })).toEqual([{ role: "assistant", content }]);
    const plain = [
      { role: "assistant", content: [{ type: "text", text: "Both now." }, ...content.slice(4)] },
    ];
    expect(await back(said)).toEqual(plain);
    for (const strange of [null, "x", { blocks: [{ type: "text", units: 1 }] }, { blocks: [7] }]) {
      expect(await back({ ...said, carry: strange })).toEqual(plain);
    }
  });

  it("gives the answer of a model without schemas as the text that it sent", async () => {
    const old = await open("claude-3-haiku-20240307");
    const schema = {
      type: "object",
      properties: { answer: { type: "string" } },
      required: ["answer"],
      additionalProperties: false,
    };
    const answer = '{"answer": 9007199254740993}';
    const body = JSON.stringify(
      anthropicMessage([use("toolu_1", "json", "%")], { stop_reason: "tool_use" }),
    ).replace('"%"', answer);
    const reply = await replyTo(json(body), ask({ answerSchema: schema }), old);
    expect(server.received[0]?.body["tool_choice"]).toMatchObject({ type: "any" });
    expect(reply).toMatchObject({ content: answer, calls: [], stop: "end" });
    expect(await sent(ask({ answerSchema: schema }))).toMatchObject({
      output_config: { format: { type: "json_schema", schema } },
    });
  });
});
