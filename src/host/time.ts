import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import type { TrustStore } from "../trust/trust-store.ts";

/** What signatures are judged by at one moment: read once for all that is judged then. */
export interface Moment {
  readonly trust: TrustStore;
  /** Seconds since 1970 UTC. */
  readonly now: number;
}

/**
 * The time in whole seconds since 1970 UTC by which the gate judges what begins and ends. Where the log is ahead of this
 * process's clock it is the log's, since that is what entries will bear: judged otherwise, what the commit refuses as too
 * late would be tried again and again.
 */
export function judgedNow({
  clock,
  journal,
}: {
  readonly clock: Clock;
  readonly journal: Pick<Journal, "time">;
}): number {
  return Math.floor(Math.max(clock.wallMs(), journal.time()) / 1000);
}
