/**
 * Names and ids as providers take them. Hosts name tools like `ledger.post`, providers want letters, digits, `_` and `-`;
 * and an id may stand for one call of a conversation only, while some models count their calls from zero in every turn.
 * Both are put right on the way out and, for names, taken back on the way in; nothing in the record changes.
 */
import type { ChatMessage } from "../model/chat.ts";
import type { ChatRequest } from "../ports/chat-model.ts";

export interface WireNames {
  /** How the provider is told of a tool. */
  to(this: void, name: string): string;
  /** What the host calls it; a name that the provider was not told stays as it came. */
  from(this: void, name: string): string;
}

const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const LONGEST = 64;

/** For all names of a request. A name that may stay as it is does. */
export function wireNames({ tools, messages }: ChatRequest): WireNames {
  const names = new Set(tools.map((tool) => tool.name));
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.calls) names.add(call.name);
    if (message.role === "tool") names.add(message.name);
  }
  const out = new Map<string, string>();
  const back = new Map<string, string>();
  const put = (name: string, wire: string) => {
    out.set(name, wire);
    back.set(wire, name);
  };
  for (const name of names) if (ALLOWED.test(name)) put(name, name);
  for (const name of names) if (!out.has(name)) put(name, free(name, back));
  return {
    to: (name) => out.get(name) ?? name,
    from: (name) => back.get(name) ?? name,
  };
}

function free(name: string, taken: ReadonlyMap<string, string>): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, LONGEST) || "tool";
  let wire = plain;
  for (let count = 2; taken.has(wire); count += 1) {
    const ending = `_${count}`;
    wire = plain.slice(0, LONGEST - ending.length) + ending;
  }
  return wire;
}

/** The messages with every call's id used once, and every result under its call's id. */
export function withWireIds(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const used = new Map<string, number>();
  let open: { readonly id: string; readonly wire: string }[] = [];
  return messages.map((message) => {
    if (message.role === "assistant") {
      const calls = message.calls.map((call) => ({ ...call, id: unused(call.id, used) }));
      open = message.calls.map(({ id }, at) => ({ id, wire: calls[at]?.id ?? id }));
      return { ...message, calls };
    }
    if (message.role !== "tool") return message;
    const at = open.findIndex(({ id }) => id === message.call);
    const [answered] = at < 0 ? [] : open.splice(at, 1);
    return answered === undefined ? message : { ...message, call: answered.wire };
  });
}

/** `used` has how far each id was counted: one that comes in every turn costs the same in each. */
function unused(id: string, used: Map<string, number>): string {
  const plain = id === "" ? "call" : id;
  let count = used.get(plain) ?? 0;
  let wire = plain;
  do {
    count += 1;
    wire = count === 1 ? plain : `${plain}_${count}`;
  } while (used.has(wire));
  used.set(plain, count);
  if (wire !== plain) used.set(wire, 1);
  return wire;
}
