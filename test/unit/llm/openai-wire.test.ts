import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RoteError } from "../../../src/base/error.ts";
import { namedChat } from "../../../src/llm/providers.ts";
import type { ChatMessage } from "../../../src/model/chat.ts";
import type { ChatModel, ChatRequest } from "../../../src/ports/chat-model.ts";
import { manualClock } from "../../support/manual-clock.ts";
import {
  type Answering,
  brokenOff,
  completion,
  json,
  type ProviderServer,
  providerServer,
  silent,
} from "../../support/provider-server.ts";

const KEY = "sk-test-0123456789abcdef";
const clock = manualClock();
let server: ProviderServer;
let model: ChatModel;

const ask = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  maxOutputTokens: null,
  answerSchema: null,
  ...more,
});

const open = (options = {}) =>
  namedChat(
    "openai:gpt-test",
    { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` },
    options,
    clock,
  );

beforeAll(async () => {
  server = await providerServer();
  model = await open();
});
afterAll(() => server.close());

async function replyTo(answering: Answering, request = ask()) {
  server.answers(answering);
  return await model.reply(request);
}

async function faultOf(answering: Answering, asked: Promise<ChatModel> | ChatModel = model) {
  server.answers(answering);
  const error: unknown = await (await asked).reply(ask()).catch((thrown: unknown) => thrown);
  if (!(error instanceof RoteError)) throw error;
  expect(error.code).toBe("provider_error");
  const data: RoteError["data"] = error.data;
  return { ...data, retryAfterMs: data["retry_after_ms"], message: error.message };
}

describe("a reply over the chat completions wire", () => {
  it("is text, with what the provider says of it", async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
    expect(await replyTo(json(completion({ content: "hi" }, { usage })))).toEqual({
      content: "hi",
      calls: [],
      stop: "end",
      usage: {
        input_tokens: 12,
        output_tokens: 3,
        cached_input_tokens: null,
        cache_write_tokens: null,
      },
      response: { id: "chatcmpl-1", model: "gpt-test-2026" },
    });
    expect(server.received).toHaveLength(1);
    expect(server.received[0]?.path).toBe("/v1/chat/completions");
    expect(server.received[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(server.received[0]?.body).toEqual({
      model: "gpt-test",
      messages: [{ role: "user", content: "hello" }],
    });
  });

  it("has parallel calls in their order, each with its arguments as they were written", async () => {
    const tool_calls = [
      {
        id: "a",
        type: "function",
        function: { name: "add", arguments: '{"n": 9007199254740993}' },
      },
      { id: "b", type: "function", function: { name: "add", arguments: '{"n":1.50,"n":2}' } },
    ];
    const { calls, stop } = await replyTo(
      json(completion({ content: null, tool_calls }, { finish: "tool_calls" })),
    );
    expect(stop).toBe("calls");
    expect(calls).toEqual([
      { id: "a", name: "add", arguments: '{"n": 9007199254740993}' },
      { id: "b", name: "add", arguments: '{"n":1.50,"n":2}' },
    ]);
  });

  it("keeps broken and cut off arguments as the text that came (B104)", async () => {
    const call = (text: string) => ({ id: "a", function: { name: "write", arguments: text } });
    for (const text of ['{"path":"wp.db","mode"', "", "not json", "[]", '{"a":1}{"b":2}']) {
      const reply = await replyTo(
        json(completion({ content: "", tool_calls: [call(text)] }, { finish: "length" })),
      );
      expect(reply.calls[0]?.arguments).toBe(text);
      expect(reply.stop).toBe("length");
    }
  });

  it("keeps two calls with the same id apart, and numbers those without one", async () => {
    const asked = { type: "function", function: { name: "add", arguments: "{}" } };
    const tool_calls = [{ id: "t0", ...asked }, { id: "t0", ...asked }, asked];
    const { calls } = await replyTo(json(completion({ tool_calls }, { finish: "tool_calls" })));
    expect(calls.map(({ id }) => id)).toEqual(["t0", "t0", "call_2"]);
  });

  it("shows arguments that came as JSON instead of text as the text that they are", async () => {
    const raw = JSON.stringify(
      completion({ tool_calls: [{ id: "a", function: { name: "add", arguments: "%" } }] }),
    ).replace('"%"', '{ "n": 9007199254740993 }');
    const { calls } = await replyTo(json(raw));
    expect(calls[0]?.arguments).toBe('{ "n": 9007199254740993 }');
  });

  it("says why it ends, and does not take what it does not know for an end", async () => {
    const stops = {
      stop: "end",
      tool_calls: "calls",
      length: "length",
      content_filter: "filtered",
      error: "other",
      constructor: "other",
    };
    for (const [finish, stop] of Object.entries(stops)) {
      expect((await replyTo(json(completion({ content: "x" }, { finish })))).stop).toBe(stop);
    }
    expect((await replyTo(json(completion({ content: "x" }, { finish: null })))).stop).toBe(
      "other",
    );
  });

  it("is filtered when the model refuses, with its words", async () => {
    const reply = await replyTo(json(completion({ content: null, refusal: "I will not." })));
    expect(reply).toMatchObject({ content: "I will not.", stop: "filtered" });
  });
});

describe("usage over the chat completions wire", () => {
  const usageOf = async (usage: unknown) =>
    (await replyTo(json(completion({ content: "x" }, { usage })))).usage;
  const unknown = {
    input_tokens: null,
    output_tokens: null,
    cached_input_tokens: null,
    cache_write_tokens: null,
  };

  it("counts cached tokens within the input (B065)", async () => {
    expect(
      await usageOf({
        prompt_tokens: 5000,
        completion_tokens: 40,
        total_tokens: 5040,
        prompt_tokens_details: { cached_tokens: 4600 },
      }),
    ).toEqual({ ...unknown, input_tokens: 5000, output_tokens: 40, cached_input_tokens: 4600 });
  });

  it("is unknown where nothing is reported, never zero (B064)", async () => {
    expect(await usageOf(undefined)).toEqual(unknown);
    expect(await usageOf(null)).toEqual(unknown);
    expect(await usageOf({})).toEqual(unknown);
    expect(await usageOf({ completion_tokens: 7 })).toEqual({ ...unknown, output_tokens: 7 });
  });

  it("does not look at a cost that a provider reports (B064)", async () => {
    expect(await usageOf({ prompt_tokens: 16000, completion_tokens: 200, cost: 0 })).toEqual({
      ...unknown,
      input_tokens: 16000,
      output_tokens: 200,
    });
  });

  it("takes negative, broken and huge counts for none (B066)", async () => {
    expect(await usageOf({ prompt_tokens: -1, completion_tokens: 1.5 })).toEqual(unknown);
    expect(await usageOf({ prompt_tokens: "12", completion_tokens: "Infinity" })).toEqual(unknown);
    expect(await usageOf({ prompt_tokens: 2 ** 53, completion_tokens: true })).toEqual(unknown);
    expect(await usageOf([1, 2])).toEqual(unknown);
  });

  it("knows neither when more came from the cache than there was (B065)", async () => {
    const prompt_tokens_details = { cached_tokens: 11 };
    expect(
      await usageOf({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details }),
    ).toEqual({ ...unknown, output_tokens: 1 });
  });

  it("counts reasoning that is reported beside the completion, and nothing that does not add up", async () => {
    const counts = { prompt_tokens: 10, completion_tokens: 5 };
    const completion_tokens_details = { reasoning_tokens: 20 };
    expect(
      (await usageOf({ ...counts, total_tokens: 35, completion_tokens_details })).output_tokens,
    ).toBe(25);
    expect(
      (await usageOf({ ...counts, total_tokens: 15, completion_tokens_details })).output_tokens,
    ).toBe(5);
    expect((await usageOf({ ...counts, total_tokens: 99 })).output_tokens).toBeNull();
  });
});

describe("what is no reply", () => {
  it("is rate limited, with the time that the provider names", async () => {
    const limited = (headers: Record<string, string>) =>
      faultOf(json({ error: { message: "slow down" } }, { status: 429, headers }));
    expect(await limited({ "retry-after": "7" })).toEqual({
      retryAfterMs: 7000,
      kind: "rate_limited",
      retry: true,
      status: 429,
      retry_after_ms: 7000,
      message: "the provider answered 429: slow down",
    });
    const waits = async (headers: Record<string, string>) => (await limited(headers)).retryAfterMs;
    expect(await waits({ "retry-after-ms": "1200.5", "retry-after": "9" })).toBe(1201);
    expect(await waits({ "retry-after": "0.5" })).toBe(500);
    expect(
      await waits({
        date: "Mon, 30 Nov 2026 10:00:00 GMT",
        "retry-after": "Mon, 30 Nov 2026 10:00:09 GMT",
      }),
    ).toBe(9000);
    const date = "Thu, 01 Jan 2026 00:00:05 GMT";
    expect(await waits({ date: "unknown", "retry-after": date })).toBe(5000);
    expect(await waits({ date: "unknown", "retry-after": date.replace("2026", "2025") })).toBe(0);
    for (const nonsense of ["-5", "soon", "1e9", "NaN"]) {
      expect(await waits({ "retry-after": nonsense, date: "x" })).toBeNull();
    }
  });

  it("is refused when waiting does not help", async () => {
    const spent = { error: { message: "You exceeded your quota.", code: "insufficient_quota" } };
    expect(await faultOf(json(spent, { status: 429 }))).toMatchObject({
      kind: "refused",
      retry: false,
    });
    for (const status of [400, 401, 403, 404, 413, 422]) {
      expect(await faultOf(json({ error: "no" }, { status }))).toMatchObject({
        kind: "refused",
        retry: false,
        status,
        message: `the provider answered ${status}: no`,
      });
    }
  });

  it("is unavailable when the provider failed, or is not there", async () => {
    for (const status of [500, 502, 503, 529]) {
      expect(await faultOf(json("oops", { status }))).toMatchObject({
        kind: "unavailable",
        retry: true,
        status,
      });
    }
    const nowhere = namedChat(
      "openai:gpt-test",
      { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" },
      {},
      clock,
    );
    expect(await faultOf(silent, nowhere)).toMatchObject({
      kind: "unavailable",
      retry: true,
      status: null,
    });
  });

  it("is malformed when it breaks off, is no JSON, is too large, or of another shape", async () => {
    const cases: readonly (readonly [Answering, string])[] = [
      [brokenOff, "broke off"],
      [json('{"id":"x","choices":[{"mess'), "no JSON object"],
      [json("[]"), "no JSON object"],
      [json({}), "no message"],
      [json({ choices: [] }), "no message"],
      [json({ choices: "none" }), "no list"],
      [json(completion({ tool_calls: [{ id: "a" }] })), "names no function"],
      [json(completion({ content: "\ud83d" })), "half a character"],
      [json({ error: { message: "upstream died" } }), "upstream died"],
    ];
    for (const [answering, told] of cases) {
      const fault = await faultOf(answering);
      expect(fault).toMatchObject({ kind: "malformed", retry: true });
      expect(fault.message).toContain(told);
    }
    const large = json(completion({ content: "x".repeat(5000) }));
    expect(await faultOf(large, open({ maxResponseBytes: 4000 }))).toMatchObject({
      kind: "malformed",
      message: "the answer is larger than 4000 bytes",
    });
  });

  it("is malformed under another content type, whatever it says", async () => {
    const page: Answering = (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(JSON.stringify(completion({ content: "x" })));
    };
    expect(await faultOf(page)).toMatchObject({
      kind: "malformed",
      message: "the answer is text/html, expected JSON",
    });
    const untyped: Answering = (response) => response.writeHead(200).end("{}");
    expect((await faultOf(untyped)).message).toContain("of no stated type");
  });

  it("is refused when it sends one elsewhere: the key goes nowhere else", async () => {
    const moved: Answering = (response) =>
      response.writeHead(307, { location: `${server.url}/other` }).end();
    const fault = await faultOf(moved);
    expect(fault).toMatchObject({ kind: "refused", status: 307 });
    expect(fault.message).toContain("redirects are not followed");
    expect(server.received).toHaveLength(1);
  });

  it("is a timeout when there is no whole answer in time", async () => {
    expect(await faultOf(silent, open({ timeoutMs: 50 }))).toMatchObject({
      kind: "timeout",
      retry: true,
    });
    const slowly: Answering = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
    };
    expect(await faultOf(slowly, open({ timeoutMs: 50 }))).toMatchObject({ kind: "timeout" });
  });

  it("is a timeout when the machine's own patience ends first", async () => {
    for (const code of ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]) {
      const cause = Object.assign(new Error("late"), { code });
      const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
      expect(await faultOf(silent, open({ fetch }))).toMatchObject({
        kind: "timeout",
        message: `there was no whole answer in time (${code})`,
      });
    }
  });

  it("rejects with the caller's reason when the caller gives up, before and during the request", async () => {
    const gone = new AbortController();
    const reason = new Error("paused");
    server.answers((_response, _received) => gone.abort(reason));
    await expect(model.reply(ask(), gone.signal)).rejects.toBe(reason);
    server.answers(json(completion({ content: "x" })));
    await expect(model.reply(ask(), gone.signal)).rejects.toBe(reason);
    expect(server.received).toHaveLength(0);
  });

  it("is one request, whatever went wrong (B036)", async () => {
    for (const answering of [
      json({}, { status: 429, headers: { "retry-after": "0" } }),
      json({}, { status: 500 }),
      brokenOff,
      json("no json"),
    ]) {
      await faultOf(answering);
      expect(server.received).toHaveLength(1);
    }
  });
});

describe("a request over the chat completions wire", () => {
  const tool = {
    name: "ledger.post",
    description: "Posts.",
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  };
  const sent = async (request: ChatRequest) => {
    await replyTo(json(completion({ content: "x" })), request);
    return server.received[0]?.body ?? {};
  };

  it("has all messages in order, and results under the calls that they answer", async () => {
    const messages: readonly ChatMessage[] = [
      { role: "system", content: "be brief" },
      { role: "system", content: "recalled" },
      { role: "user", content: "post 2" },
      {
        role: "assistant",
        content: "",
        calls: [{ id: "a", name: "ledger.post", arguments: '{"n": 9007199254740993}' }],
      },
      { role: "tool", call: "a", name: "ledger.post", content: { ok: true }, error: false },
      { role: "assistant", content: "", calls: [] },
      { role: "assistant", content: "done", calls: [] },
      { role: "user", content: "thanks" },
    ];
    expect(await sent(ask({ messages, tools: [tool] }))).toEqual({
      model: "gpt-test",
      messages: [
        { role: "system", content: "be brief" },
        { role: "system", content: "recalled" },
        { role: "user", content: "post 2" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "a",
              type: "function",
              function: { name: "ledger_post", arguments: '{"n": 9007199254740993}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "a", content: '{"ok":true}' },
        { role: "assistant", content: "done" },
        { role: "user", content: "thanks" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "ledger_post",
            description: "Posts.",
            parameters: { type: "object", properties: { n: { type: "integer" } } },
          },
        },
      ],
    });
  });

  it("names every tool in letters that providers take, and reads the names back", async () => {
    const tools = ["ledger.post", "ledger_post", "files.read", "größe", "x".repeat(80)].map(
      (name) => ({ ...tool, name }),
    );
    const body = await sent(ask({ tools }));
    const names = (body["tools"] as { function: { name: string } }[]).map(
      (one) => one.function.name,
    );
    expect(names).toEqual(["ledger_post_2", "ledger_post", "files_read", "gr__e", "x".repeat(64)]);
    const tool_calls = [...names, "unheard_of", "files.read"].map((name, at) => ({
      id: `c${at}`,
      function: { name, arguments: "{}" },
    }));
    const { calls } = await replyTo(json(completion({ tool_calls })), ask({ tools }));
    expect(calls.map(({ name }) => name)).toEqual([
      ...tools.map(({ name }) => name),
      "unheard_of",
      "files.read",
    ]);
  });

  it("uses no id of a call twice, and pairs results all the same (B046)", async () => {
    const turn = (one: string, two: string): readonly ChatMessage[] => [
      {
        role: "assistant",
        content: "",
        calls: [
          { id: "t0", name: "add", arguments: one },
          { id: "t0", name: "add", arguments: two },
        ],
      },
      { role: "tool", call: "t0", name: "add", content: one, error: false },
      { role: "tool", call: "t0", name: "add", content: two, error: false },
    ];
    const body = await sent(
      ask({ messages: [...turn('{"n":1}', '{"n":2}'), ...turn('{"n":3}', '{"n":4}')] }),
    );
    const messages = body["messages"] as {
      tool_calls?: { id: string; function: { arguments: string } }[];
      tool_call_id?: string;
      content?: string;
    }[];
    const asked = messages.flatMap(({ tool_calls = [] }) =>
      tool_calls.map((call) => [call.id, call.function.arguments]),
    );
    const answered = messages.flatMap(({ tool_call_id: id, content }) =>
      id === undefined ? [] : [[id, content]],
    );
    expect(new Set(asked.map(([id]) => id)).size).toBe(4);
    expect(answered).toEqual(asked);
  });

  it("sends broken arguments of an earlier turn in an object, so that the request stays valid", async () => {
    for (const text of ['{"n": 1', "[1]", "", '"x"']) {
      const calls = [{ id: "a", name: "add", arguments: text }];
      const body = await sent(ask({ messages: [{ role: "assistant", content: "", calls }] }));
      const [message] = body["messages"] as { tool_calls: { function: { arguments: string } }[] }[];
      const given = message?.tool_calls[0]?.function.arguments ?? "";
      expect(JSON.parse(given)).toEqual({ unreadable: text });
    }
  });

  it("has reasoning and signatures back where the server sent them, and only there", async () => {
    const asked = { type: "function", function: { name: "add", arguments: '{"n":1}' } };
    const extra_content = { google: { thought_signature: "sig-2" } };
    const tool_calls = [
      { id: "a", ...asked },
      { id: "b", ...asked, extra_content },
    ];
    const reply = await replyTo(
      json(
        completion(
          { content: "Both.", reasoning_content: "two of them", tool_calls },
          { finish: "tool_calls" },
        ),
      ),
    );
    const said = { role: "assistant", content: "Both.", calls: reply.calls } as const;
    const withThoughts = await sent(ask({ messages: [{ ...said, carry: reply.carry ?? null }] }));
    expect(withThoughts["messages"]).toEqual([
      { role: "assistant", content: "Both.", reasoning_content: "two of them", tool_calls },
    ]);
    const without = await sent(ask({ messages: [said] }));
    expect(JSON.stringify(without)).not.toContain("sig-2");
    expect(JSON.stringify(without)).not.toContain("two of them");
  });

  it("asks for a schema to the letter where the schema allows it, and limits what is written", async () => {
    const strict = {
      type: "object",
      properties: { answer: { type: "string" } },
      required: ["answer"],
      additionalProperties: false,
    };
    const loose = { type: "object", properties: { answer: {} }, required: ["answer"] };
    for (const [schema, held] of [
      [strict, true],
      [loose, false],
    ] as const) {
      const body = await sent(ask({ answerSchema: schema, maxOutputTokens: 99 }));
      expect(body["max_completion_tokens"]).toBe(99);
      expect(body["response_format"]).toEqual({
        type: "json_schema",
        json_schema: { name: "answer", schema, strict: held },
      });
    }
  });
});
