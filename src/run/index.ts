export type { Models } from "./answer.ts";
export type { Advance } from "./drive.ts";
export type { RunCommand, RunEvent } from "./event.ts";
export { promptDigest } from "./learned.ts";
export { evidenceOf, type Run, type StartOptions, startRun } from "./run.ts";
