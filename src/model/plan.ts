import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { Environment } from "./environment.ts";
import type { Type } from "./type.ts";
import type { CompiledExpression } from "./value.ts";

/**
 * Version of the operator semantics. A run and a qualification pin it; another version refuses to resume. Moved by
 * hand, and only when the result of some expression changes (the golden results in test/golden pin it).
 */
export const SEMANTICS_VERSION = 1;

/** A compiled recipe: normalised, typed, ordered, deeply frozen. */
export interface Plan {
  readonly id: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Null as long as the plan is unbound (no environment): it can be checked and drawn, not started. */
  readonly digest: Digest | null;
  readonly environment: Environment | null;
  /** The recipe in normal form; `digest` is made from it. */
  readonly normal: JsonValue;
  readonly semantics: number;
  /** Sorted by name; the position is the slot in `Sources.inputs`. */
  readonly inputs: readonly PlanInput[];
  /** In topological order, ties by id (UTF-16); the position is the slot in `Sources.nodes`. */
  readonly nodes: readonly PlanNode[];
  /** Index of the terminal node in `nodes`. */
  readonly terminal: number;
  /** Type of the run's result. */
  readonly result: Type;
  readonly limits: RunLimits;
  /** True when some node reads, has an effect, asks for approval or takes a checkpoint: such a plan needs a host. */
  readonly needsHost: boolean;
}

export interface PlanInput {
  readonly name: string;
  /** How a value from outside is read (may contain `decimal`). */
  readonly reading: Type;
  /** The type that expressions see. */
  readonly type: Type;
}

/** Limits of one run. A recipe may lower them, the host may lower them further. */
export type RunLimits = {
  /** Steps that reach outside or ask a model, counted per element of an `each`. */
  readonly max_steps: number;
  /** Active time of the run in milliseconds. */
  readonly max_runtime_ms: number;
  /** Tokens over all model answers; an answer without usage is charged at `max_tokens_per_answer`. */
  readonly max_tokens: number;
  readonly max_tokens_per_answer: number;
};

/** `max_tokens` lets every step be an answer whose usage is unknown: a host that pays for tokens states a lower limit. */
export const DEFAULT_RUN_LIMITS: RunLimits = {
  max_steps: 10_000,
  max_runtime_ms: 600_000,
  max_tokens: 1_000_000_000,
  max_tokens_per_answer: 100_000,
};

export interface PlanNode {
  readonly index: number;
  readonly id: string;
  /** JSON Pointer of the node in the recipe, for messages. */
  readonly pointer: string;
  /** Direct dependencies by plan index, ascending, without repeats. */
  readonly after: readonly number[];
  readonly when: CompiledExpression | null;
  readonly each: PlanEach | null;
  /** Type of the whole output when the node was taken (`{list: T}` with `each`). */
  readonly output: Type;
  /** What readers see: `output`, optional when the node may not be taken or a read may be absent. */
  readonly seen: Type;
  readonly step: PlanStep;
  /**
   * Pure nodes only: the first node in plan order that computes the identical expression over identical sources
   * (references to twins count as references to their originals), else null. Compiled runs take its value.
   */
  readonly twin: number | null;
}

export interface PlanEach {
  readonly list: CompiledExpression;
  readonly as: string;
  readonly limit: number;
}

export type PlanStep =
  | { readonly kind: "pure"; readonly value: CompiledExpression }
  | {
      readonly kind: "read";
      readonly tool: string;
      readonly arguments: CompiledExpression;
      readonly absentOn: readonly string[];
      /** How one result from outside is read. */
      readonly reading: Type;
    }
  | {
      readonly kind: "model";
      readonly role: string;
      readonly prompt: CompiledExpression;
      readonly instructions: string | null;
      /** How one answer from outside is read; also the schema shown to the model. */
      readonly reading: Type;
    }
  | {
      readonly kind: "verify";
      readonly condition: CompiledExpression;
      readonly value: CompiledExpression;
      readonly message: string | null;
    }
  | {
      readonly kind: "policy";
      readonly condition: CompiledExpression;
      readonly message: string | null;
    }
  | { readonly kind: "approval"; readonly effects: readonly number[] }
  | {
      readonly kind: "effect";
      readonly tool: string;
      readonly arguments: CompiledExpression;
      readonly key: CompiledExpression | null;
      readonly reading: Type;
    }
  | { readonly kind: "checkpoint"; readonly value: CompiledExpression | null };

export const STEP_KINDS = [
  "pure",
  "read",
  "model",
  "verify",
  "policy",
  "approval",
  "effect",
  "checkpoint",
] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** The rule, supplied by the application, that alone makes a run `verified`. */
export interface Verifier {
  readonly id: string | null;
  readonly digest: Digest;
  readonly normal: JsonValue;
  /** Evaluated at every admission of an effect; null only for procedures without effects. */
  readonly beforeEffect: CompiledExpression | null;
  readonly result: CompiledExpression;
}
