/**
 * Procedure memory within the process: nothing outlives it and nobody else sees it. For runs that are to leave no trace
 * on disk, for trying things out, and as the plainest reading of what the port promises.
 */
import { RoteError } from "../../base/error.ts";
import { err, ok, type Result } from "../../base/result.ts";
import type { Environment } from "../../model/environment.ts";
import type {
  Demotion,
  Forgotten,
  MemoryLimits,
  ProcedureKey,
  ProcedureRecord,
  ProcedureSummary,
  Signal,
  SignalCounts,
  StandingQualification,
} from "../../model/memory.ts";
import type {
  NewDemotion,
  ObservationChange,
  Observed,
  ProcedureName,
  ProcedureStore,
  QualificationChange,
  SignalChange,
} from "../../ports/procedures.ts";
import { refusePromise } from "../judged.ts";
import {
  type ObservationHead,
  observationBytes,
  readExchanges,
  readLearned,
  StoredObservation,
  signalBytes,
  writeBody,
  writeExchanges,
  writeLearned,
} from "../rows.ts";
import { KEPT_SIGNALS } from "../signals.ts";

/** One procedure. Texts, as on disk: what is handed out is always a fresh copy. */
interface Kept {
  readonly key: ProcedureKey;
  readonly task: string;
  readonly environment: Environment;
  touched: bigint;
  bytes: number;
  observations: KeptObservation[];
  signals: KeptSignal[];
  demotions: Demotion[];
  standing: (Omit<StandingQualification, "learned"> & { readonly learned: string }) | null;
  counts: SignalCounts;
}

type KeptObservation = ObservationHead & { readonly body: string };
type KeptSignal = Omit<Signal, "models"> & { readonly models: string; readonly bytes: number };

const NO_COUNTS: SignalCounts = { failures: 0, successes: 0 };

export function memoryProcedures(limits: MemoryLimits): ProcedureStore {
  const procedures = new Map<string, Kept>();
  const standing = new Set<string>();
  const totals = { rows: 0, bytes: 0 };
  let seq = 0n;
  let open = true;

  function opened(): Map<string, Kept> {
    if (!open) throw new RoteError("memory_closed", "this procedure memory was closed");
    return procedures;
  }

  function drop(name: string): void {
    const kept = procedures.get(name);
    if (kept === undefined) return;
    procedures.delete(name);
    if (kept.standing !== null) standing.delete(kept.standing.id);
    totals.rows -= rowsOf(kept);
    totals.bytes -= kept.bytes;
  }

  function end(kept: Kept, demotion: NewDemotion): void {
    if (kept.standing === null) return;
    const qualification = kept.standing.id;
    const { cause, reason, run, demoted_ms } = demotion;
    kept.demotions.push({ qualification, cause, reason, run, demoted_ms, barrier: kept.touched });
    standing.delete(qualification);
    kept.standing = null;
    kept.counts = NO_COUNTS;
  }

  return {
    read: (key) => recordOf(opened().get(nameOf(key))),

    find(key) {
      const kept = opened().get(nameOf(key));
      return kept === undefined ? undefined : summaryOf(kept);
    },

    findTask: (task, limit) =>
      latest(
        [...opened().values()].filter((kept) => kept.task === task),
        limit,
      ),

    list: (limit) => latest([...opened().values()], limit),

    tasks: (limit) => [...new Set([...opened().values()].map((kept) => kept.task))].slice(0, limit),

    stands(qualification) {
      opened();
      return standing.has(qualification);
    },

    observe<Refusal>(
      key: ProcedureKey,
      name: ProcedureName,
      judge: (record: ProcedureRecord | undefined) => Result<ObservationChange, Refusal>,
    ): Result<Observed, Refusal | "memory_full"> {
      const known = opened().get(nameOf(key));
      const judged = refusePromise(judge(recordOf(known)));
      if (!judged.ok) return judged;
      const { observation, demotion } = judged.value;
      const body = writeBody(observation);
      const bytes = observationBytes(observation, body);
      const over = {
        rows: totals.rows + 1 - limits.rows,
        bytes: totals.bytes + bytes - limits.bytes,
      };
      const evicted = toDrop(procedures, over, nameOf(key));
      if (evicted === undefined) return err("memory_full");
      evicted.forEach(drop);
      seq += 1n;
      const kept = known ?? keep(procedures, key, name);
      const { run, phase, clean, inputs, observed_ms } = observation;
      kept.observations.push({ seq, run, phase, clean, inputs, body, observed_ms });
      kept.touched = seq;
      kept.bytes += bytes;
      totals.rows += 1;
      totals.bytes += bytes;
      if (demotion !== null) end(kept, demotion);
      return ok({ seq, evicted: evicted.length });
    },

    qualify<Answer>(
      key: ProcedureKey,
      judge: (record: ProcedureRecord | undefined) => QualificationChange<Answer>,
    ): Answer {
      const kept = opened().get(nameOf(key));
      const { qualification, answer } = refusePromise(judge(recordOf(kept)));
      if (qualification !== null && kept !== undefined) {
        const before = kept.standing?.id;
        if (before === undefined) kept.counts = NO_COUNTS;
        else standing.delete(before);
        standing.add(qualification.id);
        kept.standing = { ...qualification, learned: writeLearned(qualification.learned) };
      }
      return answer;
    },

    signal<Refusal>(
      key: ProcedureKey,
      judge: (record: ProcedureRecord) => Result<SignalChange, Refusal>,
    ): Result<SignalChange, Refusal> | undefined {
      const kept = opened().get(nameOf(key));
      const record = recordOf(kept);
      if (kept === undefined || record === undefined || kept.standing === null) return undefined;
      const judged = refusePromise(judge(record));
      if (!judged.ok) return judged;
      const { signal, counts, demotion } = judged.value;
      const before = { rows: rowsOf(kept), bytes: kept.bytes };
      addSignal(kept, signal);
      totals.rows += rowsOf(kept) - before.rows;
      totals.bytes += kept.bytes - before.bytes;
      kept.counts = counts;
      if (demotion !== null) end(kept, demotion);
      return judged;
    },

    demote(key, demotion) {
      const kept = opened().get(nameOf(key));
      if (kept === undefined || kept.standing === null) return false;
      end(kept, demotion);
      return true;
    },

    forget(key): Forgotten | undefined {
      const kept = opened().get(nameOf(key));
      if (kept === undefined) return undefined;
      drop(nameOf(key));
      return {
        observations: kept.observations.length,
        signals: kept.signals.length,
        demotions: kept.demotions.length,
        qualified: kept.standing !== null,
      };
    },

    close() {
      open = false;
      procedures.clear();
      standing.clear();
    },
  };
}

