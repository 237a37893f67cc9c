import type { Clock } from "../../src/ports/clock.ts";

export interface ManualClock extends Clock {
  /** Moves both clocks on. */
  pass(ms: number): void;
}

/**
 * Time that moves only when told, or by `tickMs` each time the monotonic clock is read. Wall time starts at
 * 2026-01-01T00:00:00Z.
 */
export function manualClock(tickMs = 0): ManualClock {
  let wall = 1_767_225_600_000;
  let monotonic = 0;
  return {
    wallMs: () => wall,
    monotonicMs: () => {
      monotonic += tickMs;
      return monotonic;
    },
    pass: (ms) => {
      wall += ms;
      monotonic += ms;
    },
  };
}
