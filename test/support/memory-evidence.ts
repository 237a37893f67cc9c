import { type Digest, digestOf } from "../../src/base/digest.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { environmentDigest } from "../../src/compile/environment.ts";
import type { ProcedureKey, ProcedureRecord, StoredExchange } from "../../src/model/memory.ts";
import type { ModelExchange, RunEvidence } from "../../src/model/run.ts";
import type { NewObservation } from "../../src/ports/procedures.ts";
import { ENVIRONMENT } from "./pure-procedure.ts";

/** A digest that stands for whatever the word says. */
export function digest(word: string): Digest {
  return digestOf("test/v1", word);
}

export function keyOfWord(word: string): ProcedureKey {
  return {
    plan: digest(`plan ${word}`),
    verifier: digest("verifier"),
    environment: environmentDigest(ENVIRONMENT),
    semantics: 1,
  };
}

export const KEY = keyOfWord("a");
export const NAME = { task: "task-a", environment: ENVIRONMENT };
export const MODEL = { provider: "provider", name: "model" };

export function exchange(
  node: string,
  prompt: string,
  answer: JsonValue,
  more: Partial<StoredExchange> = {},
): ModelExchange {
  return {
    node,
    index: null,
    prompt: digest(prompt),
    answer,
    model: MODEL,
    ...more,
    source: "supplied",
  };
}

/** Evidence of a clean guided run; `word` makes run and inputs distinct. */
export function evidence(word: string, more: Partial<RunEvidence> = {}): RunEvidence {
  return {
    run: `run-${word}`,
    task: NAME.task,
    ...KEY,
    environmentParts: ENVIRONMENT,
    mode: "guided",
    state: "verified",
    reason: "completed",
    independentlyVerified: true,
    inputs: digest(`inputs ${word}`),
    result: digest(`result ${word}`),
    receipts: [],
    models: [],
    twins: [],
    ...more,
  };
}

export function observation(word: string, more: Partial<NewObservation> = {}): NewObservation {
  return {
    run: `run-${word}`,
    phase: "training",
    clean: true,
    inputs: digest(`inputs ${word}`),
    result: digest(`result ${word}`),
    receipts: [],
    models: [],
    mismatches: [],
    observed_ms: 1_700_000_000_000,
    ...more,
  };
}

/** A record as plain data: stored observations read their bodies late. */
export function plainRecord(record: ProcedureRecord | undefined): ProcedureRecord | undefined {
  if (record === undefined) return undefined;
  const observations = record.observations.map(
    ({ seq, run, phase, clean, inputs, result, receipts, models, mismatches, observed_ms }) => ({
      seq,
      run,
      phase,
      clean,
      inputs,
      result,
      receipts,
      models,
      mismatches,
      observed_ms,
    }),
  );
  return { ...record, observations };
}
