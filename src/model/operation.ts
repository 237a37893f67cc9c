/**
 * An operation: one call of one tool with frozen arguments. Its digest (tag `rote-operation/v1`) is what is approved,
 * admitted and receipted. It is built once, frozen to bytes, and the tool gets a value parsed back from those bytes.
 *
 * Budgets enter as limits, never as balances: spending must not change what was approved. The trust store enters by
 * digest, so that a revocation between approval and admission is seen.
 */

import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { ToolCategory } from "./trust.ts";

export type Operation = {
  readonly type: "rote-operation/v1";
  /** The journal's origin: which host this is for. */
  readonly audience: string;
  readonly run: string;
  readonly node: string;
  /** Position in the node's `each`; null without. */
  readonly index: number | null;
  /** Tool call of an agent run; null in procedures. */
  readonly call: number | null;
  /** From 1; above 1 only for reads that were reviewed as repeatable. Unique with run, node and index or call. */
  readonly attempt: number;
  /** Digest of the plan; null for agent runs. */
  readonly recipe: Digest | null;
  readonly tool: {
    readonly name: string;
    readonly category: ToolCategory;
    readonly definition: Digest;
  };
  readonly arguments: JsonValue;
  /** Natural key of an effect (what makes it the same deed in another run), else null. */
  readonly key: JsonValue;
  readonly identity: string;
  readonly intent: Digest | null;
  /** Digest of the leaf warrant's envelope. */
  readonly warrant: Digest | null;
  readonly policy: Digest;
  readonly trust: Digest;
  readonly environment: Digest | null;
  readonly verifiers: readonly Digest[];
  /** Digest of the budget limits. */
  readonly budget: Digest;
  /** Milliseconds since 1970 UTC; kept from the request when an approval was waited for. */
  readonly requested_at: number;
};

/** What became of an operation. `uncertain` is an outcome, not an absence of one. */
export const OUTCOMES = ["done", "failed_before_effect", "refused", "uncertain"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * What the gate itself says of an admitted operation that has no answer of its tool. No tool's own code is one of these,
 * and none of them means that what was asked for is absent.
 */
export const HOST_WORDS = [
  "cancelled",
  "tool_changed",
  "timeout",
  "tool_threw",
  "result_malformed",
  "answer_malformed",
  "interrupted",
  "no_outcome",
  "absent",
] as const;
export type HostWord = (typeof HOST_WORDS)[number];

export function isHostWord(code: string): code is HostWord {
  return HOST_WORDS.some((word) => word === code);
}

/**
 * Why the gate refused, in the order in which it asks. Each belongs to one stop reason; the code says which check, and
 * `docs/states.md` what to do.
 */
export const GATE_CODES = {
  identity_missing: "identity_refused",
  identity_not_holder: "identity_refused",
  identity_changed: "identity_refused",
  trust_expired: "identity_refused",
  trust_changed: "identity_refused",
  intent_missing: "intent_refused",
  intent_not_covered: "intent_refused",
  intent_changed: "intent_refused",
  warrant_missing: "warrant_refused",
  warrant_invalid: "warrant_refused",
  warrant_not_covered: "warrant_refused",
  warrant_spent: "warrant_refused",
  warrant_changed: "warrant_refused",
  tool_unknown: "tool_refused",
  tool_not_reviewed: "tool_refused",
  tool_review_invalid: "tool_refused",
  tool_definition_changed: "tool_refused",
  tool_wrong_category: "tool_refused",
  tool_arguments_invalid: "tool_refused",
  policy_denied: "policy_denied",
  policy_error: "policy_denied",
  policy_changed: "policy_denied",
  security_denied: "security_denied",
  security_error: "security_denied",
  budget_exceeded: "budget_exceeded",
  budget_changed: "budget_exceeded",
  amount_unreadable: "budget_exceeded",
  before_effect_refused: "verifier_rejected",
  verifier_changed: "verifier_rejected",
  approval_rejected: "approval_rejected",
  approval_expired: "approval_expired",
  environment_changed: "environment_changed",
  not_qualified: "not_qualified",
  arguments_changed: "approval_rejected",
  approval_consumed: "approval_rejected",
  duplicate_key: "duplicate_operation",
  duplicate_operation: "duplicate_operation",
  clock_behind: "security_denied",
} as const;
export type GateCode = keyof typeof GATE_CODES;
