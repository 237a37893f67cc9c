/**
 * The closed table of states and stop reasons (docs/states.md is generated from it). Every terminal run has exactly
 * one reason; a limit or a failure never looks like success.
 */
export const WAITING_STATES = ["ready", "running", "awaiting_model", "awaiting_approval"] as const;

export const STOP_REASONS = {
  verified: ["completed"],
  rejected: ["verify_failed", "verifier_rejected", "precondition_failed"],
  denied: [
    "identity_refused",
    "intent_refused",
    "warrant_refused",
    "tool_refused",
    "policy_denied",
    "security_denied",
    "approval_rejected",
    "approval_expired",
    "environment_changed",
    "not_qualified",
    "duplicate_operation",
  ],
  exhausted: [
    "max_steps",
    "max_runtime",
    "token_budget_exceeded",
    "budget_exceeded",
    "expression_limit",
  ],
  failed: [
    "provider_error",
    "tool_error",
    "invalid_model_response",
    "expression_error",
    "internal_error",
  ],
  uncertain: ["uncertain_operation"],
  cancelled: ["user_cancelled"],
} as const;

export type TerminalState = keyof typeof STOP_REASONS;
export type WaitingState = (typeof WAITING_STATES)[number];
export type RunStateName = WaitingState | TerminalState;
export type StopReason = (typeof STOP_REASONS)[TerminalState][number];

export const TERMINAL_STATES = Object.keys(STOP_REASONS) as readonly TerminalState[];

/** The terminal state that a stop reason belongs to. */
export function stateOf(reason: StopReason): TerminalState {
  for (const state of TERMINAL_STATES) {
    if ((STOP_REASONS[state] as readonly string[]).includes(reason)) return state;
  }
  throw new TypeError(`unknown stop reason ${reason}`);
}

/**
 * Exit codes of the command, from best to worst: a command over many runs ends with the worst. Only 0 means that
 * what was asked has been done; a run's code follows from its state, never from what was printed.
 */
export const EXIT_CODES = {
  verified: { code: 0, meaning: "done as asked; a run: verified by its independent verifier" },
  waiting: { code: 8, meaning: "the run waits for a model's answer or for an approval" },
  cancelled: { code: 130, meaning: "cancelled by Ctrl-C" },
  rejected: { code: 3, meaning: "a check, a precondition or the verifier said no" },
  exhausted: { code: 5, meaning: "a limit ended the run" },
  denied: { code: 4, meaning: "not permitted: not qualified, another environment, a refusal" },
  problem: { code: 1, meaning: "a document, an input, an answer or the memory has a problem" },
  usage: { code: 2, meaning: "the command line has a problem" },
  failed: { code: 6, meaning: "the run failed: an expression, a tool or a model" },
  uncertain: { code: 7, meaning: "the outcome of an operation is not known" },
  internal: { code: 70, meaning: "a fault of the command itself" },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;
export type ExitName = keyof typeof EXIT_CODES;

/** The exit that a run's state leads to. */
export function exitOf(state: RunStateName): ExitName {
  return (WAITING_STATES as readonly string[]).includes(state)
    ? "waiting"
    : (state as TerminalState);
}
