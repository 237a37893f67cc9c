/** Rows of the file as the nouns they were. */
import type { Environment } from "../../model/environment.ts";
import {
  DEMOTION_CAUSES,
  type Demotion,
  type Observation,
  PHASES,
  type ProcedureSummary,
  type Signal,
  type StandingQualification,
} from "../../model/memory.ts";
import {
  damaged,
  storedDigest,
  storedInteger,
  storedNumber,
  storedText,
  storedWord,
} from "../decode.ts";
import { readExchanges, readLearned, StoredObservation } from "../rows.ts";

export type Row = { readonly [column: string]: unknown };

export function rowOf(value: unknown): Row {
  if (typeof value === "object" && value !== null) return value as Row;
  throw damaged("a row is missing");
}

export function readObservation(value: unknown): Observation {
  const row = rowOf(value);
  const head = {
    seq: storedInteger(row["seq"], "a sequence number"),
    run: storedText(row["run"], "a run"),
    phase: storedWord(row["phase"], PHASES, "a phase"),
    clean: storedFlag(row["clean"], "clean"),
    inputs: storedDigest(row["inputs"], "inputs"),
    observed_ms: storedNumber(row["observed_ms"], "a time"),
  };
  return new StoredObservation(head, storedText(row["body"], "an observation"));
}

export function readSignal(value: unknown): Signal {
  const row = rowOf(value);
  return {
    run: textOrNull(row["run"], "a run"),
    failed: storedFlag(row["failed"], "failed"),
    reason: storedText(row["reason"], "a reason"),
    models: readExchanges(storedText(row["models"], "a signal")),
    signalled_ms: storedNumber(row["signalled_ms"], "a time"),
  };
}

export function readDemotion(value: unknown): Demotion {
  const row = rowOf(value);
  return {
    qualification: storedText(row["qualification"], "a qualification"),
    cause: storedWord(row["cause"], DEMOTION_CAUSES, "a cause"),
    reason: storedText(row["reason"], "a reason"),
    run: textOrNull(row["run"], "a run"),
    demoted_ms: storedNumber(row["demoted_ms"], "a time"),
    barrier: storedInteger(row["barrier"], "a barrier"),
  };
}

export function readQualification(value: unknown): StandingQualification | null {
  if (value === undefined) return null;
  const row = rowOf(value);
  return {
    id: storedText(row["id"], "a qualification"),
    learned: readLearned(storedText(row["learned"], "learned answers")),
    clean_runs: storedNumber(row["clean_runs"], "a count of runs"),
    qualified_ms: storedNumber(row["qualified_ms"], "a time"),
  };
}

export function readSummary(
  value: unknown,
  readEnvironment: (text: string) => Environment,
): ProcedureSummary {
  const row = rowOf(value);
  return {
    task: storedText(row["task"], "a task"),
    plan: storedDigest(row["plan"], "a plan"),
    verifier: storedDigest(row["verifier"], "a verifier"),
    environment: storedDigest(row["environment"], "an environment"),
    semantics: storedNumber(row["semantics"], "a semantics version"),
    environment_parts: readEnvironment(storedText(row["environment_parts"], "an environment")),
    observations: storedNumber(row["observations"], "a count of observations"),
    qualification: textOrNull(row["qualification"], "a qualification"),
  };
}

function storedFlag(value: unknown, what: string): boolean {
  return storedWord(storedNumber(value, what), [0, 1] as const, what) === 1;
}

function textOrNull(value: unknown, what: string): string | null {
  return value === null ? null : storedText(value, what);
}