function nameOf({ plan, verifier, environment, semantics }: ProcedureKey): string {
  return `${plan} ${verifier} ${environment} ${semantics}`;
}

function keep(procedures: Map<string, Kept>, key: ProcedureKey, name: ProcedureName): Kept {
  const { plan, verifier, environment, semantics } = key;
  const kept: Kept = {
    key: { plan, verifier, environment, semantics },
    task: name.task,
    environment: Object.freeze({ ...name.environment }),
    touched: 0n,
    bytes: 0,
    observations: [],
    signals: [],
    demotions: [],
    standing: null,
    counts: NO_COUNTS,
  };
  procedures.set(nameOf(key), kept);
  return kept;
}

/** Names of the procedures to drop so that nothing is over; undefined when that cannot be reached. */
function toDrop(
  procedures: ReadonlyMap<string, Kept>,
  over: { rows: number; bytes: number },
  own: string,
): readonly string[] | undefined {
  if (over.rows <= 0 && over.bytes <= 0) return [];
  const oldest = [...procedures]
    .filter(([name, kept]) => name !== own && kept.standing === null)
    .sort(([, a], [, b]) => byTouch(a, b));
  const dropped: string[] = [];
  for (const [name, kept] of oldest) {
    dropped.push(name);
    over.rows -= rowsOf(kept);
    over.bytes -= kept.bytes;
    if (over.rows <= 0 && over.bytes <= 0) return dropped;
  }
  return undefined;
}

function latest(kept: readonly Kept[], limit: number): readonly ProcedureSummary[] {
  return [...kept]
    .sort((a, b) => byTouch(b, a))
    .slice(0, limit)
    .map(summaryOf);
}

function byTouch(a: Kept, b: Kept): number {
  return a.touched < b.touched ? -1 : a.touched > b.touched ? 1 : 0;
}

function rowsOf(kept: Kept): number {
  return kept.observations.length + kept.signals.length;
}

function addSignal(kept: Kept, signal: Signal): void {
  const models = writeExchanges(signal.models);
  const bytes = signalBytes(signal, models);
  const { run, failed, reason, signalled_ms } = signal;
  kept.signals.push({ run, failed, reason, models, signalled_ms, bytes });
  kept.bytes += bytes;
  const alike = kept.signals.filter((one) => one.failed === failed);
  const [oldest] = alike;
  if (oldest === undefined || alike.length <= KEPT_SIGNALS) return;
  kept.signals = kept.signals.filter((one) => one !== oldest);
  kept.bytes -= oldest.bytes;
}

function recordOf(kept: Kept | undefined): ProcedureRecord | undefined {
  if (kept === undefined) return undefined;
  return {
    task: kept.task,
    observations: kept.observations.map((one) => new StoredObservation(one, one.body)),
    signals: kept.signals.map(({ run, failed, reason, models, signalled_ms }) => ({
      run,
      failed,
      reason,
      models: readExchanges(models),
      signalled_ms,
    })),
    demotions: [...kept.demotions],
    standing:
      kept.standing === null
        ? null
        : { ...kept.standing, learned: readLearned(kept.standing.learned) },
    counts: kept.counts,
  };
}

function summaryOf(kept: Kept): ProcedureSummary {
  return {
    task: kept.task,
    ...kept.key,
    environment_parts: kept.environment,
    observations: kept.observations.length,
    qualification: kept.standing?.id ?? null,
  };
}
