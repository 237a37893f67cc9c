/** A conversation as a model of the AI SDK takes it. */
import type { LanguageModelV3CallOptions, LanguageModelV3Prompt } from "@ai-sdk/provider";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ChatCall, ChatMessage } from "../model/chat.ts";
import type { ChatRequest } from "../ports/chat-model.ts";
import { type CarriedBlock, carriedBy } from "./carry.ts";
import { isStrictSchema } from "./strict-schema.ts";
import { isObject, parseWire } from "./wire-json.ts";
import { type WireNames, withWireIds } from "./wire-names.ts";

export function sdkRequest(
  request: ChatRequest,
  names: WireNames,
  signal: AbortSignal | undefined,
): LanguageModelV3CallOptions {
  const { tools, maxOutputTokens, answerSchema } = request;
  return {
    prompt: promptOf(request.messages, names),
    ...(signal === undefined ? {} : { abortSignal: signal }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(answerSchema === null
      ? {}
      : {
          responseFormat: { type: "json", name: "answer", schema: schemaOf(answerSchema) },
          providerOptions: {
            openaiCompatible: { strictJsonSchema: isStrictSchema(answerSchema) },
          },
        }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: "function",
            name: names.to(name),
            description,
            inputSchema: schemaOf(inputSchema),
          })),
        }),
  };
}

function promptOf(messages: readonly ChatMessage[], names: WireNames): LanguageModelV3Prompt {
  return withWireIds(messages).flatMap((message) => saidAs(message, names));
}

function saidAs(message: ChatMessage, names: WireNames): LanguageModelV3Prompt {
  switch (message.role) {
    case "system":
      return [message];
    case "user":
      return [{ role: "user", content: [{ type: "text", text: message.content }] }];
    case "assistant":
      return saidByModel(message, names);
    case "tool":
      return [{ role: "tool", content: [resultOf(message, names)] }];
  }
}

type Assistant = Extract<LanguageModelV3Prompt[number], { readonly role: "assistant" }>;
type Part = Assistant["content"][number];

/** No provider takes a part that is empty. */
function saidByModel(
  message: ChatMessage & { readonly role: "assistant" },
  names: WireNames,
): LanguageModelV3Prompt {
  const carried = carriedBy(message);
  const asked = message.calls.map((call, at) => {
    const signature = carried?.kind === "thoughts" ? (carried.signatures[at] ?? "") : "";
    return callPart(call, names, signature);
  });
  const content =
    carried?.kind === "blocks"
      ? inOrder(message.content, asked, carried.blocks)
      : [
          ...(carried === null || carried.reasoning === ""
            ? []
            : [{ type: "reasoning", text: carried.reasoning } as const]),
          ...textParts(message.content),
          ...asked,
        ];
  return content.length === 0 ? [] : [{ role: "assistant", content }];
}

function inOrder(content: string, asked: readonly Part[], blocks: readonly CarriedBlock[]): Part[] {
  const parts: Part[] = [];
  let [units, calls] = [0, 0];
  for (const block of blocks) {
    switch (block.type) {
      case "thinking":
        parts.push(thought(block.thinking, { signature: block.signature }));
        break;
      case "redacted_thinking":
        parts.push(thought("", { redactedData: block.data }));
        break;
      case "text":
        parts.push(...textParts(content.slice(units, units + block.units)));
        units += block.units;
        break;
      case "tool_use":
        parts.push(...asked.slice(calls, calls + 1));
        calls += 1;
        break;
    }
  }
  return parts;
}

function thought(text: string, anthropic: { readonly [name: string]: string }): Part {
  return { type: "reasoning", text, providerOptions: { anthropic } };
}

function textParts(text: string): readonly Part[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function callPart(call: ChatCall, names: WireNames, signature: string): Part {
  return {
    type: "tool-call",
    toolCallId: call.id,
    toolName: names.to(call.name),
    input: argumentsOf(call.arguments),
    ...(signature === "" ? {} : { providerOptions: { google: { thoughtSignature: signature } } }),
  };
}

/**
 * Providers take an object only. The text of one is left as it is; for a call that had none, an object tells the model
 * what it wrote.
 */
function argumentsOf(text: string): string | { readonly unreadable: string } {
  return isObject(parseWire(text)) ? text : { unreadable: text };
}

function resultOf(
  { call, name, content, error }: ChatMessage & { readonly role: "tool" },
  names: WireNames,
) {
  const value = typeof content === "string" ? content : JSON.stringify(content);
  return {
    type: "tool-result",
    toolCallId: call,
    toolName: names.to(name),
    output: { type: error ? "error-text" : "text", value },
  } as const;
}

/** What is no object says nothing about what it describes. */
function schemaOf(schema: JsonValue): JsonObject {
  return isJsonObject(schema) ? schema : {};
}
