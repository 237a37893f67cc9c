/** What a run does next: a function of its state alone, so that every process goes on in the same way. */
import { streakWith } from "./calls.ts";
import {
  noProgress,
  outOfSteps,
  outOfTokens,
  overTime,
  overTokens,
  stop,
  tooManyErrors,
} from "./limits.ts";
import { type AgentState, type CallState, isExecuting, type Stop, stoppingOf } from "./state.ts";

export type Next =
  | { readonly kind: "ask"; readonly step: number; readonly attempt: number }
  | { readonly kind: "call"; readonly calls: readonly CallState[] }
  | { readonly kind: "mark" }
  | { readonly kind: "end"; readonly stop: Stop }
  /** Nothing can be done before what is in flight has an outcome. */
  | { readonly kind: "wait" };

export function nextOf(state: AgentState): Next {
  if (state.end !== null) return { kind: "end", stop: state.end };
  if (isExecuting(state) || state.turn.asking) return { kind: "wait" };
  const over = stoppingOf(state) ?? overTime(state) ?? overTokens(state);
  if (over !== null) return { kind: "end", stop: over };
  switch (state.phase) {
    case "created":
    case "observation_recorded":
      return nextTurn(state);
    case "model_pending":
      return nextAttempt(state);
    case "decision_received":
    case "tool_pending":
    case "approval_pending":
    case "tool_executing":
      return nextCalls(state);
  }
}

function nextTurn(state: AgentState): Next {
  const errors = tooManyErrors(state) ?? repeatedFault(state);
  if (errors !== null) return { kind: "end", stop: errors };
  if (!state.progress.marked) return { kind: "mark" };
  const over = noProgress(state) ?? outOfSteps(state) ?? outOfTokens(state);
  if (over !== null) return { kind: "end", stop: over };
  return { kind: "ask", step: state.step + 1, attempt: 1 };
}

function nextAttempt(state: AgentState): Next {
  const { turn, start, step } = state;
  const fault = turn.lastFault;
  const { model_attempts: attempts } = start.limits;
  if (fault !== null && fault.kind !== "stopped" && !fault.retry) {
    return { kind: "end", stop: stop("provider_error", fault.message, fault.kind) };
  }
  if (fault !== null && turn.failed >= attempts) {
    const message = `${turn.failed} attempts failed, the last one: ${fault.message}`;
    return { kind: "end", stop: stop("provider_error", message, fault.kind) };
  }
  const over = outOfTokens(state);
  if (over !== null) return { kind: "end", stop: over };
  return { kind: "ask", step, attempt: turn.attempt + 1 };
}

function nextCalls(state: AgentState): Next {
  const { said } = state.turn;
  if (said === "answer") {
    return { kind: "end", stop: { reason: "completed", message: null, code: null } };
  }
  if (said !== "calls") {
    const message = said === null ? "there is no reply" : said.unusable;
    return { kind: "end", stop: stop("invalid_model_response", message) };
  }
  const errors = tooManyErrors(state) ?? repeatedFault(state);
  if (errors !== null) return { kind: "end", stop: errors };
  return nextBatch(state);
}

/** The next call; where it is a read, those behind it as well, up to the next effect. */
function nextBatch(state: AgentState): Next {
  const batch: CallState[] = [];
  for (const one of comingUp(state)) {
    if ("reason" in one) {
      if (batch.length === 0) return { kind: "end", stop: one };
      break;
    }
    if (one.category === "effect" && batch.length > 0) break;
    batch.push(one);
    if (one.category === "effect" || batch.length >= state.start.limits.parallel_calls) break;
  }
  return { kind: "call", calls: batch };
}

/** Effects behind a call of the turn that come up as well, if nothing that happens until then ends the run. */
export function effectsBehind(state: AgentState, number: number): readonly CallState[] {
  return [...comingUp(state)].flatMap((one) =>
    "reason" in one || one.number <= number || one.category !== "effect" ? [] : [one],
  );
}

/** Calls of the turn that have no outcome, in order, and what does not let the one behind them through. */
function* comingUp({ start, calls, streak }: AgentState): Generator<CallState | Stop> {
  const { repeated_action: limit, max_tool_calls: most } = start.limits;
  const from = calls.findIndex(({ status }) => status !== "settled");
  let before = streak;
  for (let at = Math.max(0, from); at < calls.length; at += 1) {
    const call = calls[at];
    if (call === undefined) return;
    const count = streakWith(before, call);
    before = { ...before, fingerprint: call.fingerprint, count };
    if (call.status === "settled") continue;
    if (call.number >= most) {
      yield stop("max_steps", `${most} of ${most} tool calls were asked for`);
      return;
    }
    if (count >= limit) {
      const message = `call ${call.number} would be ${call.name} for the ${ordinal(count)} time in a row with the same arguments`;
      yield stop("repeated_action", message);
      return;
    }
    yield call;
  }
}

/** Calls that no tool could be called with are never open, and can be repeated all the same. */
function repeatedFault({ start, streak, errors }: AgentState): Stop | null {
  if (errors.inARow === 0 || streak.count < start.limits.repeated_action) return null;
  return stop("repeated_action", `the same call was asked for ${streak.count} times in a row`);
}

function ordinal(count: number): string {
  if (count === 2) return "second";
  return count === 3 ? "third" : `${count}th`;
}
