/** States of agent runs; their stop reasons are those of all runs. */
import { type Explanation, type StopReason, stateOf, type TerminalState } from "./stop.ts";

/** Where an agent run is while it goes on. */
export const AGENT_STATES = [
  "created",
  "model_pending",
  "decision_received",
  "tool_pending",
  "approval_pending",
  "tool_executing",
  "observation_recorded",
  "paused",
] as const;
export type AgentWaitingState = (typeof AGENT_STATES)[number];

/** Where a reason ends an agent run, by where it ends a procedure's. */
const AGENT_STATE_OF = {
  verified: "completed",
  rejected: "stopped",
  denied: "stopped",
  exhausted: "stopped",
  failed: "failed",
  uncertain: "stopped",
  cancelled: "cancelled",
} as const satisfies Readonly<Record<TerminalState, string>>;

export const AGENT_TERMINAL_STATES = ["completed", "stopped", "failed", "cancelled"] as const;
export type AgentTerminalState = (typeof AGENT_TERMINAL_STATES)[number];
export type AgentStateName = AgentWaitingState | AgentTerminalState;

/** The terminal state of an agent run that a stop reason belongs to. */
export function agentStateOf(reason: StopReason): AgentTerminalState {
  return AGENT_STATE_OF[stateOf(reason)];
}

export function isAgentTerminal(state: string): state is AgentTerminalState {
  return AGENT_TERMINAL_STATES.some((one) => one === state);
}

export const AGENT_STATE_NOTES: { readonly [state in AgentStateName]: Explanation } = {
  created: {
    meaning: "The goal is recorded; the model was not asked yet.",
    todo: "Resume the run.",
  },
  model_pending: {
    meaning: "The model was asked and has not answered.",
    todo: "Wait; where nobody is at work on it any more, resume the run: the model is asked again.",
  },
  decision_received: {
    meaning: "The model has answered; nothing that it asked for has been done.",
    todo: "Resume the run.",
  },
  tool_pending: {
    meaning: "Some of the calls that the model asked for are done, others not.",
    todo: "Resume the run; what is done is not done again.",
  },
  approval_pending: {
    meaning: "A call waits for a reviewer's signature.",
    todo: "Show the request to a reviewer, and resume the run when it is decided.",
  },
  tool_executing: {
    meaning: "A call was admitted and has no recorded outcome.",
    todo: "Wait; where nobody is at work on it any more, resume the run: it is found out about, never repeated blindly.",
  },
  observation_recorded: {
    meaning: "Everything that the model asked for has an outcome.",
    todo: "Resume the run.",
  },
  paused: {
    meaning: "Whoever advanced the run has put it down, with nothing in flight.",
    todo: "Resume the run.",
  },
  completed: {
    meaning: "The model gave its answer. Nobody has verified it.",
    todo: "Look at the answer; learn a procedure from it, and have that verified.",
  },
  stopped: {
    meaning: "A limit, a refusal or an uncertain operation ended the run.",
    todo: "The reason says which; what was done stays done.",
  },
  failed: {
    meaning: "The run could not be carried out.",
    todo: "Repair the cause named by the reason; then start a new run.",
  },
  cancelled: {
    meaning: "The run was cancelled. What had been done before is not undone.",
    todo: "Read the trace for what was done; start a new run when wanted.",
  },
};
