/**
 * Where procedure memory keeps its records. The ladder itself is in `memory/`; a store keeps rows and makes each
 * change atomic.
 *
 * - P1 Every method is one transaction: it happens whole and is durable on return, or it throws and nothing happened.
 * - P2 A `judge` sees the record inside that transaction and must be pure: it may be called again when the store was
 *   busy. Returning a promise is a TypeError, and nothing is written.
 * - P3 Synchronous, since a demotion made anywhere must be seen before the next step of a compiled run is taken.
 * - P4 Room is made by dropping whole procedures that have no standing qualification, the least recently observed
 *   first, never the one observed. Where that is not enough nothing is dropped and the answer is `memory_full`.
 */
import type { Result } from "../base/result.ts";
import type { Environment } from "../model/environment.ts";
import type {
  Demotion,
  Forgotten,
  Observation,
  ProcedureKey,
  ProcedureRecord,
  ProcedureSummary,
  Signal,
  SignalCounts,
  StandingQualification,
} from "../model/memory.ts";

export type NewObservation = Omit<Observation, "seq">;
/** Qualification and barrier are known to the store. */
export type NewDemotion = Omit<Demotion, "qualification" | "barrier">;

export interface ObservationChange {
  readonly observation: NewObservation;
  /** Ends the standing qualification in the same transaction. */
  readonly demotion: NewDemotion | null;
}

export interface SignalChange {
  readonly signal: Signal;
  readonly counts: SignalCounts;
  readonly demotion: NewDemotion | null;
}

export interface QualificationChange<Answer> {
  readonly qualification: StandingQualification | null;
  readonly answer: Answer;
}

export interface Observed {
  readonly seq: bigint;
  /** Procedures dropped to make room. */
  readonly evicted: number;
}

/** What a procedure is called and was made for; kept when it is first observed. */
export interface ProcedureName {
  readonly task: string;
  readonly environment: Environment;
}

export interface ProcedureStore {
  read(key: ProcedureKey): ProcedureRecord | undefined;

  /** By exact key: one indexed look-up. */
  find(key: ProcedureKey): ProcedureSummary | undefined;

  /** Procedures of a task, the most recently observed first. */
  findTask(task: string, limit: number): readonly ProcedureSummary[];

  /** All procedures, the most recently observed first. */
  list(limit: number): readonly ProcedureSummary[];

  /** Distinct task names, in no promised order. */
  tasks(limit: number): readonly string[];

  /** True as long as the qualification with this id has not ended. */
  stands(qualification: string): boolean;

  observe<Refusal>(
    key: ProcedureKey,
    name: ProcedureName,
    judge: (record: ProcedureRecord | undefined) => Result<ObservationChange, Refusal>,
  ): Result<Observed, Refusal | "memory_full">;

  /**
   * Puts `qualification` in the place of the standing one, null leaves everything as it is; returns `answer`. The
   * signal counts start anew where none stood: what speaks against a procedure is not lost when it learns less.
   */
  qualify<Answer>(
    key: ProcedureKey,
    judge: (record: ProcedureRecord | undefined) => QualificationChange<Answer>,
  ): Answer;

  /** Signals count only while a qualification stands: else undefined, and `judge` is not called. */
  signal<Refusal>(
    key: ProcedureKey,
    judge: (record: ProcedureRecord) => Result<SignalChange, Refusal>,
  ): Result<SignalChange, Refusal> | undefined;

  /** Ends the standing qualification; false when none stood. */
  demote(key: ProcedureKey, demotion: NewDemotion): boolean;

  /** Drops everything kept under the key; undefined when nothing was. */
  forget(key: ProcedureKey): Forgotten | undefined;

  /** Idempotent. Every later call throws RoteError `memory_closed`. */
  close(): void;
}
