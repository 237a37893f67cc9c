export type { Models } from "./answer.ts";
export type { Shown } from "./context.ts";
export type { Advance } from "./drive.ts";
export type { DurableAdvance } from "./durable.ts";
export type { RunEvent } from "./event.ts";
export { promptDigest } from "./learned.ts";
export type { PendingRequest } from "./request.ts";
export { resumeRun } from "./resume.ts";
export { evidenceOf, type Run, type StartOptions, shownToVerifier, startRun } from "./run.ts";
