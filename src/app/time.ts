import { systemClock } from "../os/clock.ts";

/** The machine's time in whole seconds since 1970 UTC, as documents of trust state it. */
export function secondsNow(): number {
  return Math.floor(systemClock.wallMs() / 1000);
}
