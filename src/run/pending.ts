/** What a run waits for, lexically first: by node id, then by position. */
import { compareText } from "../base/text.ts";
import { typeToJson } from "../expression/index.ts";
import type { PlanNode } from "../model/plan.ts";
import type { PendingModel } from "../model/run.ts";
import type { WaitingState } from "../model/stop.ts";
import type { Program } from "./program.ts";
import type { Item, ModelItem, NodeState, RunState } from "./state.ts";

/** All model boundaries without an answer. */
export function pendingModels(program: Program, state: RunState): readonly PendingModel[] {
  if (state.end !== null) return [];
  const nodes = waitingNodes(program, state).filter((node) => node.step.kind === "model");
  nodes.sort((left, right) => compareText(left.id, right.id));
  return nodes.flatMap((node) =>
    openModelItems(state.nodes[node.index]).map((item) => describe(node, item)),
  );
}

/** The first of them, without describing the others. */
export function firstPendingModel(program: Program, state: RunState): PendingModel | null {
  const first = firstPending(program, state);
  return first === null ? null : describe(first.node, first.item);
}

/** Which is the first. */
export function firstPending(
  program: Program,
  state: RunState,
): { readonly node: PlanNode; readonly item: ModelItem } | null {
  if (state.end !== null) return null;
  let first: PlanNode | undefined;
  for (const index of state.waiting) {
    const node = program.plan.nodes[index];
    if (node?.step.kind !== "model") continue;
    if (first === undefined || compareText(node.id, first.id) < 0) first = node;
  }
  if (first === undefined) return null;
  const item = openModelItem(state.nodes[first.index]);
  return item === undefined ? null : { node: first, item };
}

/** The state's name as long as the run has not ended. */
export function waitingState(program: Program, state: RunState): WaitingState {
  // Asked after every step, so nothing is made for it.
  let found: WaitingState = "running";
  for (const index of state.waiting) {
    const kind = program.plan.nodes[index]?.step.kind;
    if (kind === "model") return "awaiting_model";
    if (kind === "approval") found = "awaiting_approval";
  }
  return found;
}

function waitingNodes(program: Program, state: RunState): PlanNode[] {
  return state.waiting.flatMap((index) => program.plan.nodes[index] ?? []);
}

function openModelItems(state: NodeState | undefined): readonly ModelItem[] {
  if (state?.kind !== "waiting") return [];
  return state.items.filter(isOpen);
}

function openModelItem(state: NodeState | undefined): ModelItem | undefined {
  return state?.kind === "waiting" ? state.items.find(isOpen) : undefined;
}

function isOpen(item: Item): item is ModelItem {
  return item.kind === "model" && item.settled === null;
}

function describe(node: PlanNode, item: ModelItem): PendingModel {
  const step = node.step;
  const model = step.kind === "model" ? step : undefined;
  return Object.freeze({
    node: node.id,
    index: item.index,
    role: model?.role ?? "",
    instructions: model?.instructions ?? null,
    prompt: item.prompt,
    answer_type: model === undefined ? null : typeToJson(model.reading),
  });
}
