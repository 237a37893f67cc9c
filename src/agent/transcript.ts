/**
 * A run as a transcript for learning: what was asked, what was called with what result, what was said. It proposes; that
 * it was done does not make it right, so nobody's verdict is in it.
 */
import type { JsonValue } from "../base/json.ts";
import type { ReceiptParts } from "../host/index.ts";
import { itemsOf } from "./grown.ts";
import { type CallState, type Observation, stateName } from "./state.ts";
import { tracedRun } from "./trace.ts";

export interface Transcript {
  readonly type: "rote-transcript/v1";
  /** Origin of the journal that has the run. */
  readonly source: string;
  readonly task_id: string;
  readonly agent: string;
  readonly instruction: string;
  /** The order of talk and calls: `{"user"}`, `{"assistant"}`, `{"call": index}` into `tool_calls`. */
  readonly turns: readonly { readonly [kind: string]: JsonValue }[];
  readonly tool_calls: readonly TranscriptCall[];
  readonly final: string | null;
  readonly state: string;
  readonly reason: string | null;
  /** Always: an agent's word for it is no verification. */
  readonly verified: false;
  /** Names of the effects that were done, in order. */
  readonly mutations: readonly string[];
}

export interface TranscriptCall {
  readonly name: string;
  readonly arguments: JsonValue;
  readonly result: JsonValue;
  readonly error?: true;
  readonly category: "read" | "effect" | null;
  readonly outcome: string;
  readonly receipt: string | null;
}

/** @throws RoteError `unknown_run` `other_kind` `journal_damaged` `other_semantics` */
export function transcriptOf(parts: ReceiptParts, run: string): Transcript {
  const { trace, state } = tracedRun(parts, run);
  const categories = new Map(trace.tools.map(({ name, category }) => [name, category]));
  const turns: { readonly [kind: string]: JsonValue }[] = [];
  const results: Observation[] = [];
  let asked = 0;
  for (const message of itemsOf(state.conversation.messages)) {
    switch (message.role) {
      case "system":
        break;
      case "user":
        turns.push({ user: message.content });
        break;
      case "assistant":
        if (message.content !== "") turns.push({ assistant: message.content });
        turns.push(...message.calls.map((_, at) => ({ call: asked + at })));
        asked += message.calls.length;
        break;
      case "tool":
        results.push({ content: message.content, error: message.error });
        break;
    }
  }
  // The model is told of a turn's calls together; a turn in which the run ended has results all the same.
  if (results.length < asked) results.push(...state.calls.map(resultOf));
  const calls = trace.calls.map((call, at): TranscriptCall => {
    const result = results[at] ?? { content: { error: call.outcome }, error: true };
    return {
      name: call.tool,
      arguments: call.arguments,
      result: result.content,
      ...(result.error ? { error: true as const } : {}),
      category: categories.get(call.tool) ?? null,
      outcome: call.outcome,
      receipt: call.receipt,
    };
  });
  return {
    type: "rote-transcript/v1",
    source: parts.journal.origin,
    task_id: run,
    agent: `${trace.model.provider}:${trace.model.name}`,
    instruction: trace.goal,
    turns,
    tool_calls: calls,
    final: trace.report.output,
    state: stateName(state),
    reason: trace.report.reason,
    verified: false,
    mutations: calls.flatMap(({ name, category, outcome }) =>
      category === "effect" && outcome === "done" ? [name] : [],
    ),
  };
}

function resultOf({ observation, status }: CallState): Observation {
  return observation ?? { content: { error: status }, error: true };
}
