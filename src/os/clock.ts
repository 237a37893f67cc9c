import type { Clock } from "../ports/clock.ts";

/** The machine's own clocks. */
export const systemClock: Clock = Object.freeze<Clock>({
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
});
