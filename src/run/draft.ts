/**
 * The new state while one event is worked into it. Only `step` and what it calls ever see a draft; it starts as a
 * copy, so the state before stays as it was.
 */
import { EvaluationFailure } from "../expression/index.ts";
import type { PlanNode } from "../model/plan.ts";
import type { RunFailure } from "../model/run.ts";
import type { StopReason } from "../model/stop.ts";
import type { CompiledExpression, Sources, Value } from "../model/value.ts";
import type { RunCommand } from "./event.ts";
import type { Program } from "./program.ts";
import { NO_ITEMS, type NodeState, type RunEnd, type RunState } from "./state.ts";

/**
 * Asked before every evaluation, with the number of evaluations made so far; true stops the work there. What has
 * been computed does not depend on it, only how far the work got.
 */
export type Pause = (evaluations: number) => boolean;

export interface Draft {
  readonly program: Program;
  readonly before: RunState;
  readonly pause: Pause | undefined;
  readonly sources: Sources;
  readonly outputs: Value[];
  readonly nodes: NodeState[];
  readonly missing: number[];
  readonly commands: RunCommand[];
  settled: number;
  evaluations: number;
  steps: number;
  tokens: number;
  inFlight: number;
  end: RunEnd | null;
  paused: boolean;
}

export function draftOf(program: Program, before: RunState, pause: Pause | undefined): Draft {
  const outputs = before.outputs.slice();
  return {
    program,
    before,
    pause,
    sources: { inputs: before.inputs, nodes: outputs },
    outputs,
    nodes: before.nodes.slice(),
    missing: before.missing.slice(),
    commands: [],
    settled: before.settled,
    evaluations: before.evaluations,
    steps: before.steps,
    tokens: before.tokens,
    inFlight: before.inFlight,
    end: before.end,
    paused: false,
  };
}

export function stateFrom(draft: Draft): RunState {
  return {
    mode: draft.before.mode,
    limits: draft.before.limits,
    inputs: draft.before.inputs,
    outputs: draft.outputs,
    nodes: draft.nodes,
    missing: draft.missing,
    settled: draft.settled,
    evaluations: draft.evaluations,
    steps: draft.steps,
    tokens: draft.tokens,
    inFlight: draft.inFlight,
    end: draft.end,
  };
}

export function settleNode(draft: Draft, node: PlanNode, state: NodeState, output: Value): void {
  draft.nodes[node.index] = state;
  draft.outputs[node.index] = output;
  draft.settled += 1;
  for (const next of draft.program.graph.dependents[node.index] ?? []) {
    draft.missing[next] = (draft.missing[next] ?? 0) - 1;
  }
}

/** Ends the run. The first end stays: whatever else goes wrong in the same event changes nothing. */
export function endRun(draft: Draft, failure: RunFailure, node: PlanNode | null): void {
  if (draft.end !== null) return;
  draft.end = { reason: failure.reason, failure };
  if (node === null) return;
  const state = draft.nodes[node.index];
  const items = state !== undefined && "items" in state ? state.items : NO_ITEMS;
  draft.nodes[node.index] = { kind: "failed", items };
}

/**
 * Evaluates for a node (null: for the verifier). When there is no value the run has ended or is paused, and
 * undefined comes back, which is no value of the language.
 *
 * `refusal` is the reason a condition refuses with when it cannot be evaluated; null where an error is the node's own.
 */
export function evaluate(
  draft: Draft,
  node: PlanNode | null,
  expression: CompiledExpression,
  sources: Sources,
  refusal: StopReason | null,
): Value | undefined {
  if (draft.pause?.(draft.evaluations) === true) {
    draft.paused = true;
    return undefined;
  }
  draft.evaluations += 1;
  try {
    return expression.evaluate(sources);
  } catch (error) {
    endRun(draft, failureOf(error, node, expression, refusal), node);
    return undefined;
  }
}

function failureOf(
  error: unknown,
  node: PlanNode | null,
  expression: CompiledExpression,
  refusal: StopReason | null,
): RunFailure {
  const id = node === null ? null : node.id;
  if (!(error instanceof EvaluationFailure)) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : "not an Error";
    const message = `evaluation broke: ${text.slice(0, 200)}`;
    return { reason: "internal_error", node: id, message, pointer: expression.at };
  }
  const limit = error.code === "too_large" || error.code === "out_of_fuel";
  const reason = refusal ?? (limit ? "expression_limit" : "expression_error");
  return { reason, node: id, message: error.message, code: error.code, pointer: error.pointer };
}
