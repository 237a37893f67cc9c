/**
 * The fold: one event onto a state. Pure and total over what `transitionFault` lets through; the same events give the
 * same state in every process, and the order in which calls of one turn finish makes no difference to what follows.
 */
import { assertNever } from "../base/assert.ts";
import { type Digest, digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { bounded, CANCELLED } from "../host/index.ts";
import type { AgentStart, Stopping } from "../model/agent.ts";
import type { ChatReply } from "../model/chat.ts";
import { GATE_CODES, type GateCode } from "../model/operation.ts";
import type { StopReason } from "../model/stop.ts";
import { callOf, errorObservation, INVALID_CALLS, streakAfter } from "./calls.ts";
import { begun, said } from "./conversation.ts";
import type { AgentEvent, SettledEvent } from "./event.ts";
import { observationFingerprint } from "./fingerprint.ts";
import { grow, grown, known, knows, learn } from "./grown.ts";
import {
  type AgentState,
  type CallState,
  callNumbered,
  isExecuting,
  type Phase,
  type Stop,
  type TurnState,
} from "./state.ts";
import { refuseFault } from "./transitions.ts";
import { NO_USAGE, withoutReply, withReply } from "./usage.ts";

/** @throws RoteError `internal_error` for an event that the state does not admit */
export function apply(state: AgentState | null, event: AgentEvent): AgentState {
  refuseFault(state, event);
  if (event.type === "started") return created(event.start);
  if (state === null) throw new TypeError("a run without its start");
  switch (event.type) {
    case "resumed":
      return resumed(state);
    case "asked":
      return asked(state, event);
    case "replied":
      return replied({ ...state, activeMs: event.ms }, event.reply);
    case "unanswered":
      return unanswered(state, event);
    case "requested":
      return withCalls(
        state,
        state.calls.map((call) =>
          event.calls.includes(call.number) ? { ...call, status: "requested" } : call,
        ),
      );
    case "admitted":
      return withCalls(
        // Calls of one turn are admitted in any order.
        { ...state, activeMs: Math.max(state.activeMs, event.ms) },
        changed(state, event.call, { status: "executing" }),
      );
    case "settled":
      return settled(state, event);
    case "marked":
      return judged(
        { ...state, activeMs: event.ms },
        event.marker !== state.progress.marker,
        event.marker,
      );
    case "paused":
      return { ...state, activeMs: event.ms, paused: true };
    case "ended": {
      const { reason, message, code, ms } = event;
      return { ...state, activeMs: ms, end: { reason, message, code } };
    }
    default:
      return assertNever(event, "event");
  }
}

/**
 * What is made of events that were read back: one that the state does not admit was not written by this version.
 *
 * @throws RoteError `journal_damaged`
 */
export function ofRecord<T>(run: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RoteError) || error.code !== "internal_error") throw error;
    throw new RoteError("journal_damaged", `The record of ${run}: ${error.message}`, { run });
  }
}

export function fold(events: Iterable<AgentEvent>): AgentState | null {
  let state: AgentState | null = null;
  for (const event of events) state = apply(state, event);
  return state;
}

const NEW_TURN: TurnState = {
  attempt: 0,
  asking: false,
  failed: 0,
  lastFault: null,
  said: null,
};

function created(start: AgentStart): AgentState {
  return {
    start,
    phase: "created",
    paused: false,
    step: 0,
    turn: NEW_TURN,
    conversation: begun(start),
    calls: [],
    callsAsked: 0,
    usage: NO_USAGE,
    streak: { fingerprint: null, count: 0, observation: null },
    errors: { inARow: 0, total: 0 },
    progress: {
      seen: known(),
      quiet: 0,
      actions: grown(),
      marker: null,
      marked: true,
    },
    rejected: known(),
    activeMs: 0,
    answer: null,
    end: null,
  };
}

/** An attempt of which nothing was heard is lost; whoever was to hear of it has gone. */
function resumed(state: AgentState): AgentState {
  if (!state.turn.asking) return { ...state, paused: false };
  const message = "the process ended before there was a reply";
  const lost = withLost(state, "stopped", message);
  return { ...lost, turn: { ...lost.turn, failed: state.turn.failed + 1 }, paused: false };
}

function withLost(
  state: AgentState,
  kind: Parameters<typeof withoutReply>[2],
  message: string,
): AgentState {
  return {
    ...state,
    usage: withoutReply(state.usage, state.start.limits, kind),
    turn: {
      ...state.turn,
      asking: false,
      lastFault: { kind, message, retry: true, retryAfterMs: null },
    },
  };
}

