import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitJson, type JsonValue } from "../../src/base/json.ts";
import { readAnthropicReply } from "../../src/llm/reply-anthropic.ts";
import { readOpenAiReply } from "../../src/llm/reply-openai.ts";
import { Malformed } from "../../src/llm/wire-json.ts";
import { wireNames, withWireIds } from "../../src/llm/wire-names.ts";
import { CHAT_STOPS, type ChatMessage, type ChatReply } from "../../src/model/chat.ts";

const count = fc.oneof(
  { weight: 9, arbitrary: fc.nat(9000) },
  fc.constantFrom(-1, 1.5, null, "7", 2 ** 53, 1e300),
);
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 9 });
const text = fc.oneof(
  { weight: 9, arbitrary: fc.string() },
  fc.constantFrom("\ud83d", "__proto__", "stop", "tool_use"),
);
const junk = fc.oneof(text, count, fc.jsonValue({ maxDepth: 2 }));
const mostly = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 30, arbitrary }, junk);

const openAi = mostly(
  fc.record({
    id: some(mostly(text)),
    choices: mostly(
      fc.array(
        mostly(
          fc.record({
            message: mostly(
              fc.record({
                content: some(mostly(text)),
                refusal: some(mostly(text)),
                reasoning_content: some(mostly(text)),
                tool_calls: some(
                  mostly(
                    fc.array(
                      mostly(
                        fc.record({
                          id: some(mostly(text)),
                          function: mostly(fc.record({ name: mostly(text), arguments: junk })),
                        }),
                      ),
                      { maxLength: 3 },
                    ),
                  ),
                ),
              }),
            ),
            finish_reason: some(mostly(fc.constantFrom("stop", "tool_calls", "length"))),
          }),
        ),
        { minLength: 1, maxLength: 2 },
      ),
    ),
    usage: some(
      mostly(
        fc.record({
          prompt_tokens: some(count),
          completion_tokens: some(count),
          total_tokens: some(count),
          prompt_tokens_details: some(mostly(fc.record({ cached_tokens: some(count) }))),
        }),
      ),
    ),
  }),
);

const anthropic = mostly(
  fc.record({
    id: some(mostly(text)),
    content: mostly(
      fc.array(
        mostly(
          fc.record({
            type: mostly(fc.constantFrom("text", "tool_use", "thinking", "redacted_thinking")),
            text: some(mostly(text)),
            id: some(mostly(text)),
            name: some(mostly(text)),
            input: some(junk),
            thinking: some(mostly(text)),
            signature: some(mostly(text)),
          }),
        ),
        { maxLength: 4 },
      ),
    ),
    stop_reason: some(mostly(fc.constantFrom("end_turn", "tool_use", "max_tokens"))),
    usage: some(
      mostly(
        fc.record({
          input_tokens: some(count),
          output_tokens: some(count),
          cache_read_input_tokens: some(count),
          cache_creation_input_tokens: some(count),
        }),
      ),
    ),
  }),
);

/** Read, or refused as no reply; what was read can be written down and counted with. */
function readSoundly(read: () => ChatReply): void {
  let reply: ChatReply;
  try {
    reply = read();
  } catch (error) {
    expect(error).toBeInstanceOf(Malformed);
    return;
  }
  expect(admitJson(reply, { numbers: "finite" }).ok).toBe(true);
  expect(CHAT_STOPS).toContain(reply.stop);
  const { input_tokens: input, ...others } = reply.usage;
  for (const tokens of [input, ...Object.values(others)]) {
    expect(tokens === null || (Number.isSafeInteger(tokens) && tokens >= 0)).toBe(true);
  }
  const parts = (others.cached_input_tokens ?? 0) + (others.cache_write_tokens ?? 0);
  if (input !== null) expect(parts).toBeLessThanOrEqual(input);
  else expect([others.cached_input_tokens, others.cache_write_tokens]).toEqual([null, null]);
}

describe("whatever a provider sends", () => {
  it("over the chat completions wire is read soundly or refused (B064, B065, B066)", () => {
    fc.assert(
      fc.property(openAi, (body) => readSoundly(() => readOpenAiReply(JSON.stringify(body)))),
      { numRuns: 300 },
    );
  });

  it("over the messages wire is read soundly or refused (B064, B065, B066)", () => {
    fc.assert(
      fc.property(anthropic, fc.boolean(), (body, answering) =>
        readSoundly(() => readAnthropicReply(JSON.stringify(body), answering)),
      ),
      { numRuns: 300 },
    );
  });

  it("that is no JSON is refused, wherever it breaks off", () => {
    fc.assert(
      fc.property(anthropic, fc.nat(), (body, cut) => {
        const whole = JSON.stringify(body);
        const part = whole.slice(0, cut % whole.length);
        expect(() => readOpenAiReply(part)).toThrow(Malformed);
        expect(() => readAnthropicReply(part, false)).toThrow(Malformed);
      }),
    );
  });

  it("as arguments is handed on as the text that stood there", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 3 }), (first, rest) => {
        const content = [first, ...rest].map((input) => ({ type: "tool_use", name: "n", input }));
        const spaced = JSON.stringify({ content, stop_reason: "tool_use" }, null, 2);
        const { calls } = readAnthropicReply(spaced, false);
        const given = calls.map((call) => JSON.parse(call.arguments) as JsonValue);
        expect(given).toEqual(JSON.parse(JSON.stringify([first, ...rest])));
        for (const call of calls) expect(spaced).toContain(call.arguments);
      }),
    );
  });
});

describe("names and ids on the wire", () => {
  const name = fc.oneof(fc.string(), fc.constantFrom("a.b", "a_b", "a-b", "a_b_2", "x".repeat(70)));
  const calls = fc.array(fc.record({ id: fc.constantFrom("", "t0", "t1", "t0_2"), name }), {
    maxLength: 4,
  });

  it("are what providers take, one for each name, and lead back to it", () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 12 }), (names) => {
        const tools = names.map((one) => ({ name: one, description: "", inputSchema: {} }));
        const { to, from } = wireNames({
          tools,
          messages: [],
          maxOutputTokens: null,
          answerSchema: null,
        });
        const wire = names.map(to);
        expect(new Set(wire).size).toBe(names.length);
        for (const one of wire) expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(wire.map(from)).toEqual(names);
      }),
    );
  });

  it("pair every result with its own call, each id used once (B046)", () => {
    fc.assert(
      fc.property(fc.array(calls, { maxLength: 5 }), (turns) => {
        let number = 0;
        const messages = turns.flatMap((asked): readonly ChatMessage[] => {
          const numbered = asked.map((call) => {
            number += 1;
            return { ...call, arguments: String(number) };
          });
          return [
            { role: "assistant", content: "", calls: numbered },
            ...numbered.map(
              (call) =>
                ({
                  role: "tool",
                  call: call.id,
                  name: call.name,
                  content: call.arguments,
                  error: false,
                }) as const,
            ),
          ];
        });
        const sent = withWireIds(messages);
        const asked = sent.flatMap((one) => (one.role === "assistant" ? one.calls : []));
        const answered = sent.flatMap((one) =>
          one.role === "tool" ? [[one.call, one.content]] : [],
        );
        expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
        expect(answered).toEqual(asked.map((call) => [call.id, call.arguments]));
      }),
    );
  });
});
