/** Agents over the hosts of `host.ts`, with scripted models. */
import { AgentRuntime, type AgentRuntimeOptions } from "../../src/app/agent-runtime.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { type Host, partsOf } from "../../src/host/index.ts";
import { scriptedChat } from "../../src/llm/scripted-chat.ts";
import type { AgentLimits } from "../../src/model/agent.ts";
import type { EntryType } from "../../src/model/journal.ts";
import type { ChatModel, ChatRequest } from "../../src/ports/chat-model.ts";

export interface CountedModel extends ChatModel {
  readonly requests: ChatRequest[];
}

/** One reply a turn, as lines of a script. */
export function script(...lines: readonly JsonValue[]): CountedModel {
  const read = scriptedChat(lines.map((line) => JSON.stringify(line)).join("\n"), "test");
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const requests: ChatRequest[] = [];
  return {
    requests,
    identity: read.value.identity,
    reply(request, signal) {
      requests.push(request);
      return read.value.reply(request, signal);
    },
  };
}

/** A turn that asks for one call. */
export function call(name: string, args: JsonValue): JsonValue {
  return { calls: [{ name, arguments: args }] };
}

export function calls(...asked: readonly (readonly [name: string, args: JsonValue])[]): JsonValue {
  return { calls: asked.map(([name, args]) => ({ name, arguments: args })) };
}

export function say(text: string): JsonValue {
  return { say: text };
}

export const QUICK: Partial<AgentLimits> = { retry_delay_ms: 0 };

export function runtimeOf(
  host: Host,
  model: ChatModel,
  change: Partial<AgentRuntimeOptions> = {},
): AgentRuntime {
  const { defaults, ...rest } = change;
  const limits = { ...QUICK, ...defaults?.limits };
  return new AgentRuntime({ host, model, defaults: { ...defaults, limits }, ...rest });
}

/** Types of a run's entries, in order. */
export function entryTypes(host: Host, run: string): readonly EntryType[] {
  return partsOf(host)
    .journal.read(run)
    .map(({ entry }) => entry.type);
}