function asked(
  state: AgentState,
  { step, attempt, ms }: AgentEvent & { readonly type: "asked" },
): AgentState {
  const again = state.phase === "model_pending";
  return {
    ...state,
    phase: "model_pending",
    step,
    turn: { ...(again ? state.turn : NEW_TURN), attempt, asking: true },
    calls: again ? state.calls : [],
    usage: { ...state.usage, attempts: state.usage.attempts + 1 },
    activeMs: ms,
  };
}

function unanswered(
  state: AgentState,
  { kind, message, retry, retryAfterMs, ms }: AgentEvent & { readonly type: "unanswered" },
): AgentState {
  const lost = withLost(state, kind, message);
  const failed = state.turn.failed + (kind === "stopped" ? 0 : 1);
  const lastFault = { kind, message, retry, retryAfterMs };
  return { ...lost, turn: { ...lost.turn, failed, lastFault }, activeMs: ms };
}

function replied(state: AgentState, reply: ChatReply): AgentState {
  const { start, turn, progress, callsAsked } = state;
  const unusable = unusableReply(reply);
  const usage = withReply(state.usage, start.limits, reply.usage);
  const answer = reply.content.trim() === "" ? state.answer : reply.content;
  const common = { ...state, usage, answer, phase: "decision_received" as const };
  if (unusable !== null) {
    return { ...common, turn: { ...turn, asking: false, said: { unusable } } };
  }
  const { content, calls, carry } = reply;
  const conversation = said(state.conversation, {
    role: "assistant",
    content,
    calls,
    ...(carry === undefined ? {} : { carry }),
  });
  const next: AgentState = {
    ...common,
    conversation,
    turn: { ...turn, asking: false, said: calls.length > 0 ? "calls" : "answer" },
    calls: calls.map((call, at) => withStop(start, callOf(start, callsAsked + at, call))),
    callsAsked: callsAsked + calls.length,
    progress: { ...progress, marked: false },
  };
  if (calls.length === 0) return next;
  return advanced(next, 0, "decision_received");
}

/** A reply that was cut off, filtered or is empty: nothing of it is done, however whole some part looks. */
function unusableReply({ stop, content, calls }: ChatReply): string | null {
  switch (stop) {
    case "length":
      return "the reply was cut off at its greatest length";
    case "filtered":
      return "the provider withheld a part of the reply";
    case "other":
      return "the provider did not say why the reply ends";
    case "calls":
      return calls.length === 0 ? "the reply ends to call tools, and names none" : null;
    case "end":
      return calls.length === 0 && content.trim() === "" ? "the reply is empty" : null;
  }
}

function withStop({ stop_on: stops }: AgentStart, call: CallState): CallState {
  if (call.observation === null || !stops.includes("invalid_call")) return call;
  return { ...call, stop: stopFor("invalid_model_response", call) };
}

function settled(state: AgentState, event: SettledEvent): AgentState {
  const { call: number, outcome, refusal, admitted, final } = event;
  const before = callNumbered(state, number);
  if (before === undefined) throw new TypeError("a result without its call");
  if (!final) {
    const broken = before.broken + 1;
    return withCalls(state, changed(state, number, { status: "open", broken }));
  }
  const { code, message } = refusal ?? { code: outcome, message: outcome };
  const observation =
    outcome === "done"
      ? { content: event.result ?? null, error: false }
      : errorObservation(code, message);
  const from = settledUpTo(state.calls);
  const told: CallState = { ...before, status: "settled", observation };
  const stop =
    outcome === "uncertain"
      ? stopFor("uncertain_operation", told)
      : stoppingBy(state.start.stop_on, told, admitted, code);
  const calls = changed(state, number, { ...told, stop });
  const rejected =
    !admitted && code === "approval_rejected"
      ? learn(state.rejected, before.fingerprint)
      : state.rejected;
  return advanced({ ...withCalls(state, calls), rejected }, from, null);
}

function stoppingBy(
  stops: readonly Stopping[],
  call: CallState,
  admitted: boolean,
  code: string,
): Stop | null {
  if (call.observation?.error !== true) return null;
  if (INVALID_CALLS.includes(code)) {
    return stops.includes("invalid_call") ? stopFor("invalid_model_response", call) : null;
  }
  // Somebody told it to stop, and says why the run ends.
  if (admitted && code === CANCELLED) return null;
  if (admitted) return stops.includes("tool_error") ? stopFor("tool_error", call) : null;
  return endsRun(stops, code) ? stopFor(gateReason(code), call) : null;
}

