/**
 * The new state while one event is worked into it. Only `step` and what it calls ever see a draft; it starts as a
 * copy, so the state before stays as it was.
 */
import { shortened } from "../base/text.ts";
import { EvaluationFailure } from "../expression/index.ts";
import type { PlanNode } from "../model/plan.ts";
import type { RunFailure } from "../model/run.ts";
import type { StopReason } from "../model/stop.ts";
import type { CompiledExpression, Sources, Value } from "../model/value.ts";
import type { RunCommand } from "./event.ts";
import { type Extent, extended, RUN_EXTENT } from "./extent.ts";
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
  /** Nodes to take, by plan index, ascending. */
  ready: number[];
  readonly waiting: number[];
  readonly commands: RunCommand[];
  settled: number;
  evaluations: number;
  extent: Extent;
  steps: number;
  tokens: number;
  readsInFlight: number;
  effectsInFlight: number;
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
    ready: before.ready.slice(),
    waiting: before.waiting.slice(),
    commands: [],
    settled: before.settled,
    evaluations: before.evaluations,
    extent: before.extent,
    steps: before.steps,
    tokens: before.tokens,
    readsInFlight: before.readsInFlight,
    effectsInFlight: before.effectsInFlight,
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
    ready: draft.ready,
    waiting: draft.waiting,
    settled: draft.settled,
    evaluations: draft.evaluations,
    extent: draft.extent,
    steps: draft.steps,
    tokens: draft.tokens,
    readsInFlight: draft.readsInFlight,
    effectsInFlight: draft.effectsInFlight,
    end: draft.end,
  };
}

export function settleNode(draft: Draft, node: PlanNode, state: NodeState, output: Value): void {
  draft.nodes[node.index] = state;
  draft.outputs[node.index] = output;
  draft.settled += 1;
  remove(draft.waiting, node.index);
  for (const next of draft.program.graph.dependents[node.index] ?? []) {
    const missing = (draft.missing[next] ?? 0) - 1;
    draft.missing[next] = missing;
    if (missing === 0) insert(draft.ready, next);
  }
}

/** The node waits for something from outside. */
export function awaitNode(draft: Draft, node: PlanNode, state: NodeState): void {
  draft.nodes[node.index] = state;
  insert(draft.waiting, node.index);
}

/** Most insertions are at the end, since what becomes ready stands behind what made it so. */
function insert(indexes: number[], index: number): void {
  const last = indexes.at(-1);
  if (last === undefined || last < index) indexes.push(index);
  else indexes.splice(placeOf(indexes, index), 0, index);
}

function remove(indexes: number[], index: number): void {
  const place = placeOf(indexes, index);
  if (indexes[place] === index) indexes.splice(place, 1);
}

/** Where the index is, or would be, in an ascending list. */
function placeOf(indexes: readonly number[], index: number): number {
  let low = 0;
  let high = indexes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((indexes[middle] ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Ends the run. The first end stays: whatever else goes wrong in the same event changes nothing. */
export function endRun(draft: Draft, failure: RunFailure, node: PlanNode | null): void {
  if (draft.end !== null) return;
  draft.end = { reason: failure.reason, failure: told(failure) };
  if (node === null) return;
  remove(draft.waiting, node.index);
  const state = draft.nodes[node.index];
  const items = state !== undefined && "items" in state ? state.items : NO_ITEMS;
  draft.nodes[node.index] = { kind: "failed", items };
}

/** Names of the recipe, and of what came from outside, stand in it: an end must fit into the record, whatever they are. */
function told(failure: RunFailure): RunFailure {
  const { message, pointer } = failure;
  const short = { ...failure, message: shortened(message, MOST_UNITS) };
  return pointer === undefined ? short : { ...short, pointer: shortened(pointer, MOST_UNITS) };
}

const MOST_UNITS = 2_000;

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
  let value: Value;
  try {
    value = expression.evaluate(sources);
  } catch (error) {
    endRun(draft, failureOf(error, node, expression, refusal), node);
    return undefined;
  }
  if (isThere(draft, node, value, sources)) return value;
  const extent = extended(draft.extent, value);
  if (extent === undefined) {
    endRun(draft, tooMuch(node, expression), node);
    return undefined;
  }
  draft.extent = extent;
  return value;
}

/** True for what takes no memory of its own: small, or the whole of something that the run holds already. */
function isThere(draft: Draft, node: PlanNode | null, value: Value, sources: Sources): boolean {
  if (value === null || typeof value === "boolean" || typeof value === "number") return true;
  if (value === sources.item || sources.inputs.includes(value)) return true;
  return node?.after.some((index) => draft.outputs[index] === value) ?? false;
}

function tooMuch(node: PlanNode | null, { at }: CompiledExpression): RunFailure {
  const { parts, units } = RUN_EXTENT;
  return {
    reason: "expression_limit",
    node: node === null ? null : node.id,
    message: `the run has made values of more than ${parts} parts or ${units} units of text in all`,
    code: "too_large",
    pointer: at,
  };
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
