import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { Environment } from "./environment.ts";
import type { RunStateName, StopReason } from "./stop.ts";

export const RUN_MODES = ["guided", "compiled"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** Provider and model name as the application configured them; what a reused answer depends on. */
export type ModelIdentity = {
  readonly provider: string;
  readonly name: string;
};

/** Tokens as the provider reported them. Missing is null (`unknown`), never zero. */
export type ModelUsage = {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
};

/** A model boundary that the run waits at. */
export interface PendingModel {
  readonly node: string;
  /** Position in the node's `each`, else null. */
  readonly index: number | null;
  readonly role: string;
  readonly instructions: string | null;
  /** The prompt in its JSON form. */
  readonly prompt: JsonValue;
  /** The type the answer is read as, in its JSON form (docs/expressions.md section 1). */
  readonly answer_type: JsonValue;
}

/** An answer for a pending model boundary. Without `node` it is for `run.pendingModel`. */
export interface ModelAnswer {
  readonly node?: string;
  readonly index?: number;
  readonly answer: JsonValue;
  readonly usage?: ModelUsage;
}

/** Why a run ended otherwise than verified: bounded, redacted, with the place. */
export type RunFailure = {
  readonly reason: StopReason;
  /** The node at fault, when there is one. */
  readonly node: string | null;
  readonly message: string;
  /** Code of the expression error or refusal behind the reason, when there is one. */
  readonly code?: string;
  /** JSON Pointer of the operator at fault in recipe or verifier. */
  readonly pointer?: string;
};

/** One answered model boundary. The prompt is kept as a commitment only. */
export interface ModelExchange {
  readonly node: string;
  readonly index: number | null;
  readonly prompt: Digest;
  /** In the JSON form of the answer's value type. */
  readonly answer: JsonValue;
  readonly model: ModelIdentity;
  readonly source: "supplied" | "learned";
}

/**
 * What a finished run has to show for itself: the only thing that procedure memory accepts. It is handed out by the
 * run itself (`evidenceOf`), so a claim cannot stand in for it.
 */
export interface RunEvidence {
  readonly run: string;
  /** The recipe's id: the declared task type. */
  readonly task: string;
  readonly plan: Digest;
  readonly verifier: Digest;
  readonly environment: Digest;
  /** What that digest is of, so that a later change can be told by name. */
  readonly environmentParts: Environment;
  readonly semantics: number;
  readonly mode: RunMode;
  readonly state: RunStateName;
  readonly reason: StopReason | null;
  readonly independentlyVerified: boolean;
  readonly inputs: Digest;
  readonly result: Digest | null;
  readonly receipts: readonly Digest[];
  readonly models: readonly ModelExchange[];
  /** Ids of pure nodes that compiled mode would take from their twin, with whether both values agreed. */
  readonly twins: readonly { readonly node: string; readonly agreed: boolean }[];
}

/**
 * A model answer that was identical in all qualifying runs. It stands for the identical prompt always, for other
 * prompts only when it `varied`: trained with several prompts, and held since for prompts never asked before. Only for
 * the identical model.
 */
export interface LearnedAnswer {
  readonly node: string;
  readonly answer: JsonValue;
  readonly prompts: readonly Digest[];
  readonly varied: boolean;
  readonly model: ModelIdentity;
}

/** One line of a run's trace. */
export interface NodeTrace {
  readonly node: string;
  readonly kind: string;
  readonly outcome: "done" | "not_taken" | "failed" | "waiting" | "not_reached";
  /** Elements of `each`, else null. */
  readonly elements: number | null;
  readonly reused_pure: boolean;
  readonly learned_hits: number;
  readonly model_calls: number;
  readonly message?: string;
}

/** What a run reports about itself, snake_case as documents are. Times in milliseconds. */
export interface RunReport {
  readonly run: string;
  readonly recipe: string;
  readonly plan: Digest;
  readonly verifier: Digest;
  readonly mode: RunMode;
  readonly state: RunStateName;
  readonly reason: StopReason | null;
  readonly failure: RunFailure | null;
  readonly independently_verified: boolean;
  /** Wall clock from start to end, waits included. */
  readonly total_ms: number;
  /** Monotonic time spent in the interpreter. */
  readonly active_ms: number;
  readonly broker_attempts: number;
  readonly target_entries: number;
  readonly reused_pure_nodes: number;
  readonly learned_model_hits: number;
  readonly model_calls: number;
  readonly tokens: { readonly input: number | "unknown"; readonly output: number | "unknown" };
  readonly trace: readonly NodeTrace[];
}
