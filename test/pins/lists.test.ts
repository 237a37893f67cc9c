import { describe, expect, it } from "vitest";
import { DIAGNOSTIC_CODES } from "../../src/model/diagnostic.ts";
import { ENVIRONMENT_FIELDS } from "../../src/model/environment.ts";
import { SEMANTICS_VERSION, STEP_KINDS } from "../../src/model/plan.ts";
import { RUN_MODES } from "../../src/model/run.ts";
import { EXIT_CODES, STOP_REASONS, stateOf, WAITING_STATES } from "../../src/model/stop.ts";
import { BUILTIN_TYPES } from "../../src/model/type.ts";

/**
 * What consumers match on. A red test here asks for a deliberate change: change the literal by hand, with the reason
 * in the commit, and note it in CHANGELOG.md. Nothing here is computed from the source.
 */
describe("closed lists that others match on", () => {
  it("states and stop reasons are these, each reason in one state", () => {
    expect(WAITING_STATES).toEqual(["ready", "running", "awaiting_model", "awaiting_approval"]);
    expect(STOP_REASONS).toEqual({
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
    });
    const reasons = Object.values(STOP_REASONS).flat();
    expect(new Set(reasons).size).toBe(reasons.length);
    expect(stateOf("budget_exceeded")).toBe("exhausted");
  });

  it("exit codes are these, from best to worst", () => {
    expect(Object.entries(EXIT_CODES).map(([name, { code }]) => [code, name])).toEqual([
      [0, "verified"],
      [8, "waiting"],
      [130, "cancelled"],
      [3, "rejected"],
      [5, "exhausted"],
      [4, "denied"],
      [1, "problem"],
      [2, "usage"],
      [6, "failed"],
      [7, "uncertain"],
      [70, "internal"],
    ]);
  });

  it("diagnostic codes are these", () => {
    expect([...DIAGNOSTIC_CODES].sort()).toEqual([
      "after_not_covering",
      "bad_encoding",
      "bad_json",
      "bad_literal",
      "bad_member",
      "bad_name",
      "bad_number",
      "bad_pointer",
      "bad_rounding",
      "bad_shape",
      "both_optional",
      "cycle",
      "document_too_deep",
      "document_too_large",
      "duplicate_key",
      "duplicate_node",
      "fence_not_before_effect",
      "fence_target",
      "guard_not_allowed",
      "limit_exceeded",
      "missing_key",
      "missing_member",
      "missing_node",
      "name_taken",
      "nested_optional",
      "never_equal",
      "no_verify_before_effect",
      "not_an_ancestor",
      "not_optional",
      "not_ordered",
      "output_required",
      "recursive_type",
      "too_deep",
      "too_many_operators",
      "type_mismatch",
      "unbound_environment",
      "unknown_field",
      "unknown_input",
      "unknown_item",
      "unknown_key",
      "unknown_member",
      "unknown_node",
      "unknown_operator",
      "unknown_type",
      "unreachable_node",
      "unsupported_version",
      "verifier_without_before_effect",
    ]);
    expect(new Set(DIAGNOSTIC_CODES).size).toBe(DIAGNOSTIC_CODES.length);
  });

  it("node kinds, modes, builtin types and environment fields are these", () => {
    expect(STEP_KINDS).toEqual([
      "pure",
      "read",
      "model",
      "verify",
      "policy",
      "approval",
      "effect",
      "checkpoint",
    ]);
    expect(RUN_MODES).toEqual(["guided", "compiled"]);
    expect(BUILTIN_TYPES).toEqual([
      "null",
      "boolean",
      "integer",
      "text",
      "date",
      "timestamp",
      "json",
    ]);
    expect(ENVIRONMENT_FIELDS).toEqual([
      "policy",
      "tools",
      "credentials",
      "evidence",
      "host_configuration",
    ]);
  });

  it("the operator semantics have version 1, which moves only when some result changes", () => {
    expect(SEMANTICS_VERSION).toBe(1);
  });
});
