/**
 * Takes the evidence of one finished run.
 *
 * - O1 Only guided runs that the pinned verifier accepted are evidence; what a result says about itself has no weight.
 * - O2 Inputs are distinct over all phases and for all time under one key. Equal inputs have one digest, however they
 *   were written down.
 * - O3 Shadow and canary runs, and every run while a qualification stands, are compared with what compiled mode would
 *   have used. A run that differs is kept as failed, and ends the qualification.
 */
import { err, ok, type Result } from "../base/result.ts";
import {
  MAX_OBSERVATIONS,
  type Mismatch,
  type ObservationRefusal,
  type ObservationReport,
  PHASES,
  type Phase,
  type ProcedureKey,
  type ProcedureRecord,
  type Requirement,
} from "../model/memory.ts";
import type { RunEvidence } from "../model/run.ts";
import { TERMINAL_STATES } from "../model/stop.ts";
import type { ObservationChange, ProcedureStore } from "../ports/procedures.ts";
import { changedParts } from "./key.ts";
import { phasesOf } from "./ladder.ts";
import { candidatesFrom, compare } from "./learned.ts";

export interface ObserveOptions {
  readonly phase: Phase;
  readonly requirement: Requirement;
  readonly nowMs: number;
  /** The procedure that the caller believes the run to be of. */
  readonly expected?: ProcedureKey;
}

export interface Refused<Code extends string> {
  readonly code: Code;
  readonly message: string;
}

export function observe(
  store: ProcedureStore,
  evidence: RunEvidence,
  options: ObserveOptions,
): Result<ObservationReport, Refused<ObservationRefusal>> {
  const unfit = refusalOf(evidence, options.expected);
  if (unfit !== undefined) return err(unfit);
  let agreed = 0;
  let change: ObservationChange | undefined;
  const observed = store.observe(
    keyOfRun(evidence),
    { task: evidence.task, environment: evidence.environmentParts },
    (record) => {
      const refusal = refusalIn(record, evidence, options);
      if (refusal !== undefined) return err(refusal);
      const compared = compare(wouldBeUsed(record, options.phase), evidence);
      agreed = compared.agreed;
      change = changeFor(evidence, options, compared.mismatches, record);
      return ok(change);
    },
  );
  if (!observed.ok) {
    return err(observed.error === "memory_full" ? MEMORY_FULL : observed.error);
  }
  const mismatches = change?.observation.mismatches ?? [];
  return ok({
    phase: options.phase,
    outcome: mismatches.length === 0 ? "counted" : "failed",
    mismatches,
    agreed,
    demoted: change?.demotion !== null,
    evicted: observed.value.evicted,
  });
}

export function keyOfRun(evidence: RunEvidence): ProcedureKey {
  const { plan, verifier, environment, semantics } = evidence;
  return { plan, verifier, environment, semantics };
}

/** What can be said against a run without looking at any other. */
function refusalOf(
  evidence: RunEvidence,
  expected: ProcedureKey | undefined,
): Refused<ObservationRefusal> | undefined {
  const { run, state, reason } = evidence;
  if (!(TERMINAL_STATES as readonly string[]).includes(state)) {
    return refused(
      "run_not_ended",
      `run ${run} is still ${state}; only a finished run is evidence`,
    );
  }
  if (state !== "verified") {
    return refused(
      "run_not_verified",
      `run ${run} ended ${state} (${reason ?? "no reason"}); only a run that its verifier accepted is evidence`,
    );
  }
  if (!evidence.independentlyVerified) {
    return refused(
      "run_not_independently_verified",
      `no verifier from outside the recipe judged run ${run}; what a recipe says about itself is no evidence`,
    );
  }
  if (isCompiled(evidence)) {
    return refused(
      "compiled_run",
      `run ${run} was compiled: it used what was learned, so it cannot be evidence for it`,
    );
  }
  return expected === undefined ? undefined : refusalByKey(evidence, expected);
}

