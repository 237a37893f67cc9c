/**
 * The state of a run: what the fold over its events makes. Never stored beside the events, never changed in place;
 * `step` makes a new one per event.
 */
import type { JsonValue } from "../base/json.ts";
import type { RunLimits } from "../model/plan.ts";
import type { ModelIdentity, ModelUsage, RunFailure, RunMode } from "../model/run.ts";
import type { StopReason } from "../model/stop.ts";
import type { Value } from "../model/value.ts";
import type { JournalPosition } from "./event.ts";
import type { Extent } from "./extent.ts";

export interface RunState {
  readonly mode: RunMode;
  readonly limits: RunLimits;
  /** By slot. */
  readonly inputs: readonly Value[];
  /** What readers of a node see, by plan index; null where there is nothing (yet). */
  readonly outputs: readonly Value[];
  /** By plan index. */
  readonly nodes: readonly NodeState[];
  /** Direct dependencies that are not settled yet, by plan index. */
  readonly missing: readonly number[];
  /** Nodes that could be taken but for an operation in flight, by plan index, ascending. */
  readonly ready: readonly number[];
  /** Nodes that wait for something from outside, by plan index, ascending. */
  readonly waiting: readonly number[];
  /** Nodes that are done or not taken. */
  readonly settled: number;
  /** Evaluations made so far; says where in the middle of an event a run was stopped. */
  readonly evaluations: number;
  /** What these evaluations have made in all. */
  readonly extent: Extent;
  /** Model boundaries and operations asked for so far. */
  readonly steps: number;
  /** Tokens charged so far. */
  readonly tokens: number;
  /** Reads whose outcome is still out. */
  readonly readsInFlight: number;
  /** The same of effects: there is never more than one. */
  readonly effectsInFlight: number;
  readonly end: RunEnd | null;
}

export interface RunEnd {
  readonly reason: StopReason;
  /** Null only for `completed`. */
  readonly failure: RunFailure | null;
}

export type NodeState =
  | { readonly kind: "idle" }
  | { readonly kind: "not_taken" }
  | { readonly kind: "failed"; readonly items: readonly Item[] }
  | {
      readonly kind: "done";
      /** Length of the list of an `each`, else null. */
      readonly elements: number | null;
      readonly items: readonly Item[];
      /** The value was taken from the node's twin. */
      readonly reused: boolean;
      readonly position: JournalPosition | null;
    }
  | {
      readonly kind: "waiting";
      readonly elements: number | null;
      /** In order of index. Empty for approval and checkpoint nodes, which wait as a whole. */
      readonly items: readonly Item[];
      /** Items without an outcome. */
      readonly open: number;
    };

/** One model boundary or one operation of a node. */
export type Item = ModelItem | OperationItem;

export interface ModelItem {
  readonly kind: "model";
  readonly index: number | null;
  readonly prompt: JsonValue;
  readonly settled: ModelSettlement | null;
}

export interface ModelSettlement {
  readonly value: Value;
  readonly answer: JsonValue;
  readonly usage: ModelUsage | null;
  readonly model: ModelIdentity;
  readonly source: "supplied" | "learned";
}

export interface OperationItem {
  readonly kind: "operation";
  readonly index: number | null;
  readonly tool: string;
  readonly arguments: JsonValue;
  readonly key: JsonValue;
  readonly settled: OperationSettlement | null;
}

export interface OperationSettlement {
  readonly outcome: "done" | "failed_before_effect" | "refused" | "uncertain";
  /** What readers get for this item: null for a permitted absence and for everything but `done`. */
  readonly value: Value;
  readonly result: JsonValue | undefined;
}

export const IDLE: NodeState = Object.freeze({ kind: "idle" });
export const NOT_TAKEN: NodeState = Object.freeze({ kind: "not_taken" });
export const NO_ITEMS: readonly Item[] = Object.freeze([]);
export const DONE: NodeState = Object.freeze({
  kind: "done",
  elements: null,
  items: NO_ITEMS,
  reused: false,
  position: null,
});

/** A node that is done without having asked for anything. */
export function doneOf(elements: number | null, reused: boolean): NodeState {
  if (elements === null && !reused) return DONE;
  return { kind: "done", elements, items: NO_ITEMS, reused, position: null };
}
