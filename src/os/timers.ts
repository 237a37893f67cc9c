import type { Timers } from "../ports/timers.ts";

/** The event loop's own. */
export const systemTimers: Timers = Object.freeze<Timers>({
  soon: (work) => void setImmediate(work),
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return () => clearTimeout(timer);
  },
  deadline(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
});
