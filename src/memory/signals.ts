/**
 * The sequential test over softer signals: failure rate at most 1 % against 10 %. A failure multiplies the evidence by
 * 0.10 / 0.01 = 10, a success by 0.90 / 0.99 = 10/11; at 20 the qualification is quarantined, which two failures
 * within 17 signals reach.
 *
 * The evidence never falls below 1, so that a long good record does not buy patience: after a thousand successes two
 * close failures still suffice. Kept as two counts since it last stood at 1, so that it is exact.
 */
import type { SignalCounts } from "../model/memory.ts";

const LIMIT = 20n;

export const NO_SIGNALS: SignalCounts = { failures: 0, successes: 0 };

export function afterSignal(counts: SignalCounts, failed: boolean): SignalCounts {
  const next = failed
    ? { failures: counts.failures + 1, successes: counts.successes }
    : { failures: counts.failures, successes: counts.successes + 1 };
  const { over, under } = evidence(next);
  return over <= under ? NO_SIGNALS : next;
}

/** True when the signals speak against the qualification. */
export function quarantines(counts: SignalCounts): boolean {
  const { over, under } = evidence(counts);
  return over >= LIMIT * under;
}

function evidence({ failures, successes }: SignalCounts): { over: bigint; under: bigint } {
  return { over: 10n ** BigInt(failures + successes), under: 11n ** BigInt(successes) };
}
