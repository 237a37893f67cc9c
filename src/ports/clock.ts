/** Time from outside. Wall time for stamps, monotonic time for durations. */
export interface Clock {
  /** Milliseconds since 1970 UTC. */
  wallMs(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
}
