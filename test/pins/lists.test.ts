import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ROUNDINGS } from "../../src/base/integer.ts";
import { TAGS } from "../../src/base/tags.ts";
import { SIGNAL_REFUSALS } from "../../src/memory/signal.ts";
import { ENVIRONMENT_FIELDS } from "../../src/model/environment.ts";
import { LEAST_REQUIREMENT, OBSERVATION_REFUSALS, PHASES } from "../../src/model/memory.ts";
import { EVALUATION_CODES, OPERATOR_NAMES, ORDERS } from "../../src/model/operators.ts";
import { DEFAULT_RUN_LIMITS, SEMANTICS_VERSION, STEP_KINDS } from "../../src/model/plan.ts";
import { RUN_MODES } from "../../src/model/run.ts";
import { STOP_REASONS, stateOf, WAITING_STATES } from "../../src/model/stop.ts";
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
    });
    const reasons = Object.values(STOP_REASONS).flat();
    expect(new Set(reasons).size).toBe(reasons.length);
    expect(stateOf("budget_exceeded")).toBe("exhausted");
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

  it("operators, with their words and the codes they fail with, are these", () => {
    expect([...OPERATOR_NAMES].sort()).toEqual([
      "absolute",
      "add",
      "all",
      "and",
      "any",
      "concat",
      "contains",
      "count",
      "date_add",
      "days_between",
      "decode",
      "default",
      "digest",
      "distinct",
      "divide",
      "ends_with",
      "entries",
      "equal",
      "filter",
      "first",
      "flatten",
      "fold",
      "get",
      "greater",
      "greater_or_equal",
      "group_by",
      "has",
      "if",
      "index",
      "input",
      "item",
      "join",
      "last",
      "length",
      "less",
      "less_or_equal",
      "let",
      "list",
      "literal",
      "lookup",
      "lower",
      "map",
      "maximum",
      "merge",
      "minimum",
      "modulo",
      "month_end",
      "multiply",
      "node",
      "not",
      "not_equal",
      "or",
      "power",
      "range",
      "record",
      "seconds_between",
      "slice",
      "sort_by",
      "split",
      "starts_with",
      "subtract",
      "sum",
      "to_json",
      "to_text",
      "trim",
      "zip",
    ]);
    expect(OPERATOR_NAMES).toHaveLength(66);
    expect(ROUNDINGS).toEqual(["floor", "ceiling", "truncate", "half_even", "half_up", "exact"]);
    expect(ORDERS).toEqual(["ascending", "descending"]);
    expect([...EVALUATION_CODES].sort()).toEqual([
      "ambiguous",
      "decode_failed",
      "division_by_zero",
      "inexact",
      "length_mismatch",
      "missing",
      "out_of_fuel",
      "out_of_range",
      "too_large",
      "unknown_field",
    ]);
  });

  it("phases, the least requirement and what memory refuses are these", () => {
    expect(PHASES).toEqual(["training", "shadow", "canary"]);
    expect(LEAST_REQUIREMENT).toEqual({ training: 3, shadow: 1, canary: 1 });
    expect([...OBSERVATION_REFUSALS].sort()).toEqual([
      "compiled_run",
      "inputs_already_observed",
      "memory_full",
      "other_environment",
      "other_plan",
      "other_semantics",
      "other_verifier",
      "phase_out_of_order",
      "procedure_full",
      "run_already_observed",
      "run_not_ended",
      "run_not_independently_verified",
      "run_not_verified",
      "unbound_plan",
    ]);
    expect([...SIGNAL_REFUSALS].sort()).toEqual([
      "compiled_run",
      "not_qualified",
      "run_already_observed",
      "run_says_nothing",
    ]);
  });

  it("limits of a run that names none are these", () => {
    expect(DEFAULT_RUN_LIMITS).toEqual({
      max_steps: 10_000,
      max_runtime_ms: 600_000,
      max_tokens: 1_000_000_000,
      max_tokens_per_answer: 100_000,
    });
  });

  it("tags of digests are these: a tag never stands for another kind of document", () => {
    expect(TAGS).toEqual({
      action: "rote-action/v1",
      budget: "rote-budget/v1",
      configuration: "rote-configuration/v1",
      conversation: "rote-conversation/v1",
      credentials: "rote-credentials/v1",
      display: "rote-display/v1",
      envelope: "rote-envelope/v1",
      environment: "rote-environment/v1",
      evidence: "rote-evidence/v1",
      inputs: "rote-inputs/v1",
      intent: "rote-intent/v1",
      key: "rote-key/v1",
      marker: "rote-marker/v1",
      observation: "rote-observation/v1",
      offered: "rote-offered/v1",
      operation: "rote-operation/v1",
      plan: "rote-plan/v1",
      policy: "rote-policy/v1",
      prompt: "rote-prompt/v1",
      request: "rote-request/v1",
      result: "rote-result/v1",
      start: "rote-start/v1",
      tool: "rote-tool/v1",
      toolImplementation: "rote-tool-implementation/v1",
      tools: "rote-tools/v1",
      turn: "rote-turn/v1",
      value: "rote-value/v1",
      verifier: "rote-verifier/v1",
    });
    expect(new Set(Object.values(TAGS)).size).toBe(Object.keys(TAGS).length);
  });

  it("no digest is made under a tag from elsewhere; other words of that form name documents", () => {
    const folder = fileURLToPath(new URL("../../src/", import.meta.url));
    const words = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter(
        (file) =>
          file.endsWith(".ts") && !/^(base\/tags|model\/(host-|agent-)?codes)\.ts$/.test(file),
      )
      .flatMap((file) => [
        ...readFileSync(`${folder}${file}`, "utf8").matchAll(/"(rote-[a-z-]+\/v\d+)(?:"|\\n)/g),
      ])
      .map(([, word = ""]) => word);
    expect(
      [...new Set(words)].filter((word) => Object.values<string>(TAGS).includes(word)),
    ).toEqual([
      // What an operation says it is.
      "rote-operation/v1",
    ]);
    expect([...new Set(words)].sort()).toEqual([
      "rote-approval/v1",
      "rote-audit/v1",
      "rote-operation/v1",
      "rote-receipt-check/v1",
      "rote-receipt/v1",
      "rote-reconciliation/v1",
      "rote-tool-review/v1",
      "rote-transcript/v1",
      "rote-trust/v1",
      "rote-warrant/v1",
    ]);
  });

  it("the operator semantics have version 1, which moves only when some result changes", () => {
    expect(SEMANTICS_VERSION).toBe(1);
  });
});
