/**
 * A run as spans of the GenAI semantic conventions: `invoke_agent` around one `chat` an attempt at a turn and one
 * `execute_tool` an attempt at a call. They are made from the record, so they are whole for a run that several processes
 * worked on, and the same however often they are made. What was said, asked for and answered is in none of them.
 */
import type { ReceiptParts } from "../host/index.ts";
import type { ChatStop } from "../model/chat.ts";
import { agentEntries, agentEvents } from "./entries.ts";
import type { AgentEvent } from "./event.ts";
import { apply, ofRecord } from "./fold.ts";
import { reportOf } from "./report.ts";
import { type AgentState, callNumbered } from "./state.ts";

export type SpanAttributes = {
  readonly [name: string]: string | number | boolean | readonly string[];
};

export interface AgentSpan {
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Place of the span around it, which stands before it; null for the first. */
  readonly parent: number | null;
  /** Milliseconds since 1970 UTC. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** `error.type` of the conventions, and a sentence; null for what went well. */
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly events: readonly SpanEvent[];
}

export interface SpanEvent {
  readonly name: string;
  readonly timeMs: number;
  readonly attributes: SpanAttributes;
}

/** @throws RoteError `unknown_run` `other_kind` `journal_damaged` `other_semantics` */
export function agentSpans(parts: ReceiptParts, run: string): readonly AgentSpan[] {
  return ofRecord(run, () => spansOf(parts, run));
}

function spansOf(parts: ReceiptParts, run: string): readonly AgentSpan[] {
  const entries = agentEntries(parts, run);
  const making: Making = { run, inner: [], events: [], chat: null, tools: new Map() };
  let state: AgentState | null = null;
  let [first, last] = [0, 0];
  agentEvents(parts, entries).forEach((event, at) => {
    const time = entries[at]?.entry.time ?? last;
    if (state === null) first = time;
    last = time;
    state = apply(state, event);
    take(making, state, event, time);
  });
  if (state === null) throw new TypeError("a record without entries");
  // What is in flight ends where the record does; nobody knows better.
  lose(making, last);
  return [rootOf(making, state, first, last), ...making.inner];
}

type Open = Pick<AgentSpan, "name" | "startMs" | "attributes">;

interface Making {
  readonly run: string;
  readonly inner: AgentSpan[];
  readonly events: SpanEvent[];
  chat: Open | null;
  /** By the call's number. */
  readonly tools: Map<number, Open>;
}

function take(making: Making, state: AgentState, event: AgentEvent, timeMs: number): void {
  switch (event.type) {
    case "asked":
      making.chat = {
        name: `chat ${state.start.model.name}`,
        startMs: timeMs,
        attributes: {
          "gen_ai.operation.name": "chat",
          ...modelOf(state),
          "gen_ai.conversation.id": making.run,
          "rote.step": event.step,
          "rote.attempt": event.attempt,
        },
      };
      return;
    case "replied":
      endChat(making, timeMs, repliedAttributes(event.reply), null);
      return;
    case "unanswered":
      endChat(making, timeMs, {}, { type: event.kind, message: event.message });
      return;
    case "admitted": {
      const { id, name } = callOf(state, event.call);
      making.tools.set(event.call, {
        name: `execute_tool ${name}`,
        startMs: timeMs,
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": name,
          "gen_ai.tool.type": "function",
          "gen_ai.tool.call.id": id,
          "rote.call": event.call,
          "rote.attempt": event.attempt,
        },
      });
      return;
    }
    case "settled":
      endTool(making, state, event, timeMs);
      return;
    case "resumed":
      if (making.chat !== null) endChat(making, timeMs, {}, LOST);
      making.events.push({ name: "rote.resumed", timeMs, attributes: {} });
      return;
    case "paused":
      making.events.push({ name: "rote.paused", timeMs, attributes: {} });
      return;
    case "requested":
      making.events.push({
        name: "rote.approval_requested",
        timeMs,
        attributes: { "rote.calls": event.calls.map(String) },
      });
      return;
    case "started":
    case "marked":
    case "ended":
      return;
  }
}

const LOST = { type: "stopped", message: "nothing was heard of it" };

