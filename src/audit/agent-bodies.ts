/** The closed forms of what stands in the chain of an agent run, written a second time as in `bodies.ts`. */
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import {
  count,
  digest,
  flag,
  json,
  kept,
  listOf,
  oneOf,
  orNull,
  record,
  type Shape,
  text,
} from "./shape.ts";

const limits = record({
  max_steps: count,
  max_tool_calls: count,
  max_active_ms: count,
  max_input_tokens: orNull(count),
  max_output_tokens: orNull(count),
  max_total_tokens: orNull(count),
  reserve_tokens: count,
  max_reply_tokens: orNull(count),
  repeated_action: count,
  no_progress: count,
  consecutive_errors: count,
  model_attempts: count,
  model_timeout_ms: count,
  retry_delay_ms: count,
  parallel_calls: count,
});

export const taskShape: Shape = record({
  goal: text,
  instructions: orNull(text),
  recalled: orNull(text),
});
const tool = record({
  name: text,
  category: oneOf(["read", "effect"]),
  definition: digest,
  poll: flag,
  key: listOf(text),
});
const environment = record({
  policy: text,
  tools: text,
  credentials: text,
  evidence: text,
  host_configuration: orNull(text),
});
const turn = { step: count, attempt: count, ms: count };
const tokens = orNull(count);
const faults = ["rate_limited", "timeout", "unavailable", "malformed", "refused", "stopped"];

export const saidShape: Shape = record(
  { content: text, calls: listOf(record({ id: text, name: text, arguments: text })) },
  // For the provider's adapter alone to read.
  { carry: json },
);

export const AGENT_SHAPES = {
  agent_started: kept("task", taskShape, {
    mode: oneOf(["agent"]),
    version: count,
    tools: listOf(tool),
    limits,
    stop_on: listOf(oneOf(["refused", "tool_error", "invalid_call"])),
    markers: flag,
    model: record({ provider: text, name: text }),
    environment,
    identity: text,
    intent: orNull(digest),
    parent: orNull(text),
    root: orNull(record({ run: text, limits })),
  }),
  agent_asked: record({ ...turn, request: digest }),
  agent_replied: kept("said", saidShape, {
    ...turn,
    stop: oneOf(["end", "calls", "length", "filtered", "other"]),
    usage: record({
      input_tokens: tokens,
      output_tokens: tokens,
      cached_input_tokens: tokens,
      cache_write_tokens: tokens,
    }),
    response: record({ id: orNull(text), model: orNull(text) }),
  }),
  agent_unanswered: record({
    ...turn,
    kind: oneOf(faults),
    message: text,
    retry: flag,
    retry_after_ms: orNull(count),
  }),
  agent_marked: record({ step: count, marker: digest, ms: count }),
  agent_paused: record({ ms: count }),
} as const;

export interface Said {
  readonly content: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  readonly carry?: JsonValue;
}

export interface Task {
  readonly goal: string;
  readonly instructions: string | null;
  readonly recalled: string | null;
}

interface Turn {
  readonly step: number;
  readonly attempt: number;
  readonly ms: number;
}

export interface Limits {
  readonly max_steps: number;
  readonly max_tool_calls: number;
  readonly max_active_ms: number;
  readonly max_input_tokens: number | null;
  readonly max_output_tokens: number | null;
  readonly max_total_tokens: number | null;
  readonly reserve_tokens: number;
  readonly max_reply_tokens: number | null;
  readonly repeated_action: number;
  readonly no_progress: number;
  readonly consecutive_errors: number;
  readonly model_attempts: number;
  readonly parallel_calls: number;
}

export interface AgentBodies {
  readonly agent_started: {
    readonly version: number;
    readonly tools: readonly {
      readonly name: string;
      readonly category: string;
      readonly definition: Digest;
      readonly poll: boolean;
    }[];
    readonly limits: Limits;
    readonly stop_on: readonly string[];
    readonly markers: boolean;
    readonly environment: { readonly [part: string]: JsonValue };
    readonly identity: string;
    readonly parent: string | null;
    readonly root: { readonly run: string; readonly limits: Limits } | null;
    readonly task?: Task;
    readonly task_blob?: string;
  };
  readonly agent_asked: Turn & { readonly request: Digest };
  readonly agent_replied: Turn & {
    readonly stop: string;
    readonly usage: {
      readonly input_tokens: number | null;
      readonly output_tokens: number | null;
    };
    readonly said?: JsonValue & Said;
    readonly said_blob?: string;
  };
  readonly agent_unanswered: Turn & { readonly kind: string; readonly retry: boolean };
  readonly agent_marked: { readonly step: number; readonly marker: Digest; readonly ms: number };
  readonly agent_paused: { readonly ms: number };
}
