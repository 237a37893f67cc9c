/** Procedure memory: observe, qualify, demote, look up. Pure but for the store, clock and randomness it is given. */
export { type Demotions, demotionsOf } from "./demotions.ts";
export { keyOf, type PlanAndVerifier } from "./key.ts";
export { type LookUp, lookUp, type Wanted } from "./look-up.ts";
export { observe } from "./observe.ts";
export { type QualifiedProcedure, type QualifiedStart, qualifiedProcedure } from "./qualified.ts";
export { qualify } from "./qualify.ts";
export { requirement } from "./requirement.ts";
export { type SignalReport, signalOfHost, signalOfRun } from "./signal.ts";
export { statusOf } from "./status.ts";
