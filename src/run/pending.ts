/** What a run waits for, lexically first: by node id, then by position. */
import { compareText } from "../base/text.ts";
import { typeToJson } from "../expression/index.ts";
import type { PlanNode } from "../model/plan.ts";
import type { PendingModel } from "../model/run.ts";
import type { WaitingState } from "../model/stop.ts";
import type { Program } from "./program.ts";
import type { ModelItem, NodeState, RunState } from "./state.ts";

/** All model boundaries without an answer. */
export function pendingModels(program: Program, state: RunState): readonly PendingModel[] {
  if (state.end !== null) return [];
  const pending: PendingModel[] = [];
  for (const node of waitingModels(program, state)) {
    for (const item of openModelItems(state.nodes[node.index])) pending.push(describe(node, item));
  }
  return pending;
}

/** The first of them, without describing the others. */
export function firstPendingModel(program: Program, state: RunState): PendingModel | null {
  if (state.end !== null) return null;
  const node = waitingModels(program, state)[0];
  const item = node === undefined ? undefined : openModelItems(state.nodes[node.index])[0];
  return node === undefined || item === undefined ? null : describe(node, item);
}

/** The state's name as long as the run has not ended. */
export function waitingState(program: Program, state: RunState): WaitingState {
  const waiting = program.plan.nodes.filter((node) => state.nodes[node.index]?.kind === "waiting");
  if (waiting.some((node) => node.step.kind === "model")) return "awaiting_model";
  if (waiting.some((node) => node.step.kind === "approval")) return "awaiting_approval";
  return "running";
}

function waitingModels(program: Program, state: RunState): readonly PlanNode[] {
  return program.plan.nodes
    .filter((node) => node.step.kind === "model" && state.nodes[node.index]?.kind === "waiting")
    .sort((left, right) => compareText(left.id, right.id));
}

function openModelItems(state: NodeState | undefined): readonly ModelItem[] {
  if (state?.kind !== "waiting") return [];
  return state.items.filter(
    (item): item is ModelItem => item.kind === "model" && item.settled === null,
  );
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
