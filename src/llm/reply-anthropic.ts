/**
 * A reply on Anthropic's messages wire.
 *
 * Its usage counts what was read from the cache and what was written to it beside `input_tokens`, not within.
 */
import { sourceAt, sourcesIn } from "../base/json.ts";
import type { ChatCall, ChatReply, ChatStop, ChatUsage } from "../model/chat.ts";
import { UNKNOWN_CHAT_USAGE } from "../model/chat.ts";
import { type CarriedBlock, carriedFor } from "./carry.ts";
import {
  type Count,
  countIn,
  isObject,
  kept,
  listIn,
  Malformed,
  member,
  nameIn,
  parseWire,
  stopIn,
  textIn,
  usageOf,
  type WireObject,
} from "./wire-json.ts";

/** The tool that the request offers for an answer by schema, to models that have no other way. */
const ANSWER_TOOL = "json";

/**
 * `answering`: the request asked for an answer by schema, and offered no tool of its own by the name `json`.
 *
 * @throws Malformed
 */
export function readAnthropicReply(text: string, answering: boolean): ChatReply {
  const body = parseWire(text);
  if (!isObject(body)) throw new Malformed("it is no JSON object");
  if (!Array.isArray(member(body, "content"))) throw new Malformed("it has no content");
  const sources = sourcesIn(sourceAt(text, "/content") ?? "[]");
  const calls: ChatCall[] = [];
  let content = "";
  const order: CarriedBlock[] = [];
  let answered = false;
  let strange = false;
  for (const [index, block] of listIn(body, "content").entries()) {
    const type = isObject(block) ? textIn(block, "type") : undefined;
    if (!isObject(block) || type === undefined) throw new Malformed(`block ${index} has no type`);
    const said = type === "text" ? (textIn(block, "text") ?? "") : "";
    content += said;
    const carried = carriedBlock(type, block, said);
    if (carried !== null) order.push(carried);
    if (type === "tool_use") {
      const call = callOf(textIn(block, "id"), textIn(block, "name"), sources[index], index);
      if (answering && call.name === ANSWER_TOOL) {
        content = call.arguments;
        answered = true;
      } else calls.push(call);
    } else if (carried === null) strange = true;
  }
  const stop = stopIn(body, "stop_reason", STOPS);
  return {
    content: kept(content, "the content"),
    calls,
    stop: answered && stop === "calls" && calls.length === 0 ? "end" : strange ? "other" : stop,
    usage: readAnthropicUsage(member(body, "usage")),
    response: { id: nameIn(body, "id"), model: nameIn(body, "model") },
    ...(answered ? {} : carriedFor(order)),
  };
}

function carriedBlock(type: string, block: WireObject, said: string): CarriedBlock | null {
  switch (type) {
    case "text":
      return { type, units: said.length };
    case "tool_use":
      return { type };
    case "thinking":
      return {
        type,
        thinking: kept(textIn(block, "thinking") ?? "", "a thought"),
        signature: kept(textIn(block, "signature") ?? "", "the signature of a thought"),
      };
    case "redacted_thinking":
      return { type, data: kept(textIn(block, "data") ?? "", "a thought") };
    default:
      return null;
  }
}

function callOf(
  id: string | undefined,
  name: string | undefined,
  source: string | undefined,
  index: number,
): ChatCall {
  if (name === undefined) throw new Malformed(`block ${index} names no tool`);
  return {
    id: kept(id ?? `call_${index}`, "the id of a tool call"),
    name: kept(name, "the name of a tool call"),
    arguments: sourceAt(source ?? "", "/input") ?? "",
  };
}

const STOPS: Readonly<Record<string, ChatStop>> = {
  end_turn: "end",
  stop_sequence: "end",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "filtered",
};

export function readAnthropicUsage(usage: unknown): ChatUsage {
  if (!isObject(usage)) return UNKNOWN_CHAT_USAGE;
  const beside = countIn(usage, "input_tokens");
  const cached = countIn(usage, "cache_read_input_tokens");
  const written = countIn(usage, "cache_creation_input_tokens");
  const output = countIn(usage, "output_tokens") ?? null;
  return usageOf(sum(beside, cached, written), output, cached ?? null, written ?? null);
}

/** Without a count of its cache a provider has used none; a count that is none leaves the sum unknown. */
function sum(beside: Count, cached: Count, written: Count): number | null {
  if (beside === undefined || beside === null || cached === null || written === null) return null;
  return beside + (cached ?? 0) + (written ?? 0);
}