/** True when a run ends by a refusal of the gate with this code. */
export function refusalEnds({ stop_on: stops }: AgentStart, code: string): boolean {
  return INVALID_CALLS.includes(code) ? stops.includes("invalid_call") : endsRun(stops, code);
}

function endsRun(stops: readonly Stopping[], code: string): boolean {
  return stops.includes("refused") || !TELLABLE.includes(code);
}

/** Refusals that are about the one call; after any other, no further call can be expected to pass. */
const TELLABLE: readonly string[] = [
  "intent_not_covered",
  "warrant_not_covered",
  "policy_denied",
  "security_denied",
  "approval_rejected",
  "approval_expired",
  "duplicate_key",
] satisfies readonly GateCode[];

function gateReason(code: string): StopReason {
  return Object.hasOwn(GATE_CODES, code)
    ? GATE_CODES[code as keyof typeof GATE_CODES]
    : "internal_error";
}

function stopFor(reason: StopReason, { name, number, observation }: CallState): Stop {
  const { error, message } = (observation?.content ?? {}) as {
    readonly error?: string;
    readonly message?: string;
  };
  return {
    reason,
    message: bounded(`call ${number} of ${bounded(name, 128)}: ${message ?? reason}`),
    code: error ?? null,
  };
}

/** Takes calls that are settled, with all before them, into streak and errors; ends the turn behind the last one. */
function advanced(state: AgentState, from: number, phase: Phase | null): AgentState {
  const upTo = settledUpTo(state.calls);
  let { streak, errors } = state;
  const { consecutive_errors: limit } = state.start.limits;
  for (const call of state.calls.slice(from, upTo)) {
    streak = streakAfter(state.start, streak, call);
    if (isBrokenOff(call)) continue;
    const failed = call.observation?.error === true;
    if (failed) errors = { inARow: errors.inARow + 1, total: errors.total + 1 };
    // Once there were too many, no call behind them makes up for it.
    else if (errors.inARow < limit) errors = { ...errors, inARow: 0 };
  }
  const next = { ...state, streak, errors };
  if (upTo === state.calls.length) return observed(next);
  return phase === null ? next : { ...next, phase };
}

/** The host's own word: a tool cannot give it. */
function isBrokenOff({ observation }: CallState): boolean {
  if (observation?.error !== true) return false;
  return (observation.content as { readonly error?: JsonValue }).error === CANCELLED;
}

function settledUpTo(calls: readonly CallState[]): number {
  const open = calls.findIndex(({ status }) => status !== "settled");
  return open < 0 ? calls.length : open;
}

/** Every call of the turn has an outcome: the model will be told, in the order in which it asked. */
function observed(state: AgentState): AgentState {
  let { conversation } = state;
  let { seen, actions } = state.progress;
  let fresh = false;
  for (const call of state.calls) {
    const { id, name, category, fingerprint, observation } = call;
    // Whoever told it to stop says why the run ends; what it would have brought, nobody knows.
    if (isBrokenOff(call)) fresh = true;
    const { content, error } = observation ?? errorObservation("missing", "no outcome");
    conversation = said(conversation, { role: "tool", call: id, name, content, error });
    // That something fails, or fails in another way, is nothing new to go on with.
    if (error) continue;
    // A read brings what it answers; an effect changes something, if it was not done in the same way before.
    const brought = category === "effect" ? fingerprint : observationFingerprint(name, content);
    if (!knows(seen, brought)) fresh = true;
    seen = learn(seen, brought);
  }
  const did = digestOf(
    TAGS.turn,
    state.calls.map(({ fingerprint }) => fingerprint),
  );
  actions = grow(actions, did);
  const progress = { ...state.progress, seen, actions };
  const next: AgentState = {
    ...state,
    phase: "observation_recorded",
    conversation,
    progress,
  };
  return state.start.markers ? next : judged(next, fresh, null);
}

function judged(state: AgentState, fresh: boolean, marker: Digest | null): AgentState {
  const quiet = fresh ? 0 : state.progress.quiet + 1;
  return { ...state, progress: { ...state.progress, quiet, marker, marked: true } };
}

function withCalls(state: AgentState, calls: readonly CallState[]): AgentState {
  const next = { ...state, calls };
  if (isExecuting(next)) return { ...next, phase: "tool_executing" };
  const asks = calls.some(({ status }) => status === "requested");
  return { ...next, phase: asks ? "approval_pending" : "tool_pending" };
}

function changed(state: AgentState, number: number, change: Partial<CallState>) {
  return state.calls.map((call) => (call.number === number ? { ...call, ...change } : call));
}