function lose(making: Making, timeMs: number): void {
  if (making.chat !== null) endChat(making, timeMs, {}, LOST);
  for (const [call, open] of making.tools) {
    making.inner.push(ended(open, "internal", timeMs, { "rote.outcome": "in_flight" }, LOST));
    making.tools.delete(call);
  }
}

function endChat(
  making: Making,
  timeMs: number,
  attributes: SpanAttributes,
  error: AgentSpan["error"],
): void {
  if (making.chat === null) return;
  making.inner.push(ended(making.chat, "client", timeMs, attributes, error));
  making.chat = null;
}

/** A call that the gate refused was not executed: it is told of, and is no span. */
function endTool(
  making: Making,
  state: AgentState,
  { call, outcome, refusal }: AgentEvent & { readonly type: "settled" },
  timeMs: number,
): void {
  const open = making.tools.get(call);
  const type = refusal?.code ?? outcome;
  if (open === undefined) {
    making.events.push({
      name: "rote.call_refused",
      timeMs,
      attributes: {
        "gen_ai.tool.name": callOf(state, call).name,
        "rote.call": call,
        "error.type": type,
      },
    });
    return;
  }
  making.tools.delete(call);
  const error = outcome === "done" ? null : { type, message: refusal?.message ?? outcome };
  making.inner.push(ended(open, "internal", timeMs, { "rote.outcome": outcome }, error));
}

function ended(
  open: Open,
  kind: AgentSpan["kind"],
  endMs: number,
  attributes: SpanAttributes,
  error: AgentSpan["error"],
): AgentSpan {
  return {
    ...open,
    kind,
    parent: 0,
    endMs,
    attributes: { ...open.attributes, ...attributes, ...typeOf(error) },
    error,
    events: [],
  };
}

function rootOf(
  { run, events }: Making,
  state: AgentState,
  startMs: number,
  endMs: number,
): AgentSpan {
  const { tokens, state: name, reason, message } = reportOf(run, state, endMs - startMs);
  const failed = reason !== null && reason !== "completed";
  const error = failed ? { type: reason, message: message ?? reason } : null;
  const { parent } = state.start;
  return {
    name: "invoke_agent",
    kind: "internal",
    parent: null,
    startMs,
    endMs,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      ...modelOf(state),
      "gen_ai.conversation.id": run,
      ...known("gen_ai.usage.input_tokens", tokens.input),
      ...known("gen_ai.usage.output_tokens", tokens.output),
      ...known("gen_ai.usage.cache_read.input_tokens", tokens.cached),
      "rote.state": name,
      ...known("rote.stop_reason", reason),
      ...known("rote.parent_run", parent),
      ...typeOf(error),
    },
    error,
    events,
  };
}

function modelOf({ start: { model } }: AgentState): SpanAttributes {
  return { "gen_ai.provider.name": model.provider, "gen_ai.request.model": model.name };
}

/** In the words of the conventions. */
const FINISHED: { readonly [stop in ChatStop]: string } = {
  end: "stop",
  calls: "tool_call",
  length: "length",
  filtered: "content_filter",
  other: "other",
};

function repliedAttributes({
  stop,
  usage,
  response,
}: (AgentEvent & { readonly type: "replied" })["reply"]): SpanAttributes {
  return {
    "gen_ai.response.finish_reasons": [FINISHED[stop]],
    ...known("gen_ai.response.id", response.id),
    ...known("gen_ai.response.model", response.model),
    ...known("gen_ai.usage.input_tokens", usage.input_tokens),
    ...known("gen_ai.usage.output_tokens", usage.output_tokens),
    ...known("gen_ai.usage.cache_read.input_tokens", usage.cached_input_tokens),
    ...known("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
  };
}

/** What is unknown has no attribute: a number in its place would be taken for one. */
function known(name: string, value: string | number | null): SpanAttributes {
  return value === null || value === "unknown" ? {} : { [name]: value };
}

function typeOf(error: AgentSpan["error"]): SpanAttributes {
  return error === null ? {} : { "error.type": error.type };
}

function callOf(state: AgentState, number: number) {
  return callNumbered(state, number) ?? { id: "", name: "unknown" };
}
