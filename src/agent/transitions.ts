/**
 * Which event may follow which state: the one table, asked before anything is written and again when it is read back.
 *
 * - I1 The first event is `started`, and there is one.
 * - I2 There is one terminal event, and nothing behind it.
 * - I3 No result without its start, none twice, and no call twice.
 * - I4 An answer is of the turn and attempt that was asked.
 * - I5 While an operation is in flight, the run can neither be put down nor ended.
 */
import { RoteError } from "../base/error.ts";
import type { AgentEvent, AgentEventType, SettledEvent } from "./event.ts";
import { type AgentState, callNumbered, type Phase, stateName } from "./state.ts";

const CALLS = ["requested", "admitted", "settled", "paused", "resumed", "ended"] as const;

export const TRANSITIONS: { readonly [phase in Phase]: readonly AgentEventType[] } = {
  created: ["asked", "paused", "resumed", "ended"],
  model_pending: ["asked", "replied", "unanswered", "paused", "resumed", "ended"],
  decision_received: CALLS,
  tool_pending: CALLS,
  approval_pending: CALLS,
  tool_executing: ["requested", "admitted", "settled", "resumed"],
  observation_recorded: ["asked", "marked", "paused", "resumed", "ended"],
};

/** Why an event cannot happen in a state; null when it can. */
export function transitionFault(state: AgentState | null, event: AgentEvent): string | null {
  if (state === null) return event.type === "started" ? null : `${event.type} before the start`;
  const refuse = (why: string) => `${event.type} in ${stateName(state)}: ${why}`;
  if (event.type === "started") return refuse("it has started");
  if (state.end !== null) return refuse("it has ended");
  if (state.paused) return event.type === "resumed" ? null : refuse("it is paused");
  if (!TRANSITIONS[state.phase].includes(event.type)) return refuse("no such transition");
  const why = detailFault(state, event);
  return why === null ? null : refuse(why);
}

/** @throws RoteError `internal_error` for an event that the state does not admit */
export function refuseFault(state: AgentState | null, event: AgentEvent): void {
  const fault = transitionFault(state, event);
  if (fault !== null) throw new RoteError("internal_error", `The agent's run: ${fault}.`);
}

function detailFault(state: AgentState, event: AgentEvent): string | null {
  switch (event.type) {
    case "asked": {
      const again = state.phase === "model_pending";
      if (again && state.turn.asking) return "the attempt before is open";
      const step = again ? state.step : state.step + 1;
      const attempt = again ? state.turn.attempt + 1 : 1;
      if (event.step === step && event.attempt === attempt) return null;
      return `turn ${step}.${attempt} is next, not ${event.step}.${event.attempt}`;
    }
    case "replied":
    case "unanswered": {
      const { attempt, asking } = state.turn;
      if (asking && event.step === state.step && event.attempt === attempt) return null;
      return `turn ${event.step}.${event.attempt} was not asked`;
    }
    case "requested":
      return event.calls.every((number) => isOpen(state, number)) ? null : "a call is not open";
    case "admitted": {
      const call = callNumbered(state, event.call);
      if (call === undefined) return `there is no call ${event.call} in this turn`;
      if (!isOpen(state, event.call)) return `call ${event.call} is not open`;
      if (call.name !== event.tool)
        return `call ${event.call} is of ${call.name}, not of ${event.tool}`;
      if (event.attempt === call.broken + 1) return null;
      return `attempt ${call.broken + 1} of call ${event.call} is next`;
    }
    case "settled":
      return settledFault(state, event);
    case "marked":
      if (!state.start.markers) return "no markers are in use";
      if (state.progress.marked) return "the turn is marked";
      return event.step === state.step ? null : `turn ${state.step} is to be marked`;
    case "paused":
      return state.turn.asking ? "the model is being asked" : null;
    case "ended":
      return state.phase === "model_pending" && state.turn.asking ? "the model is asked" : null;
    case "started":
    case "resumed":
      return null;
  }
}

function settledFault(state: AgentState, { call: number, admitted, final }: SettledEvent) {
  const call = callNumbered(state, number);
  if (call === undefined) return `there is no call ${number} in this turn`;
  if (admitted) return call.status === "executing" ? null : `call ${number} is not in flight`;
  if (!isOpen(state, number)) return `call ${number} is not open`;
  return final ? null : "a refusal is final";
}

function isOpen(state: AgentState, number: number): boolean {
  const status = callNumbered(state, number)?.status;
  return status === "open" || status === "requested";
}
