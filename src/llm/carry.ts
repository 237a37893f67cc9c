/**
 * What goes back to a provider with a message of the model's: thoughts and their signatures, which it wants unchanged and
 * in their place. Kept with the reply as JSON of ours; what cannot be read as such is left out.
 */
import type { JsonValue } from "../base/json.ts";
import type { ChatMessage } from "../model/chat.ts";
import { isObject, member, textIn } from "./wire-json.ts";

/** One block of a message of Anthropic's, in order: thoughts whole, the rest by what it takes of content and calls. */
export type CarriedBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "text"; readonly units: number }
  | { readonly type: "tool_use" };

/** Nothing is carried where there were no thoughts. */
export function carriedFor(order: readonly CarriedBlock[]): { readonly carry?: JsonValue } {
  const thoughts = order.some(({ type }) => type === "thinking" || type === "redacted_thinking");
  return thoughts ? { carry: { blocks: order.map((block) => ({ ...block })) } } : {};
}

/** On the chat completions wire: the reasoning, and a signature for each call or null. */
export function carriedThoughts(
  reasoning: string,
  signatures: readonly (string | null)[],
): { readonly carry?: JsonValue } {
  const signed = signatures.some((signature) => signature !== null);
  if (reasoning === "" && !signed) return {};
  return {
    carry: {
      ...(reasoning === "" ? {} : { reasoning }),
      ...(signed ? { signatures: [...signatures] } : {}),
    },
  };
}

export type Carried =
  | { readonly kind: "blocks"; readonly blocks: readonly CarriedBlock[] }
  | {
      readonly kind: "thoughts";
      readonly reasoning: string;
      readonly signatures: readonly string[];
    };

/** What a message carries, if it fits the message; `signatures` has an empty text for a call without one. */
export function carriedBy({
  content,
  calls,
  carry,
}: ChatMessage & { readonly role: "assistant" }): Carried | null {
  if (!isObject(carry)) return null;
  const blocks = member(carry, "blocks");
  if (Array.isArray(blocks)) {
    const read = blocks.map(readBlock);
    const whole = read.filter((block) => block !== null);
    const units = whole.reduce((sum, block) => sum + (block.type === "text" ? block.units : 0), 0);
    const asked = whole.filter(({ type }) => type === "tool_use").length;
    const fits = whole.length === read.length && units === content.length;
    return fits && asked === calls.length ? { kind: "blocks", blocks: whole } : null;
  }
  const signatures = member(carry, "signatures");
  const listed: readonly unknown[] = Array.isArray(signatures) ? signatures : [];
  return {
    kind: "thoughts",
    reasoning: textIn(carry, "reasoning") ?? "",
    signatures: calls.map((_call, at) => (typeof listed[at] === "string" ? listed[at] : "")),
  };
}

function readBlock(block: unknown): CarriedBlock | null {
  if (!isObject(block)) return null;
  const { thinking, signature, data, units } = block;
  switch (block["type"]) {
    case "thinking":
      return typeof thinking === "string" && typeof signature === "string"
        ? { type: "thinking", thinking, signature }
        : null;
    case "redacted_thinking":
      return typeof data === "string" ? { type: "redacted_thinking", data } : null;
    case "text":
      return typeof units === "number" && Number.isSafeInteger(units) && units >= 0
        ? { type: "text", units }
        : null;
    case "tool_use":
      return { type: "tool_use" };
    default:
      return null;
  }
}
