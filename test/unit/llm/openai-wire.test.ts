import { afterAll, describe, expect, it } from "vitest";
import { chatWire, KEY } from "../../support/chat-wire.ts";
import { completion, json } from "../../support/provider-server.ts";

const { server, replyTo } = await chatWire();
afterAll(() => server.close());

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
