/** A run as its record tells it, for people and programs: every entry in order, and what stands behind it. */

import { type Digest, digestFromHex } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { shortened } from "../base/text.ts";
import type { ReceiptParts } from "../host/index.ts";
import type { AgentLimits, AgentTool } from "../model/agent.ts";
import type { AgentStateName } from "../model/agent-states.ts";
import type { ModelIdentity } from "../model/run.ts";
import { agentEntries, agentEvents } from "./entries.ts";
import type { AgentEvent, AgentEventType } from "./event.ts";
import { apply, ofRecord } from "./fold.ts";
import { type AgentReport, reportOf } from "./report.ts";
import { type AgentState, type CallState, callNumbered, stateName } from "./state.ts";

export interface AgentTrace {
  readonly report: AgentReport;
  readonly goal: string;
  readonly model: ModelIdentity;
  readonly tools: readonly AgentTool[];
  readonly parent: string | null;
  readonly limits: AgentLimits;
  readonly repeated: {
    /** Identical calls in a row, now and at most. */
    readonly in_a_row: number;
    readonly most_in_a_row: number;
    /** Turns in a row that brought nothing new. */
    readonly quiet_turns: number;
  };
  readonly calls: readonly TracedCall[];
  readonly events: readonly TracedEvent[];
}

export interface TracedCall {
  readonly call: number;
  readonly step: number;
  readonly tool: string;
  readonly arguments: JsonValue;
  /** `not_run`: asked for, and the run ended before it was its turn. */
  readonly outcome:
    | "done"
    | "failed_before_effect"
    | "refused"
    | "uncertain"
    | "invalid"
    | "in_flight"
    | "waiting"
    | "not_run";
  /** Code of a refusal or failure. */
  readonly code: string | null;
  /** Times it was handed to the tool. */
  readonly attempts: number;
  /** Digest of the entry of its last receipt. */
  readonly receipt: Digest | null;
}

export interface TracedEvent {
  readonly seq: number;
  /** Milliseconds since 1970 UTC. */
  readonly time: number;
  readonly event: AgentEventType;
  /** The state that it led to. */
  readonly state: AgentStateName;
  readonly what: string;
}

interface Tracing {
  readonly state: AgentState;
  readonly calls: readonly TracedCall[];
  readonly events: readonly TracedEvent[];
  readonly mostInARow: number;
}

/** @throws RoteError `unknown_run` `other_kind` `journal_damaged` `other_semantics` */
export function traceAgent(parts: ReceiptParts, run: string): AgentTrace {
  return tracedRun(parts, run).trace;
}

/** The trace and the state that it leads to, from one reading. @throws RoteError as `traceAgent` */
export function tracedRun(
  parts: ReceiptParts,
  run: string,
): { readonly trace: AgentTrace; readonly state: AgentState } {
  const { state, calls, events, mostInARow } = ofRecord(run, () => traced(parts, run));
  const { goal, model, tools, parent, limits } = state.start;
  const total = (events.at(-1)?.time ?? 0) - (events[0]?.time ?? 0);
  const trace = {
    report: reportOf(run, state, total),
    goal,
    model,
    tools,
    parent,
    limits,
    repeated: {
      in_a_row: state.streak.count,
      most_in_a_row: mostInARow,
      quiet_turns: state.progress.quiet,
    },
    calls,
    events,
  };
  return { trace, state };
}

function traced(parts: ReceiptParts, run: string): Tracing {
  const entries = agentEntries(parts, run);
  const events = agentEvents(parts, entries);
  const calls = new Map<number, TracedCall>();
  const told: TracedEvent[] = [];
  let state: AgentState | null = null;
  let mostInARow = 0;
  entries.forEach(({ entry, hash }, at) => {
    const event = events[at];
    if (event === undefined) return;
    state = apply(state, event);
    mostInARow = Math.max(mostInARow, state.streak.count);
    for (const call of state.calls) {
      const before = calls.get(call.number);
      const receipt =
        event.type === "settled" && event.call === call.number ? digestFromHex(hash) : null;
      calls.set(call.number, tracedCall(state, call, event, before, receipt));
    }
    const { seq, time } = entry;
    told.push({
      seq,
      time,
      event: event.type,
      state: stateName(state),
      what: wordsOf(state, event),
    });
  });
  if (state === null) throw new TypeError("a record without entries");
  return { state, calls: [...calls.values()], events: told, mostInARow };
}

function tracedCall(
  state: AgentState,
  { number, name, arguments: args, status, observation }: CallState,
  event: AgentEvent,
  before: TracedCall | undefined,
  receipt: Digest | null,
): TracedCall {
  const admitted = event.type === "admitted" && event.call === number ? 1 : 0;
  const mine = event.type === "settled" && event.call === number ? event : null;
  const open = state.end === null ? OPEN[status] : "not_run";
  const outcome =
    mine?.final === true
      ? mine.outcome
      : status === "settled"
        ? (before?.outcome ?? "invalid")
        : open;
  const { error } = (observation?.error === true ? observation.content : {}) as { error?: string };
  return {
    call: number,
    step: before?.step ?? state.step,
    tool: name,
    arguments: args ?? null,
    outcome,
    code: error ?? null,
    attempts: (before?.attempts ?? 0) + admitted,
    receipt: receipt ?? before?.receipt ?? null,
  };
}

const OPEN = {
  open: "not_run",
  requested: "waiting",
  executing: "in_flight",
  settled: "invalid",
} as const;

function wordsOf(state: AgentState, event: AgentEvent): string {
  switch (event.type) {
    case "started":
      return `${quoted(event.start.goal)} with ${event.start.tools.length} tools`;
    case "resumed":
      return "the run goes on";
    case "asked":
      return `turn ${event.step}, attempt ${event.attempt}`;
    case "replied": {
      const { calls, content, usage } = event.reply;
      const asks = calls.map(({ name }) => name).join(", ");
      const tokens = `${usage.input_tokens ?? "?"} + ${usage.output_tokens ?? "?"} tokens`;
      return `${calls.length > 0 ? `asks for ${asks}` : quoted(content)} (${tokens})`;
    }
    case "unanswered":
      return `${event.kind}: ${event.message}`;
    case "requested":
      return `approval of ${event.calls.map((number) => callWords(state, number)).join(", ")}`;
    case "admitted":
      return `${callWords(state, event.call)}${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}`;
    case "settled": {
      const why =
        event.refusal === null ? "" : `: ${event.refusal.message} [${event.refusal.code}]`;
      return `${callWords(state, event.call)} ${event.outcome}${why}`;
    }
    case "marked":
      return `turn ${event.step}: ${state.progress.quiet === 0 ? "moved on" : "nothing moved"}`;
    case "paused":
      return "put down";
    case "ended":
      return `${event.reason}${event.message === null ? "" : `: ${event.message}`}`;
  }
}

function callWords(state: AgentState, number: number): string {
  return `call ${number} of ${callNumbered(state, number)?.name ?? "?"}`;
}

const WORDS = 100;

function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return JSON.stringify(shortened(line, WORDS));
}
