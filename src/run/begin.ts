/** What a node does once everything it depends on is settled. */
import { assertNever, invariant } from "../base/assert.ts";
import { canonicalText } from "../base/canonical.ts";
import type { JsonValue } from "../base/json.ts";
import { writeValue } from "../expression/index.ts";
import type { PlanNode, PlanStep } from "../model/plan.ts";
import type { CompiledExpression, Sources, Value } from "../model/value.ts";
import { awaitNode, type Draft, draftOf, endRun, evaluate, settleNode } from "./draft.ts";
import type { PlannedOperation } from "./event.ts";
import type { Program } from "./program.ts";
import {
  DONE,
  doneOf,
  type ModelItem,
  NOT_TAKEN,
  type NodeState,
  type OperationItem,
  type RunState,
} from "./state.ts";

/**
 * Takes every node that can be taken, in plan order: what a node makes ready stands behind it.
 *
 * An effect waits until nothing else is in flight, and no read is started beside it, so that its verifier and its gate
 * see every other operation settled.
 */
export function beginReady(draft: Draft): void {
  const { nodes } = draft.program.plan;
  const { ready } = draft;
  const held: number[] = [];
  let next = 0;
  for (; next < ready.length && draft.end === null; next += 1) {
    const node = nodes[ready[next] ?? -1];
    if (node === undefined) continue;
    if (isHeld(draft, node)) held.push(node.index);
    else begin(draft, node);
    if (draft.paused) break;
  }
  draft.ready = held.concat(ready.slice(next));
}

function isHeld(draft: Draft, node: PlanNode): boolean {
  if (node.step.kind === "read") return draft.effectsInFlight > 0;
  return node.step.kind === "effect" && draft.readsInFlight + draft.effectsInFlight > 0;
}

function begin(draft: Draft, node: PlanNode): void {
  const taken = isTaken(draft, node, node);
  if (taken === undefined) return;
  if (!taken) {
    settleNode(draft, node, NOT_TAKEN, null);
    return;
  }
  switch (node.step.kind) {
    case "pure":
      beginPure(draft, node, node.step.value);
      return;
    case "verify":
      beginVerify(draft, node, node.step);
      return;
    case "policy":
      beginPolicy(draft, node, node.step);
      return;
    case "model":
      beginModel(draft, node, node.step.prompt);
      return;
    case "read":
      beginRead(draft, node, node.step);
      return;
    case "effect":
      beginEffect(draft, node);
      return;
    case "approval":
      beginApproval(draft, node, node.step.effects);
      return;
    case "checkpoint":
      awaitNode(draft, node, waiting(null, []));
      draft.commands.push({ type: "checkpoint", node: node.id });
      return;
    default:
      assertNever(node.step, "step kind");
  }
}

/** `node` is looked at on behalf of `blamed`: a fence looks at its effects. */
function isTaken(draft: Draft, node: PlanNode, blamed: PlanNode): boolean | undefined {
  if (node.when === null) return true;
  const taken = evaluate(draft, blamed, node.when, draft.sources, null);
  return taken === undefined ? undefined : taken === true;
}

function beginPure(draft: Draft, node: PlanNode, expression: CompiledExpression): void {
  if (draft.before.mode === "compiled" && takeFromTwin(draft, node)) return;
  if (node.each === null) {
    const value = evaluate(draft, node, expression, draft.sources, null);
    if (value !== undefined) settleNode(draft, node, DONE, value);
    return;
  }
  const values = perElement(draft, node, node, (sources) =>
    evaluate(draft, node, expression, sources, null),
  );
  if (values !== undefined)
    settleNode(draft, node, doneOf(values.length, false), Object.freeze(values));
}

function takeFromTwin(draft: Draft, node: PlanNode): boolean {
  if (node.twin === null) return false;
  const state = draft.nodes[node.twin];
  if (state?.kind !== "done") return false;
  settleNode(draft, node, doneOf(state.elements, true), draft.outputs[node.twin] ?? null);
  return true;
}

