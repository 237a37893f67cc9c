import { afterAll, describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../src/model/chat.ts";
import type { ChatRequest } from "../../../src/ports/chat-model.ts";
import { ask, chatWire } from "../../support/chat-wire.ts";
import { completion, json } from "../../support/provider-server.ts";

const { server, replyTo } = await chatWire();
afterAll(() => server.close());

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
