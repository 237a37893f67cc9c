/**
 * A reply on the chat completions wire, as OpenAI, Ollama and most servers of open models speak it.
 *
 * Its usage counts what came from the cache within `prompt_tokens`, and reasoning within `completion_tokens`.
 */
import { sourceAt, sourcesIn } from "../base/json.ts";
import type { ChatCall, ChatReply, ChatStop, ChatUsage } from "../model/chat.ts";
import { UNKNOWN_CHAT_USAGE } from "../model/chat.ts";
import { carriedThoughts } from "./carry.ts";
import {
  countIn,
  isObject,
  kept,
  listIn,
  Malformed,
  member,
  nameIn,
  objectIn,
  parseWire,
  stopIn,
  textIn,
  usageOf,
  type WireObject,
} from "./wire-json.ts";

/** @throws Malformed */
export function readOpenAiReply(text: string): ChatReply {
  const body = parseWire(text);
  if (!isObject(body)) throw new Malformed("it is no JSON object");
  const [choice] = listIn(body, "choices");
  const message = isObject(choice) ? objectIn(choice, "message") : undefined;
  if (!isObject(choice) || message === undefined) throw new Malformed("it has no message");
  const refusal = textIn(message, "refusal") ?? "";
  return {
    content: kept(contentOf(message) + refusal, "the content"),
    calls: callsOf(message, sourceAt(text, "/choices/0/message/tool_calls") ?? "[]"),
    stop: refusal === "" ? stopIn(choice, "finish_reason", STOPS) : "filtered",
    usage: readOpenAiUsage(member(body, "usage")),
    response: { id: nameIn(body, "id"), model: nameIn(body, "model") },
    ...carriedThoughts(
      kept(textIn(message, "reasoning_content") ?? "", "the reasoning"),
      listIn(message, "tool_calls").map(signatureOf),
    ),
  };
}

/** A text, or a list of parts of which the texts are the answer; other parts are the model's thoughts. */
function contentOf(message: WireObject): string {
  const content = member(message, "content");
  if (content === undefined) return "";
  if (typeof content === "string") return content;
  return listIn(message, "content")
    .map((part) => (isObject(part) && textIn(part, "type") === "text" ? textIn(part, "text") : ""))
    .join("");
}

/** Some servers sign the thought behind a call, and want the signature back with it. */
function signatureOf(call: unknown): string | null {
  const extra = isObject(call) ? objectIn(call, "extra_content") : undefined;
  const google = extra === undefined ? undefined : objectIn(extra, "google");
  const signature = google === undefined ? undefined : textIn(google, "thought_signature");
  return signature === undefined ? null : kept(signature, "the signature of a thought");
}

function callsOf(message: WireObject, source: string): readonly ChatCall[] {
  const sources = sourcesIn(source);
  return listIn(message, "tool_calls").map((call, index) => {
    const asked = isObject(call) ? objectIn(call, "function") : undefined;
    const name = asked === undefined ? undefined : textIn(asked, "name");
    if (!isObject(call) || asked === undefined || name === undefined) {
      throw new Malformed(`tool call ${index} names no function`);
    }
    // Without an id only its place tells it from the others.
    const id = textIn(call, "id") ?? `call_${index}`;
    return {
      id: kept(id, "the id of a tool call"),
      name: kept(name, "the name of a tool call"),
      arguments: kept(argumentsOf(asked, sources[index] ?? ""), "the arguments of a tool call"),
    };
  });
}

/** Text, by the wire; some servers send what it would say, and then the text is what they sent. */
function argumentsOf(asked: WireObject, source: string): string {
  const given = member(asked, "arguments");
  if (given === undefined) return "";
  if (typeof given === "string") return given;
  return sourceAt(source, "/function/arguments") ?? "";
}

const STOPS: Readonly<Record<string, ChatStop>> = {
  stop: "end",
  tool_calls: "calls",
  function_call: "calls",
  length: "length",
  content_filter: "filtered",
};

export function readOpenAiUsage(usage: unknown): ChatUsage {
  if (!isObject(usage)) return UNKNOWN_CHAT_USAGE;
  const input = countIn(usage, "prompt_tokens") ?? null;
  const details = objectIn(usage, "prompt_tokens_details") ?? {};
  const cached = countIn(details, "cached_tokens") ?? countIn(usage, "prompt_cache_hit_tokens");
  return usageOf(input, outputOf(usage, input), cached ?? null, null);
}

/** Where the total says that reasoning was counted beside the completion, both were written. */
function outputOf(usage: WireObject, input: number | null): number | null {
  const output = countIn(usage, "completion_tokens") ?? null;
  const total = countIn(usage, "total_tokens") ?? null;
  if (output === null || input === null || total === null) return output;
  const beside = total - input - output;
  if (beside === 0) return output;
  const details = objectIn(usage, "completion_tokens_details") ?? {};
  return beside > 0 && beside === countIn(details, "reasoning_tokens") ? output + beside : null;
}
