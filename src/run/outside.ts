/** How an event from outside settles what a node waits for. Refuses what the run does not wait for, by name. */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { readValue, valueType } from "../expression/index.ts";
import { isHostWord } from "../model/operation.ts";
import type { PlanNode } from "../model/plan.ts";
import type { ModelUsage } from "../model/run.ts";
import type { StopReason } from "../model/stop.ts";
import type { Type } from "../model/type.ts";
import type { Value } from "../model/value.ts";
import { type Draft, endRun, settleNode } from "./draft.ts";
import type {
  ApprovedEvent,
  CheckpointedEvent,
  EffectSettledEvent,
  FailedOutcome,
  ItemName,
  ModelAnsweredEvent,
  PlannedOperation,
  ReadSettledEvent,
  RefusedOutcome,
} from "./event.ts";
import { nodeNamed, type Program } from "./program.ts";
import { DONE, type Item, NO_ITEMS, type NodeState, type OperationItem } from "./state.ts";
import { chargeOf } from "./usage.ts";

type Waiting = NodeState & { readonly kind: "waiting" };

export function modelAnswered(draft: Draft, event: ModelAnsweredEvent): void {
  const { node, state, item } = openItem(draft.program, draft.nodes, event);
  if (item.kind !== "model") throw notPending(event, "is no model boundary");
  const value = readStored(node, event.answer);
  const { answer, usage, model, source } = event;
  draft.tokens += source === "learned" ? 0 : chargeOf(usage, draft.before.limits);
  settleItem(draft, node, state, { ...item, settled: { value, answer, usage, model, source } });
  const excess = excessOf(draft, usage);
  if (excess === null) return;
  endRun(draft, { reason: "token_budget_exceeded", node: node.id, message: excess }, null);
}

function excessOf(draft: Draft, usage: ModelUsage | null): string | null {
  const { max_tokens, max_tokens_per_answer } = draft.before.limits;
  const reported = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  if (reported > max_tokens_per_answer) {
    return `the answer used ${reported} tokens, more than the limit of ${max_tokens_per_answer}`;
  }
  if (draft.tokens <= max_tokens) return null;
  return `${draft.tokens} tokens are charged to the run, more than its limit of ${max_tokens}`;
}

export function readSettled(draft: Draft, event: ReadSettledEvent): void {
  const { node, state, item } = openItem(draft.program, draft.nodes, event);
  if (item.kind !== "operation" || node.step.kind !== "read") {
    throw notPending(event, "is no read");
  }
  draft.readsInFlight -= 1;
  const outcome = event.outcome;
  if (outcome.kind === "done") {
    settleDone(draft, node, state, item, outcome.result);
    return;
  }
  const absent = isAbsent(outcome) && node.step.absentOn.includes(outcome.code);
  settleItem(draft, node, state, {
    ...item,
    settled: { outcome: outcome.kind, value: null, result: undefined },
  });
  if (!absent) endWith(draft, node, outcome.reason, outcome.message, outcome.code);
}

/** Only the target's own no may mean absence: what the gate refuses, or what was not made or broke, is never data. */
function isAbsent({ kind, reason, code }: RefusedOutcome | FailedOutcome): boolean {
  return kind === "refused" && reason === "tool_error" && !isHostWord(code);
}

export function effectSettled(draft: Draft, event: EffectSettledEvent): void {
  const { node, state, item } = openItem(draft.program, draft.nodes, event);
  if (item.kind !== "operation" || node.step.kind !== "effect") {
    throw notPending(event, "is no effect");
  }
  if (state.items.find((other) => other.settled === null) !== item) {
    throw notPending(event, "has not been dispatched");
  }
  draft.effectsInFlight -= 1;
  const outcome = event.outcome;
  if (outcome.kind === "done") {
    settleDone(draft, node, state, item, outcome.result);
    if (draft.end === null) dispatchNext(draft, node);
    return;
  }
  settleItem(draft, node, state, {
    ...item,
    settled: { outcome: outcome.kind, value: null, result: undefined },
  });
  if (outcome.kind === "uncertain") {
    endWith(draft, node, "uncertain_operation", outcome.message);
  } else {
    endWith(draft, node, outcome.reason, outcome.message, outcome.code);
  }
}

export function approved(draft: Draft, event: ApprovedEvent): void {
  const node = nodeNamed(draft.program, event.node);
  const state = draft.nodes[node.index];
  if (state?.kind !== "waiting" || node.step.kind !== "approval") {
    throw notPending({ node: event.node, index: null }, "waits for no approval");
  }
  settleNode(draft, node, DONE, null);
}

