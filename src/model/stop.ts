/**
 * The closed table of states and stop reasons, with what each means and what to do about it. `docs/states.md` is
 * generated from it. Every terminal run has exactly one reason; a limit or a failure never looks like success.
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
    // Of agent runs only.
    "repeated_action",
    "no_progress",
    "consecutive_errors",
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

const STATE_OF: ReadonlyMap<string, TerminalState> = new Map(
  TERMINAL_STATES.flatMap((state) => STOP_REASONS[state].map((reason) => [reason, state] as const)),
);

/** The terminal state that a stop reason belongs to. */
export function stateOf(reason: StopReason): TerminalState {
  const state = STATE_OF.get(reason);
  if (state === undefined) throw new TypeError(`unknown stop reason ${reason}`);
  return state;
}

/** True for a state that a run never leaves. */
export function isTerminal(state: RunStateName): state is TerminalState {
  return Object.hasOwn(STOP_REASONS, state);
}

/** What a state or reason means, and what to do next, in words for people. */
export interface Explanation {
  readonly meaning: string;
  readonly todo: string;
}

export const STATE_NOTES: { readonly [state in RunStateName]: Explanation } = {
  ready: {
    meaning: "Inputs are read and accepted; no node has run yet.",
    todo: "Advance the run.",
  },
  running: {
    meaning: "Nodes are being evaluated, or an operation is in flight.",
    todo: "Wait for the call that advances the run to return.",
  },
  awaiting_model: {
    meaning: "At least one model node waits for an answer; `pending` lists them all.",
    todo: "Advance the run with an answer of the stated type.",
  },
  awaiting_approval: {
    meaning: "Operations wait for a reviewer's signature.",
    todo: "Show the request to a reviewer and advance the run with the signed approval.",
  },
  verified: {
    meaning: "Every node is done and the application's own verifier accepted the completed result.",
    todo: "Use the result. Only this state counts as success.",
  },
  rejected: {
    meaning: "A check said no: the recipe's, a precondition, or the verifier.",
    todo: "Treat the result as wrong; look at the failing check and at the inputs.",
  },
  denied: {
    meaning: "Something that only the host or a reviewer can allow was not allowed.",
    todo: "Change what is asked for, or have the host's owner allow it; then start a new run.",
  },
  exhausted: {
    meaning: "A limit was reached before the work was done.",
    todo: "Find out why the limit did not suffice before raising it; then start a new run.",
  },
  failed: {
    meaning: "The run could not be carried out.",
    todo: "Repair the cause named in the report; then start a new run.",
  },
  uncertain: {
    meaning: "An operation was dispatched and its outcome is unknown. Nothing is repeated.",
    todo: "Look at the target system, then record what was found by a signed reconciliation.",
  },
  cancelled: {
    meaning: "The run was cancelled. What had been done before is not undone.",
    todo: "Read the trace for what was done; start a new run when wanted.",
  },
};