function beginVerify(draft: Draft, node: PlanNode, step: PlanStep & { kind: "verify" }): void {
  const holds = evaluate(draft, node, step.condition, draft.sources, "verify_failed");
  if (holds === undefined) return;
  if (holds !== true) {
    const message = step.message ?? `the condition of node "${node.id}" is false`;
    endRun(draft, { reason: "verify_failed", node: node.id, message }, node);
    return;
  }
  const value = evaluate(draft, node, step.value, draft.sources, null);
  if (value !== undefined) settleNode(draft, node, DONE, value);
}

function beginPolicy(draft: Draft, node: PlanNode, step: PlanStep & { kind: "policy" }): void {
  const holds = evaluate(draft, node, step.condition, draft.sources, "precondition_failed");
  if (holds === undefined) return;
  if (holds === true) {
    settleNode(draft, node, DONE, null);
    return;
  }
  const message = step.message ?? `the condition of node "${node.id}" is false`;
  endRun(draft, { reason: "precondition_failed", node: node.id, message }, node);
}

function beginModel(draft: Draft, node: PlanNode, prompt: CompiledExpression): void {
  const prompts = perElement(draft, node, node, (sources) =>
    evaluateJson(draft, node, prompt, sources),
  );
  if (prompts === undefined || !takeSteps(draft, node, prompts.length)) return;
  const items = prompts.map(
    (json, index): ModelItem => ({
      kind: "model",
      index: node.each === null ? null : index,
      prompt: json,
      settled: null,
    }),
  );
  open(draft, node, items);
  for (const item of items) {
    draft.commands.push({
      type: "ask_model",
      node: node.id,
      index: item.index,
      prompt: item.prompt,
    });
  }
}

function beginRead(draft: Draft, node: PlanNode, step: PlanStep & { kind: "read" }): void {
  const calls = perElement(draft, node, node, (sources) =>
    evaluateJson(draft, node, step.arguments, sources),
  );
  if (calls === undefined || !takeSteps(draft, node, calls.length)) return;
  const items = calls.map((json, index) =>
    operationItem({
      node: node.id,
      index: node.each === null ? null : index,
      tool: step.tool,
      arguments: json,
      key: null,
    }),
  );
  open(draft, node, items);
  draft.readsInFlight += items.length;
  for (const item of items) {
    draft.commands.push({
      type: "read",
      node: node.id,
      index: item.index,
      tool: item.tool,
      arguments: item.arguments,
    });
  }
}

function beginEffect(draft: Draft, node: PlanNode): void {
  const operations = operationsOf(draft, node, node);
  if (operations === undefined || !takeSteps(draft, node, operations.length)) return;
  open(draft, node, operations.map(operationItem));
  const first = operations[0];
  if (first === undefined) return;
  draft.effectsInFlight += 1;
  draft.commands.push({ type: "dispatch", ...first });
}

function beginApproval(draft: Draft, node: PlanNode, effects: readonly number[]): void {
  const batch = batchOf(draft, node, effects);
  if (batch === undefined) return;
  if (batch.length === 0) {
    settleNode(draft, node, DONE, null);
    return;
  }
  awaitNode(draft, node, waiting(null, []));
  draft.commands.push({ type: "request_approval", node: node.id, operations: batch });
}

function batchOf(
  draft: Draft,
  node: PlanNode,
  effects: readonly number[],
): readonly PlannedOperation[] | undefined {
  const batch: PlannedOperation[] = [];
  for (const index of effects) {
    const effect = draft.program.plan.nodes[index];
    if (effect === undefined) continue;
    const taken = isTaken(draft, effect, node);
    if (taken === undefined) return undefined;
    if (!taken) continue;
    const operations = operationsOf(draft, effect, node);
    if (operations === undefined) return undefined;
    batch.push(...operations);
  }
  return batch;
}

