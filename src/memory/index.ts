/** Procedure memory: observe, qualify, demote, look up. Pure but for the store, clock and randomness it is given. */
export { keyOf, type PlanAndVerifier } from "./key.ts";
export { failureRateBound } from "./ladder.ts";
export { type LookUp, lookUp, type Wanted } from "./look-up.ts";
export { type ObserveOptions, observe, type Refused } from "./observe.ts";
export {
  type QualifiedPorts,
  type QualifiedProcedure,
  type QualifiedStart,
  qualifiedProcedure,
} from "./qualified.ts";
export { type QualifyOptions, qualify } from "./qualify.ts";
export { requirement } from "./requirement.ts";
export { type SignalRefusal, type SignalReport, signalOfHost, signalOfRun } from "./signal.ts";
export { type Asked, statusOf } from "./status.ts";