export function isCompiled(evidence: RunEvidence): boolean {
  return evidence.mode === "compiled" || evidence.models.some((one) => one.source === "learned");
}

/** A run of another procedure than the one named. */
export function refusalByKey(
  evidence: RunEvidence,
  expected: ProcedureKey,
): Refused<`other_${"plan" | "verifier" | "environment" | "semantics"}`> | undefined {
  const [part] = changedParts(keyOfRun(evidence), expected);
  if (part === undefined) return undefined;
  return {
    code: `other_${part}`,
    message: `run ${evidence.run} was made with another ${part} (${evidence[part]}, not ${expected[part]})`,
  };
}

/** What can be said against a run beside those observed already. */
function refusalIn(
  record: ProcedureRecord | undefined,
  evidence: RunEvidence,
  { phase, requirement }: ObserveOptions,
): Refused<ObservationRefusal> | undefined {
  if (record !== undefined) {
    const { run, inputs } = evidence;
    if (hasSeen(record, run)) {
      return refused("run_already_observed", `run ${run} was observed before; it counts once`);
    }
    const same = record.observations.find((one) => one.inputs === inputs);
    if (same !== undefined) {
      return refused(
        "inputs_already_observed",
        `run ${run} has the inputs of run ${same.run} (${same.phase}); each run has to show something new`,
      );
    }
    if (record.observations.length >= MAX_OBSERVATIONS) {
      return refused(
        "procedure_full",
        `${MAX_OBSERVATIONS} runs of this procedure are kept, which is the most; qualify it or forget it`,
      );
    }
  }
  return refusalByOrder(record, phase, requirement);
}

export function hasSeen(record: ProcedureRecord, run: string): boolean {
  return (
    record.observations.some((one) => one.run === run) ||
    record.signals.some((one) => one.run === run)
  );
}

function refusalByOrder(
  record: ProcedureRecord | undefined,
  phase: Phase,
  requirement: Requirement,
): Refused<ObservationRefusal> | undefined {
  const phases = phasesOf(record, requirement);
  for (const before of PHASES.slice(0, PHASES.indexOf(phase))) {
    const { counted, required } = phases[before];
    if (counted >= required) continue;
    return refused(
      "phase_out_of_order",
      `a ${phase} run counts only after ${required} ${before} run${required === 1 ? "" : "s"} with different inputs, ` +
        `and there ${counted === 1 ? "is" : "are"} ${counted}`,
    );
  }
  return undefined;
}

function wouldBeUsed(record: ProcedureRecord | undefined, phase: Phase) {
  if (record === undefined) return [];
  if (record.standing !== null) return record.standing.learned;
  return phase === "training" ? [] : candidatesFrom(record);
}

function changeFor(
  evidence: RunEvidence,
  { phase, nowMs }: ObserveOptions,
  mismatches: readonly Mismatch[],
  record: ProcedureRecord | undefined,
): ObservationChange {
  const clean = mismatches.length === 0;
  const contradicts = !clean && record !== undefined && record.standing !== null;
  const nodes = [...new Set(mismatches.map((one) => one.node))].join(", ");
  return {
    observation: {
      run: evidence.run,
      phase,
      clean,
      inputs: evidence.inputs,
      result: evidence.result,
      receipts: evidence.receipts,
      models: evidence.models.map(({ node, index, prompt, answer, model }) => ({
        node,
        index,
        prompt,
        answer,
        model: { provider: model.provider, name: model.name },
      })),
      mismatches,
      observed_ms: nowMs,
    },
    demotion: contradicts
      ? {
          cause: "phase_failed",
          reason: `the ${phase} run differed from what compiled runs use at ${nodes}`,
          run: evidence.run,
          demoted_ms: nowMs,
        }
      : null,
  };
}

const MEMORY_FULL = refused(
  "memory_full",
  "the memory is full, and all it keeps belongs to procedures that are qualified or to this one; " +
    "forget some procedure or raise the limits",
);

function refused(code: ObservationRefusal, message: string): Refused<ObservationRefusal> {
  return { code, message };
}
