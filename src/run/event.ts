/**
 * What happens to a run from outside, and what a run wants done outside: both plain JSON data.
 *
 * Events are what a journal keeps; a run's state is the fold over them (`fold`). Nodes are named by id, never by
 * position or by order of arrival. Inputs and answers stand in the JSON form of their value type, so a stored event is
 * read without the reading rules (a `decimal` is applied once, when the value comes in); results of tools stand as they
 * were received, since they are evidence.
 */
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { RunLimits } from "../model/plan.ts";
import type { ModelIdentity, ModelUsage, RunMode } from "../model/run.ts";
import type { StopReason } from "../model/stop.ts";

export type RunEvent =
  | StartedEvent
  | ModelAnsweredEvent
  | ReadSettledEvent
  | ApprovedEvent
  | EffectSettledEvent
  | CheckpointedEvent
  | StoppedEvent;

export type StartedEvent = {
  readonly type: "started";
  readonly plan: Digest;
  readonly verifier: Digest;
  readonly semantics: number;
  readonly mode: RunMode;
  readonly limits: RunLimits;
  readonly inputs: { readonly [name: string]: JsonValue };
};

/** Names one item of a node: position in its `each`, else null. */
export interface ItemName {
  readonly node: string;
  readonly index: number | null;
}

export interface ModelAnsweredEvent extends ItemName {
  readonly type: "model_answered";
  readonly answer: JsonValue;
  /** Null for a learned answer: no model was called. */
  readonly usage: ModelUsage | null;
  readonly model: ModelIdentity;
  readonly source: "supplied" | "learned";
}

export interface ReadSettledEvent extends ItemName {
  readonly type: "read_settled";
  readonly outcome:
    | { readonly kind: "done"; readonly result: JsonValue }
    | RefusedOutcome
    | FailedOutcome;
}

/** A fence's whole batch is approved. It grants nothing: the gate checks every operation again. */
export interface ApprovedEvent {
  readonly type: "approved";
  readonly node: string;
}

export interface EffectSettledEvent extends ItemName {
  readonly type: "effect_settled";
  readonly outcome:
    | { readonly kind: "done"; readonly result: JsonValue }
    | FailedOutcome
    | RefusedOutcome
    | { readonly kind: "uncertain"; readonly message: string };
}

/** The operation did not happen. `code` is the tool's or the gate's own word for it. */
export interface RefusedOutcome {
  readonly kind: "refused";
  readonly reason: StopReason;
  readonly code: string;
  readonly message: string;
}

/** As `RefusedOutcome`, where it was admitted and certainly did not happen. */
export type FailedOutcome = Omit<RefusedOutcome, "kind"> & {
  readonly kind: "failed_before_effect";
};

/** The journal position that a checkpoint node captured. */
export interface JournalPosition {
  readonly run: string;
  readonly seq: number;
  readonly entry: Digest;
}

export interface CheckpointedEvent {
  readonly type: "checkpointed";
  readonly node: string;
  readonly position: JournalPosition;
}

/** The run is ended from outside: cancelled, denied, out of time. */
export type StoppedEvent = {
  readonly type: "stopped";
  readonly reason: StopReason;
  readonly message: string;
  /** The gate's own word for it, where there is one. */
  readonly code?: string;
  /**
   * How many evaluations the run had made. When it was stopped in the middle of evaluating, the fold stops at
   * exactly the same place.
   */
  readonly evaluations: number;
};

/** One call of one tool that a run wants made, with frozen arguments. */
export interface PlannedOperation extends ItemName {
  readonly tool: string;
  readonly arguments: JsonValue;
  /** Natural key of an effect, else null. */
  readonly key: JsonValue;
}

export type RunCommand =
  | (ItemName & { readonly type: "ask_model"; readonly prompt: JsonValue })
  | (ItemName & { readonly type: "read"; readonly tool: string; readonly arguments: JsonValue })
  | {
      readonly type: "request_approval";
      readonly node: string;
      readonly operations: readonly PlannedOperation[];
    }
  | (PlannedOperation & { readonly type: "dispatch" })
  | { readonly type: "checkpoint"; readonly node: string };
