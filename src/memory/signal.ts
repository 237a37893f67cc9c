/** Softer signs about a qualification that stands: sampled guided runs, and what the host reports. */
import { err, ok, type Result } from "../base/result.ts";
import type { ProcedureKey, ProcedureRecord, Signal, SignalCounts } from "../model/memory.ts";
import type { RunEvidence } from "../model/run.ts";
import type { NewDemotion, ProcedureStore, SignalChange } from "../ports/procedures.ts";
import { compare } from "./learned.ts";
import { hasSeen, isCompiled, keyOfRun, type Refused } from "./observe.ts";
import { afterSignal, quarantines } from "./signals.ts";

/** Why a signal was not taken. */
export const SIGNAL_REFUSALS = [
  "not_qualified",
  "compiled_run",
  "run_says_nothing",
  "run_already_observed",
] as const;
export type SignalRefusal = (typeof SIGNAL_REFUSALS)[number];

export interface SignalReport {
  readonly failed: boolean;
  readonly counts: SignalCounts;
  /** True when the signals together ended the qualification. */
  readonly demoted: boolean;
}

type Judged = Result<Signal, Refused<SignalRefusal>>;

/**
 * What a guided run of a qualified procedure says about it. It speaks for it when it was verified and agrees with the
 * learned answers, against it when it differs or when a verification failed. A run that ended for any other reason says
 * nothing.
 */
export function signalOfRun(
  store: ProcedureStore,
  evidence: RunEvidence,
  nowMs: number,
): Result<SignalReport, Refused<SignalRefusal>> {
  const { run, state, reason } = evidence;
  if (isCompiled(evidence)) {
    return refuse(
      "compiled_run",
      `run ${run} was compiled; only a guided run can speak about what is learned`,
    );
  }
  const accepted = state === "verified" && evidence.independentlyVerified;
  const rejected = reason === "verify_failed" || reason === "verifier_rejected";
  if (!accepted && !rejected) {
    return refuse(
      "run_says_nothing",
      `run ${run} is ${state} (${reason ?? "no reason yet"}); only a verification speaks for or against`,
    );
  }
  return record(store, keyOfRun(evidence), (known): Judged => {
    if (hasSeen(known, run)) {
      return refuse("run_already_observed", `run ${run} was observed before; it counts once`);
    }
    if (rejected) {
      return ok({
        run,
        failed: true,
        reason: `a guided run ended ${reason}`,
        models: [],
        signalled_ms: nowMs,
      });
    }
    const { mismatches } = compare(known.standing?.learned ?? [], evidence);
    if (mismatches.length === 0) {
      return ok({
        run,
        failed: false,
        reason: "a guided run agreed",
        models: [],
        signalled_ms: nowMs,
      });
    }
    const differing = new Set(mismatches.map((one) => one.node));
    return ok({
      run,
      failed: true,
      reason: `a guided run differed at ${[...differing].join(", ")}`,
      models: evidence.models
        .filter((one) => differing.has(one.node))
        .map(({ node, index, prompt, answer, model }) => ({ node, index, prompt, answer, model })),
      signalled_ms: nowMs,
    });
  });
}

/** What the host saw, without a run of its own. */
export function signalOfHost(
  store: ProcedureStore,
  key: ProcedureKey,
  report: { readonly failed: boolean; readonly reason: string },
  nowMs: number,
): Result<SignalReport, Refused<SignalRefusal>> {
  return record(store, key, () => ok({ run: null, ...report, models: [], signalled_ms: nowMs }));
}

function record(
  store: ProcedureStore,
  key: ProcedureKey,
  judge: (known: ProcedureRecord) => Judged,
): Result<SignalReport, Refused<SignalRefusal>> {
  const taken = store.signal(key, (known) => {
    const signal = judge(known);
    return signal.ok ? ok(changeFor(known, signal.value)) : signal;
  });
  if (taken === undefined) {
    return refuse("not_qualified", "no qualification stands that the signal could speak about");
  }
  if (!taken.ok) return taken;
  const { signal, counts, demotion } = taken.value;
  return ok({ failed: signal.failed, counts, demoted: demotion !== null });
}

function changeFor(known: ProcedureRecord, signal: Signal): SignalChange {
  const counts = afterSignal(known.counts, signal.failed);
  const demotion: NewDemotion | null = quarantines(counts)
    ? {
        cause: "signals",
        reason: `${counts.failures} failures among ${counts.failures + counts.successes} signals, the last: ${signal.reason}`,
        run: signal.run,
        demoted_ms: signal.signalled_ms,
      }
    : null;
  return { signal, counts, demotion };
}

function refuse(code: SignalRefusal, message: string) {
  return err({ code, message });
}