export function checkpointed(draft: Draft, event: CheckpointedEvent, value: Value): void {
  const node = nodeNamed(draft.program, event.node);
  const state = draft.nodes[node.index];
  if (state?.kind !== "waiting" || node.step.kind !== "checkpoint") {
    throw notPending({ node: event.node, index: null }, "waits for no journal position");
  }
  const { position } = event;
  settleNode(
    draft,
    node,
    { kind: "done", elements: null, items: NO_ITEMS, reused: false, position },
    value,
  );
}

/** The type of one item's value: of the whole output, or of one element with `each`. */
export function itemType(node: PlanNode): Type {
  const step = node.step;
  return step.kind === "model" || step.kind === "read" || step.kind === "effect"
    ? valueType(step.reading)
    : node.output;
}

/** How a value of one item is read when it comes from outside. */
function readingOf(node: PlanNode): Type {
  const step = node.step;
  return step.kind === "read" || step.kind === "effect" ? step.reading : node.output;
}

/** Reads what an earlier check let in; a misfit means that the event belongs to another recipe. */
function readStored(node: PlanNode, json: JsonValue): Value {
  const read = readValue(itemType(node), json);
  if (read.ok) return read.value;
  throw new RoteError(
    "invalid_model_answer",
    `the answer for node "${node.id}" does not fit its type: ${read.error.message}`,
    { node: node.id, pointer: read.error.pointer, reason: read.error.code },
  );
}

function settleDone(
  draft: Draft,
  node: PlanNode,
  state: Waiting,
  item: OperationItem,
  result: JsonValue,
): void {
  // As received: the evidence keeps the tool's own form, so it is read by the reading rules.
  const read = readValue(readingOf(node), result);
  const value = read.ok ? read.value : null;
  settleItem(draft, node, state, { ...item, settled: { outcome: "done", value, result } });
  if (read.ok) return;
  const { message, code } = read.error;
  endWith(draft, node, "tool_error", `the result of tool "${item.tool}": ${message}`, code);
}

/** Puts a settled item in its place; with the last one the node is done. */
function settleItem(draft: Draft, node: PlanNode, state: Waiting, item: Item): void {
  const items = state.items.slice();
  items[item.index ?? 0] = item;
  const open = state.open - 1;
  if (open > 0) {
    draft.nodes[node.index] = { ...state, items, open };
    return;
  }
  const values = items.map((one): Value => one.settled?.value ?? null);
  const output = state.elements === null ? (values[0] ?? null) : Object.freeze(values);
  const { elements } = state;
  settleNode(draft, node, { kind: "done", elements, items, reused: false, position: null }, output);
}

function dispatchNext(draft: Draft, node: PlanNode): void {
  const state = draft.nodes[node.index];
  if (state?.kind !== "waiting") return;
  const next = state.items.find((item) => item.settled === null);
  if (next?.kind !== "operation") return;
  draft.effectsInFlight += 1;
  draft.commands.push({ type: "dispatch", ...operationOf(node, next) });
}

export function operationOf(node: PlanNode, item: OperationItem): PlannedOperation {
  const { index, tool, arguments: json, key } = item;
  return { node: node.id, index, tool, arguments: json, key };
}

function endWith(
  draft: Draft,
  node: PlanNode,
  reason: StopReason,
  message: string,
  code?: string,
): void {
  const failure = { reason, node: node.id, message };
  endRun(draft, code === undefined ? failure : { ...failure, code }, node);
}

/** @throws RoteError `unknown_node` `not_pending` */
export function openItem(
  program: Program,
  nodes: readonly NodeState[],
  name: ItemName,
): { readonly node: PlanNode; readonly state: Waiting; readonly item: Item } {
  const node = nodeNamed(program, name.node);
  const state = nodes[node.index];
  if (state?.kind !== "waiting") throw notPending(name, "is not waiting");
  if ((name.index === null) !== (state.elements === null)) {
    throw notPending(name, state.elements === null ? "has no elements" : "waits per element");
  }
  const item = state.items[name.index ?? 0];
  if (item === undefined) throw notPending(name, "has no such element");
  if (item.settled !== null) throw notPending(name, "is already answered");
  return { node, state, item };
}

export function notPending(name: ItemName, why: string): RoteError {
  const element = name.index === null ? "" : ` element ${name.index}`;
  return new RoteError("not_pending", `node "${name.node}"${element} ${why}`, {
    node: name.node,
    index: name.index,
  });
}