export const REASON_NOTES: { readonly [reason in StopReason]: Explanation } = {
  completed: {
    meaning: "The verifier accepted the completed result; an agent gave its answer.",
    todo: "Nothing.",
  },
  verify_failed: {
    meaning: "The condition of a verify node was false, or could not be evaluated.",
    todo: "Compare the inputs with what the node demands.",
  },
  verifier_rejected: {
    meaning: "The verifier's rule was false, or could not be evaluated.",
    todo: "Do not use the result. Find out which of recipe and verifier is wrong.",
  },
  precondition_failed: {
    meaning: "The condition of a policy node was false, or could not be evaluated.",
    todo: "Meet the precondition; then start a new run.",
  },
  identity_refused: {
    meaning: "The host does not know who is asking, or does not accept it.",
    todo: "Authenticate with an identity that the host's trust store names.",
  },
  intent_refused: {
    meaning: "The stated intent does not cover this operation.",
    todo: "State an intent that covers it, or leave the operation out.",
  },
  warrant_refused: {
    meaning: "The warrant is missing, expired, not yet valid, or too narrow.",
    todo: "Ask the issuer for a warrant that covers the operation.",
  },
  tool_refused: {
    meaning: "The tool is unknown, unreviewed, changed since its review, or of the wrong category.",
    todo: "See the code: arguments that the tool refuses come from the inputs or the recipe; all else wants its present definition reviewed.",
  },
  policy_denied: {
    meaning: "The host's policy forbids the operation.",
    todo: "Ask the policy's owner; a recipe cannot change it.",
  },
  security_denied: {
    meaning: "Operation security forbids the path, command or kind of operation.",
    todo: "Stay inside the workspace and the permitted kinds of operation.",
  },
  approval_rejected: {
    meaning: "A reviewer rejected the operation.",
    todo: "Ask whoever rejected it; a new run makes a new request.",
  },
  approval_expired: {
    meaning: "The request for approval expired before anyone decided.",
    todo: "Start a new run and have it reviewed in time.",
  },
  environment_changed: {
    meaning:
      "Policy, tools, credentials, evidence or host configuration are not those of the recipe.",
    todo: "Bind the recipe to the present environment; it has to qualify again.",
  },
  not_qualified: {
    meaning: "The qualification of a compiled run does not stand (any more).",
    todo: "Run guided, find out why it was demoted, qualify again.",
  },
  duplicate_operation: {
    meaning: "An effect of the same tool and natural key was already admitted.",
    todo: "Look up the earlier operation; it may already have done what is wanted.",
  },
  max_steps: {
    meaning: "The run would take more outside steps than its limit allows.",
    todo: "Check the length of the lists that `each` nodes run over.",
  },
  max_runtime: {
    meaning: "The run's active time passed its limit.",
    todo: "Check which nodes are expensive; waiting does not count as active time.",
  },
  token_budget_exceeded: {
    meaning: "Model answers used more tokens than the limit; unknown usage is charged in full.",
    todo: "Have the provider's usage reported, or raise the limit.",
  },
  budget_exceeded: {
    meaning: "A budget of the host has not enough left for the operation.",
    todo: "Ask the budget's owner.",
  },
  expression_limit: {
    meaning:
      "An expression ran out of fuel or its value grew too large, or a list passed an `each` limit.",
    todo: "Use smaller inputs, or raise the limit of the `each`.",
  },
  repeated_action: {
    meaning: "The agent asked for the same call, with the same arguments, once too often in a row.",
    todo: "Read what the call answers; make tool or instructions clearer, or declare the tool a poll.",
  },
  no_progress: {
    meaning: "Several turns of the agent in a row brought nothing that it had not seen before.",
    todo: "Read the trace from the first of them on; the message names the period, if there is one.",
  },
  consecutive_errors: {
    meaning: "Too many calls of the agent in a row had no result.",
    todo: "Read the errors in the trace; repair the tool, or say how it is called.",
  },
  provider_error: {
    meaning: "The model's provider failed.",
    todo: "Try again with a new run once the provider answers.",
  },
  tool_error: {
    meaning: "A tool failed in a way that certainly changed nothing.",
    todo: "Repair the tool or its arguments; then start a new run.",
  },
  invalid_model_response: {
    meaning:
      "The model's answers did not have the stated type, and no more are asked for; an agent's reply was empty or cut off.",
    todo: "Make the instructions or the type clearer, or let replies be longer.",
  },
  expression_error: {
    meaning:
      "An expression of a node had no value: something missing, a division by zero, and so on.",
    todo: "Read the failure: it names node, operator and place.",
  },
  internal_error: {
    meaning: "Rote itself broke an invariant.",
    todo: "Report it with recipe and inputs.",
  },
  uncertain_operation: {
    meaning: "An operation was admitted and no outcome of it is recorded.",
    todo: "Look at the target system, then record what was found by a signed reconciliation.",
  },
  user_cancelled: {
    meaning: "Someone with control of the run cancelled it.",
    todo: "Nothing, or a new run.",
  },
};

/**
 * Exit codes of the command, from best to worst: a command over many runs ends with the worst. Only 0 means that
 * what was asked has been done; a run's code follows from its state, never from what was printed.
 */
export const EXIT_CODES = {
  verified: { code: 0, meaning: "Done as asked; a run: verified by its independent verifier." },
  waiting: { code: 8, meaning: "The run waits for a model's answer or for an approval." },
  cancelled: { code: 130, meaning: "Cancelled, by Ctrl-C or through the run." },
  rejected: { code: 3, meaning: "A check, a precondition or the verifier said no." },
  exhausted: { code: 5, meaning: "A limit ended the run." },
  denied: { code: 4, meaning: "Not permitted: not qualified, another environment, a refusal." },
  problem: { code: 1, meaning: "A document, an input, an answer or the memory has a problem." },
  usage: { code: 2, meaning: "The command line has a problem." },
  failed: { code: 6, meaning: "The run failed: an expression, a tool or a model." },
  uncertain: { code: 7, meaning: "The outcome of an operation is not known." },
  internal: { code: 70, meaning: "A fault of the command itself." },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type ExitName = keyof typeof EXIT_CODES;

/** The exit that a run's state leads to. */
export function exitOf(state: RunStateName): ExitName {
  return isTerminal(state) ? state : "waiting";
}
