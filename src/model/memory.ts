/**
 * Nouns of procedure memory: what is kept about runs, and what it says about a procedure.
 *
 * Kept are commitments (digests) of plan, verifier, environment, inputs, prompts, result and receipts, and the model
 * answers themselves; nothing else of the inputs. All of it is local optimisation metadata: it says how much has to be
 * thought again, never what is allowed.
 */
import type { Digest } from "../base/digest.ts";
import type { Environment } from "./environment.ts";
import type { LearnedAnswer, ModelExchange } from "./run.ts";

/** What an observed run is evidence for, in the order in which the ladder is climbed. */
export const PHASES = ["training", "shadow", "canary"] as const;
export type Phase = (typeof PHASES)[number];

/**
 * What the evidence says. `no_evidence` (not enough runs) never promotes and is not a failure; `fail` needs evidence
 * against: a phase that was failed and not shown again, or a demotion that fresh evidence has not overcome.
 */
export const VERDICTS = ["pass", "fail", "no_evidence"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The four things that evidence belongs to; where one differs, nothing carries over. */
export const KEY_PARTS = ["plan", "verifier", "environment", "semantics"] as const;
export type KeyPart = (typeof KEY_PARTS)[number];

export interface ProcedureKey {
  readonly plan: Digest;
  readonly verifier: Digest;
  readonly environment: Digest;
  readonly semantics: number;
}

/** Clean runs that qualification asks for, per phase. A host may ask for more, never for less. */
export type Requirement = Readonly<Record<Phase, number>>;

export const LEAST_REQUIREMENT: Requirement = { training: 3, shadow: 1, canary: 1 };

/** Why a run was not taken as evidence. Stable; each refusal also says it in a sentence. */
export const OBSERVATION_REFUSALS = [
  "run_not_ended",
  "run_not_verified",
  "run_not_independently_verified",
  "compiled_run",
  "unbound_plan",
  "other_plan",
  "other_verifier",
  "other_environment",
  "other_semantics",
  "run_already_observed",
  "inputs_already_observed",
  "phase_out_of_order",
  "procedure_full",
  "memory_full",
] as const;
export type ObservationRefusal = (typeof OBSERVATION_REFUSALS)[number];

/** Why a qualification ended. */
export const DEMOTION_CAUSES = [
  /** A compiled run failed its verification. */
  "verification_failed",
  /** An observed run contradicted what compiled runs use. */
  "phase_failed",
  /** The softer signals, taken together, speak against it. */
  "signals",
  /** The host said so. */
  "host",
] as const;
export type DemotionCause = (typeof DEMOTION_CAUSES)[number];

/** A place where compiled mode would have used something else than the guided run did. */
export interface Mismatch {
  readonly node: string;
  /** Position in the node's `each`, else null. */
  readonly index: number | null;
  /** `model`: the learned answer differed; `twin`: a pure node and the twin it would be taken from differed. */
  readonly kind: "model" | "twin";
}

/** A guided, independently verified run, as kept. */
export interface Observation {
  /** Position among all observations of the store; never used twice. */
  readonly seq: bigint;
  readonly run: string;
  readonly phase: Phase;
  /** False when compiled mode would have differed: the run failed its phase, and its answers count against. */
  readonly clean: boolean;
  readonly inputs: Digest;
  readonly result: Digest | null;
  readonly receipts: readonly Digest[];
  readonly models: readonly StoredExchange[];
  readonly mismatches: readonly Mismatch[];
  readonly observed_ms: number;
}

/** A model exchange of a guided run; its answer was supplied, never learned. */
export type StoredExchange = Omit<ModelExchange, "source">;

/** A softer sign for or against a standing qualification. */
export interface Signal {
  /** The guided run that gave it, or null when the host reported it. */
  readonly run: string | null;
  readonly failed: boolean;
  readonly reason: string;
  /** Exchanges of a verified run that contradicts the learned answers; they count against later ones too. */
  readonly models: readonly StoredExchange[];
  readonly signalled_ms: number;
}

export interface Demotion {
  /** The qualification that it ended. */
  readonly qualification: string;
  readonly cause: DemotionCause;
  readonly reason: string;
  /** The run that led to it, when there was one. */
  readonly run: string | null;
  readonly demoted_ms: number;
  /** Observations up to this one support no later qualification; what they say against one still counts. */
  readonly barrier: bigint;
}

/** A qualification that stands. It is dropped when it is demoted; the demotion stays. */
export interface StandingQualification {
  readonly id: string;
  readonly learned: readonly LearnedAnswer[];
  /** Clean runs behind it, without a failure since the first of them. */
  readonly clean_runs: number;
  readonly qualified_ms: number;
}

/** The state of the sequential test over signals since it last stood at its start. */
export interface SignalCounts {
  readonly failures: number;
  readonly successes: number;
}

/** Everything kept under one key. */
export interface ProcedureRecord {
  readonly task: string;
  /** Ascending by `seq`. */
  readonly observations: readonly Observation[];
  readonly signals: readonly Signal[];
  /** Oldest first. */
  readonly demotions: readonly Demotion[];
  readonly standing: StandingQualification | null;
  readonly counts: SignalCounts;
}

/** One line of a look-up. */
export interface ProcedureSummary {
  /** The recipe's id: the declared task. */
  readonly task: string;
  readonly plan: Digest;
  readonly verifier: Digest;
  readonly environment: Digest;
  readonly semantics: number;
  readonly environment_parts: Environment;
  readonly observations: number;
  /** Id of the qualification that stands, else null. */
  readonly qualification: string | null;
}

/** How much the memory keeps. */
export interface MemoryLimits {
  /** Observations and signals over all procedures. */
  readonly rows: number;
  /** Bytes of their stored texts; the file is larger by its indexes. */
  readonly bytes: number;
}

export const DEFAULT_MEMORY_LIMITS: MemoryLimits = { rows: 1_000_000, bytes: 268_435_456 };

/** Observations kept for one procedure: 1,000 clean runs bound its failure rate by 0.3 %. */
export const MAX_OBSERVATIONS = 1000;

/** What became of an observation. */
export interface ObservationReport {
  readonly phase: Phase;
  /** `counted`, or `failed` when compiled mode would have differed (kept, and it counts against). */
  readonly outcome: "counted" | "failed";
  readonly mismatches: readonly Mismatch[];
  /** Learned answers that compiled mode would have used in this run, and that agreed. */
  readonly agreed: number;
  /** True when the run contradicted a standing qualification, which it ended. */
  readonly demoted: boolean;
  /** Procedures without a standing qualification that were dropped to make room. */
  readonly evicted: number;
}

export interface PhaseStatus {
  readonly required: number;
  /** Clean runs that count now, each with inputs of its own. */
  readonly counted: number;
  /** Runs of this phase that failed it, since the last demotion. */
  readonly failed: number;
  /** Distinct inputs observed in this phase, since the last demotion. */
  readonly distinct_inputs: number;
}

/** A procedure of the same task whose evidence does not apply, and why. */
export interface VoidEvidence {
  /** What differs from the procedure that was asked about. */
  readonly changed: readonly KeyPart[];
  /** Parts of the environment that differ. */
  readonly changed_environment: readonly (keyof Environment)[];
  readonly was: ProcedureSummary;
  readonly message: string;
}

/** What memory knows about a procedure, as a document. */
export interface ProcedureStatus {
  readonly task: string;
  readonly plan: Digest;
  readonly verifier: Digest;
  readonly environment: Digest;
  readonly semantics: number;
  readonly verdict: Verdict;
  readonly phases: Readonly<Record<Phase, PhaseStatus>>;
  /** What is missing for a qualification, in words; empty exactly when the verdict is `pass`. */
  readonly missing: readonly string[];
  /** Clean runs since the last failure or demotion. */
  readonly clean_runs: number;
  /** With 95 % confidence the failure rate is below this: 1 - 0.05^(1/n) for n clean runs; null for none. */
  readonly failure_rate_bound: number | null;
  /** Answers that compiled runs use, or would use once qualified. */
  readonly learned: readonly LearnedAnswer[];
  readonly qualification: { readonly id: string; readonly qualified_ms: number } | null;
  readonly signals: SignalCounts;
  /** The last demotion, when there was one. */
  readonly demotion: Omit<Demotion, "barrier"> | null;
  /** Evidence of the same task that does not apply here. */
  readonly void: readonly VoidEvidence[];
}

/** What `forget` dropped. */
export interface Forgotten {
  readonly observations: number;
  readonly signals: number;
  readonly demotions: number;
  /** True when a qualification stood and no longer does. */
  readonly qualified: boolean;
}
