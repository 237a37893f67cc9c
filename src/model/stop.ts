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