/** What a fence that waits has asked approval for: computed again, as all pure values are. */
export function plannedBatch(
  program: Program,
  state: RunState,
  node: PlanNode,
  effects: readonly number[],
): readonly PlannedOperation[] {
  const batch = batchOf(draftOf(program, state, undefined), node, effects);
  invariant(batch !== undefined, "what was evaluated when the fence was reached evaluates again");
  return batch;
}

/** The operations of an effect node, on behalf of `blamed`; undefined when that ended or paused the run. */
function operationsOf(
  draft: Draft,
  node: PlanNode,
  blamed: PlanNode,
): readonly PlannedOperation[] | undefined {
  const step = node.step;
  if (step.kind !== "effect") return [];
  const taken = new Set<string>();
  return perElement(draft, node, blamed, (sources): PlannedOperation | undefined => {
    const json = evaluateJson(draft, blamed, step.arguments, sources);
    if (json === undefined) return undefined;
    const key = step.key === null ? null : evaluateJson(draft, blamed, step.key, sources);
    if (key === undefined) return undefined;
    if (step.key !== null) {
      const text = canonicalText(key);
      if (taken.has(text)) {
        const message = `two elements of node "${node.id}" have the same key`;
        endRun(draft, { reason: "duplicate_operation", node: blamed.id, message }, blamed);
        return undefined;
      }
      taken.add(text);
    }
    return { node: node.id, index: sources.index ?? null, tool: step.tool, arguments: json, key };
  });
}

/**
 * Makes one thing per element of the node's `each`, or one thing when it has none; undefined when that ended or
 * paused the run. A list over the limit ends the run before its first element.
 */
function perElement<T>(
  draft: Draft,
  node: PlanNode,
  blamed: PlanNode,
  make: (sources: Sources) => T | undefined,
): T[] | undefined {
  if (node.each === null) {
    const one = make(draft.sources);
    return one === undefined ? undefined : [one];
  }
  const list = evaluate(draft, blamed, node.each.list, draft.sources, null);
  if (list === undefined) return undefined;
  const elements = list as readonly Value[];
  if (elements.length > node.each.limit) {
    const message = `the list of node "${node.id}" has ${elements.length} elements, more than its limit of ${node.each.limit}`;
    endRun(draft, { reason: "expression_limit", node: blamed.id, message }, blamed);
    return undefined;
  }
  const { inputs, nodes } = draft.sources;
  const made: T[] = [];
  for (let index = 0; index < elements.length; index += 1) {
    const one = make({ inputs, nodes, item: elements[index] ?? null, index });
    if (one === undefined) return undefined;
    made.push(one);
  }
  return made;
}

function evaluateJson(
  draft: Draft,
  node: PlanNode,
  expression: CompiledExpression,
  sources: Sources,
): JsonValue | undefined {
  const value = evaluate(draft, node, expression, sources, null);
  return value === undefined ? undefined : writeValue(expression.type, value);
}

/** Charges steps to the run's limit before anything is asked for. */
function takeSteps(draft: Draft, node: PlanNode, count: number): boolean {
  const limit = draft.before.limits.max_steps;
  if (draft.steps + count > limit) {
    const message = `node "${node.id}" would take the run past ${limit} steps`;
    endRun(draft, { reason: "max_steps", node: node.id, message }, node);
    return false;
  }
  draft.steps += count;
  return true;
}

function open(draft: Draft, node: PlanNode, items: readonly (ModelItem | OperationItem)[]): void {
  const elements = node.each === null ? null : items.length;
  if (items.length === 0) settleNode(draft, node, doneOf(0, false), Object.freeze([]));
  else awaitNode(draft, node, waiting(elements, items));
}

function operationItem(operation: PlannedOperation): OperationItem {
  return {
    kind: "operation",
    index: operation.index,
    tool: operation.tool,
    arguments: operation.arguments,
    key: operation.key,
    settled: null,
  };
}

function waiting(
  elements: number | null,
  items: readonly (ModelItem | OperationItem)[],
): NodeState {
  return { kind: "waiting", elements, items, open: items.length };
}
