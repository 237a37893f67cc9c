/** What a run says about itself, as one JSON document. */
import type { PlanNode } from "../model/plan.ts";
import type { NodeTrace, RunReport } from "../model/run.ts";
import { activeMs, type Drive, stateName } from "./drive.ts";
import { boundDigest } from "./program.ts";
import { IDLE, type Item, type ModelSettlement, NO_ITEMS, type NodeState } from "./state.ts";
import { sumTokens } from "./usage.ts";

export function reportOf(drive: Drive): RunReport {
  const { plan, verifier } = drive.program;
  const end = drive.state?.end ?? null;
  const state = stateName(drive);
  const items = plan.nodes.flatMap((node) => itemsOf(nodeState(drive, node)));
  const answers = answersIn(items);
  const supplied = answers.filter((one) => one.source === "supplied");
  const usages = supplied.map((one) => one.usage);
  const outcomes = items.flatMap((item) =>
    item.kind === "operation" && item.settled !== null ? [item.settled.outcome] : [],
  );
  const trace = plan.nodes.map((node) => traceOf(drive, node));
  const untilMs = drive.endedWallMs ?? drive.clock.wallMs();
  // To the microsecond: what is below is noise, and would only look precise.
  const workMs = Math.round(activeMs(drive) * 1000) / 1000;
  return Object.freeze({
    run: drive.id,
    recipe: plan.id,
    plan: boundDigest(plan),
    verifier: verifier.digest,
    mode: drive.mode,
    state,
    reason: end?.reason ?? null,
    failure: end?.failure ?? null,
    independently_verified: state === "verified",
    // The wall clock is coarser, and may be set back: no part is longer than the whole.
    total_ms: Math.max(workMs, untilMs - drive.startedWallMs),
    active_ms: workMs,
    broker_attempts: outcomes.length,
    target_entries: outcomes.filter((one) => one === "done" || one === "uncertain").length,
    reused_pure_nodes: trace.filter((node) => node.reused_pure).length,
    learned_model_hits: answers.length - supplied.length,
    model_calls: supplied.length,
    tokens: Object.freeze({
      input: sumTokens(usages, "input_tokens"),
      output: sumTokens(usages, "output_tokens"),
    }),
    trace: Object.freeze(trace),
  });
}

function traceOf(drive: Drive, node: PlanNode): NodeTrace {
  const state = nodeState(drive, node);
  const answers = answersIn(itemsOf(state));
  const hits = answers.filter((one) => one.source === "learned").length;
  const failure = drive.state?.end?.failure;
  const line = {
    node: node.id,
    kind: node.step.kind,
    outcome: outcomeOf(state),
    elements: "elements" in state ? state.elements : null,
    reused_pure: state.kind === "done" && state.reused,
    learned_hits: hits,
    model_calls: answers.length - hits,
  };
  return Object.freeze(failure?.node === node.id ? { ...line, message: failure.message } : line);
}

function outcomeOf(state: NodeState): NodeTrace["outcome"] {
  return state.kind === "idle" ? "not_reached" : state.kind;
}

function nodeState(drive: Drive, node: PlanNode): NodeState {
  return drive.state?.nodes[node.index] ?? IDLE;
}

function itemsOf(state: NodeState): readonly Item[] {
  return "items" in state ? state.items : NO_ITEMS;
}

function answersIn(items: readonly Item[]): readonly ModelSettlement[] {
  return items.flatMap((item) =>
    item.kind === "model" && item.settled !== null ? [item.settled] : [],
  );
}
