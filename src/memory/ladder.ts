/**
 * What a record says about its procedure: the only place that decides whether it qualifies.
 *
 * - Q1 Only runs observed after the last demotion count for it. Their inputs were never observed before under this
 *   key, not even before the demotion (`observe` refuses those), so evidence is always fresh.
 * - Q2 A failed shadow run takes back the shadow and canary runs before it, a failed canary run the canary runs before
 *   it: the phase has to be shown again, with what is left of the learned answers.
 * - Q3 A pure node that differed from its twin cannot be unlearned: that procedure fails for good.
 * - Q4 Nothing is promoted without evidence: a verdict is `pass` exactly when nothing is missing.
 */
import {
  type Observation,
  PHASES,
  type Phase,
  type PhaseStatus,
  type ProcedureRecord,
  type Requirement,
  type Verdict,
} from "../model/memory.ts";
import type { LearnedAnswer } from "../model/run.ts";
import { learnedFrom, sinceDemotion } from "./learned.ts";

export interface Standing {
  readonly verdict: Verdict;
  readonly phases: Phases;
  readonly missing: readonly string[];
  readonly clean_runs: number;
  readonly failure_rate_bound: number | null;
  readonly learned: readonly LearnedAnswer[];
}

type Phases = Readonly<Record<Phase, PhaseStatus>>;

/** How far each phase is, without a verdict. */
export function phasesOf(record: ProcedureRecord | undefined, required: Requirement): Phases {
  const fresh = record === undefined ? [] : sinceDemotion(record);
  return {
    training: phaseStatus(fresh, "training", ["training"], required),
    shadow: phaseStatus(fresh, "shadow", ["shadow"], required),
    canary: phaseStatus(fresh, "canary", ["shadow", "canary"], required),
  };
}

export function judge(record: ProcedureRecord | undefined, required: Requirement): Standing {
  const fresh = record === undefined ? [] : sinceDemotion(record);
  const phases = phasesOf(record, required);
  const against = record === undefined ? [] : evidenceAgainst(record, fresh, phases);
  const missing = [...against, ...PHASES.flatMap((phase) => missingRuns(phase, phases[phase]))];
  const clean = cleanRuns(fresh);
  return {
    verdict: missing.length === 0 ? "pass" : against.length > 0 ? "fail" : "no_evidence",
    phases,
    missing,
    clean_runs: clean,
    failure_rate_bound: failureRateBound(clean),
    learned: record === undefined ? [] : learnedFrom(record),
  };
}

/** The failure rate that `runs` clean runs leave possible with 95 % confidence. */
export function failureRateBound(runs: number): number | null {
  return runs === 0 ? null : 1 - 0.05 ** (1 / runs);
}

function phaseStatus(
  fresh: readonly Observation[],
  phase: Phase,
  resetBy: readonly Phase[],
  required: Requirement,
): PhaseStatus {
  const own = fresh.filter((one) => one.phase === phase);
  // Failed training runs were not held out: they count against, but take back no other run.
  const from =
    phase === "training"
      ? 0
      : fresh.findLastIndex((one) => !one.clean && resetBy.includes(one.phase)) + 1;
  return {
    required: required[phase],
    counted: fresh.slice(from).filter((one) => one.phase === phase && one.clean).length,
    failed: own.filter((one) => !one.clean).length,
    distinct_inputs: new Set(own.map((one) => one.inputs)).size,
  };
}

function cleanRuns(fresh: readonly Observation[]): number {
  return fresh.length - 1 - fresh.findLastIndex((one) => !one.clean);
}

function evidenceAgainst(
  record: ProcedureRecord,
  fresh: readonly Observation[],
  phases: Phases,
): readonly string[] {
  const against: string[] = [];
  const unequal = record.observations.find(
    (one) => !one.clean && one.mismatches.some((mismatch) => mismatch.kind === "twin"),
  );
  if (unequal !== undefined) {
    const node = unequal.mismatches.find((mismatch) => mismatch.kind === "twin")?.node ?? "";
    against.push(
      `in run ${unequal.run} the pure node ${node} differed from the node whose value compiled runs would take for it; ` +
        "this procedure cannot qualify",
    );
  }
  for (const phase of ["shadow", "canary"] as const) {
    const { counted, required } = phases[phase];
    if (counted >= required) continue;
    const failed = fresh.findLast((one) => one.phase === phase && !one.clean);
    if (failed !== undefined) against.push(failedPhase(phase, failed));
  }
  const demotion = record.demotions.at(-1);
  if (demotion !== undefined && PHASES.some((one) => phases[one].counted < phases[one].required)) {
    against.push(
      `the qualification was demoted (${demotion.cause}: ${demotion.reason}); ` +
        "only runs observed since then, with inputs never observed before, count",
    );
  }
  return against;
}

function failedPhase(phase: Phase, failed: Observation): string {
  const nodes = [...new Set(failed.mismatches.map((mismatch) => mismatch.node))].join(", ");
  return (
    `the ${phase} run ${failed.run} failed: compiled mode would have used another value at ${nodes}; ` +
    `the ${phase} phase has to be shown again`
  );
}

function missingRuns(phase: Phase, { counted, required }: PhaseStatus): readonly string[] {
  const lacking = required - counted;
  if (lacking <= 0) return [];
  const runs = `${lacking} more ${phase} run${lacking === 1 ? "" : "s"}`;
  return [`${runs} with inputs not observed before (${counted} of ${required})`];
}
