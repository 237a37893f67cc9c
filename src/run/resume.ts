/**
 * A run made again from its journal, in any process at the same host.
 *
 * - E1 The state is the fold over the recorded events and nothing else.
 * - E2 What was admitted and has no receipt is found out about first, before anything else is done (`host/recover.ts`).
 * - E3 Another recipe, verifier or version of the operator semantics, or a host without the run's tools, refuses, and the
 *   run stays as it was.
 */
import { RoteError } from "../base/error.ts";
import {
  type Body,
  type Host,
  type HostParts,
  partsOf,
  type ReceiptsRead,
  receiptsIn,
  toolsOf,
} from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import { type Appended, HOST_CHAIN } from "../model/journal.ts";
import type { Plan, Verifier } from "../model/plan.ts";
import { startedBody } from "../model/run-entry.ts";
import type { Clock } from "../ports/clock.ts";
import type { Qualification } from "../ports/qualification.ts";
import { readModels } from "./answer.ts";
import { attachedTo, claimRun } from "./attached.ts";
import type { Drive } from "./drive.ts";
import { eventsIn, readBody, refuseBrokenChain } from "./entries.ts";
import type { StartedEvent } from "./event.ts";
import { programOf } from "./program.ts";
import { writeResumed } from "./record.ts";
import { readBack, takeOver } from "./reload.ts";
import { type Run, runOf } from "./run.ts";
import { fold } from "./step.ts";

export interface ResumeOptions {
  readonly clock: Clock;
  /** For compiled runs: the qualification under which the run was started. */
  readonly qualification?: Qualification;
  readonly environment?: Environment;
}

/**
 * @throws RoteError `unknown_run` `run_busy` `tool_missing` `other_procedure` `other_semantics` `not_qualified` `journal_damaged`
 */
export async function resumeRun(
  plan: Plan,
  verifier: Verifier,
  host: Host,
  run: string,
  options: ResumeOptions,
): Promise<Run> {
  const parts = partsOf(host);
  const known = run === HOST_CHAIN ? [] : parts.journal.read(run);
  if (known.length === 0) {
    throw new RoteError("unknown_run", `There is no run ${JSON.stringify(run)} in the journal.`, {
      run,
    });
  }
  if (hasEnded(known)) return endedRun(plan, verifier, parts, known, options);
  refuseMissingTools(plan, parts);
  const lease = await claimRun(parts, run);
  try {
    // Until the lease was ours, another process may have written, and even have ended the run.
    const entries = [...known, ...parts.journal.read(run, known.length)];
    if (hasEnded(entries)) {
      await parts.journal.release(lease);
      return endedRun(plan, verifier, parts, entries, options);
    }
    const said = receiptsIn(parts, entries);
    const drive = driveFrom(plan, verifier, parts, entries, said, options);
    const attached = attachedTo(parts, lease);
    await writeResumed(drive, attached, entries.length);
    await takeOver(drive, attached, entries, said);
    return runOf(drive, attached);
  } catch (error) {
    // Whoever repairs what is wrong need not wait for the lease to run out.
    await parts.journal.release(lease).catch(() => undefined);
    throw error;
  }
}

function hasEnded(entries: readonly Appended[]): boolean {
  return entries.some(({ entry }) => entry.type === "run_ended");
}

/** Nobody holds an ended run: there is nothing to write. */
function endedRun(
  plan: Plan,
  verifier: Verifier,
  parts: HostParts,
  entries: readonly Appended[],
  options: ResumeOptions,
): Run {
  const said = receiptsIn(parts, entries);
  const drive = driveFrom(plan, verifier, parts, entries, said, options);
  drive.finished = true;
  const attached = attachedTo(parts, { chain: drive.id, owner: "", epoch: 0 });
  readBack(attached, entries, said);
  return runOf(drive, attached);
}

/** Without its tools a run could not go on, and nothing could be found out about what is open. It stays as it is. */
function refuseMissingTools(plan: Plan, parts: HostParts): void {
  const missing = toolsOf(plan).filter((tool) => !parts.tools.has(tool));
  if (missing.length === 0) return;
  throw new RoteError(
    "tool_missing",
    `The host has no tool ${missing.join(", ")}; the run stays as it is.`,
    { tools: [...new Set(missing)] },
  );
}

function driveFrom(
  plan: Plan,
  verifier: Verifier,
  parts: HostParts,
  entries: readonly Appended[],
  said: ReceiptsRead,
  options: ResumeOptions,
): Drive {
  const program = programOf(plan, verifier);
  refuseBrokenChain(entries);
  const [first] = entries;
  if (first?.entry.type !== "run_started") {
    throw new RoteError("journal_damaged", "The run does not begin with its start.");
  }
  refuseOther(plan, verifier, first.entry.body as Body);
  const events = eventsIn(program, parts, entries, said);
  const [started] = events;
  if (started?.type !== "started") throw new TypeError("a start without its event");
  const qualification = qualificationOf(first, started, options);
  const last = entries.at(-1);
  return {
    id: first.entry.chain,
    program,
    mode: started.mode,
    limits: started.limits,
    inputs: started.inputs,
    models: readModels(program, readBody(startedBody, first.entry).models),
    qualification,
    clock: options.clock,
    record: undefined,
    startedWallMs: first.entry.time,
    endedWallMs: last?.entry.type === "run_ended" ? last.entry.time : null,
    activeMs: spentIn(entries),
    enteredMs: null,
    state: fold(program, events, "ignore").state,
    stopped: null,
    finished: false,
    closed: false,
  };
}

function refuseOther(plan: Plan, verifier: Verifier, started: Body): void {
  const other = [
    ...(started["plan"] === plan.digest ? [] : ["recipe"]),
    ...(started["verifier"] === verifier.digest ? [] : ["verifier"]),
  ];
  if (other.length === 0) return;
  throw new RoteError(
    "other_procedure",
    `The run was started with another ${other.join(" and another ")}; it stays as it is.`,
    { recipe: started["plan"] ?? null, verifier: started["verifier"] ?? null },
  );
}

function qualificationOf(
  first: Appended,
  { mode }: StartedEvent,
  { qualification }: ResumeOptions,
): Qualification | null {
  if (mode !== "compiled") return null;
  const wanted = (first.entry.body as Body)["qualification"];
  if (qualification !== undefined && qualification.id === wanted) return qualification;
  throw new RoteError(
    "not_qualified",
    `The run was started compiled, under ${String(wanted)}; it goes on only where that stands.`,
    { qualification: wanted ?? null },
  );
}

function spentIn(entries: readonly Appended[]): number {
  const last = entries.findLast(({ entry }) => typeof (entry.body as Body)["ms"] === "number");
  return last === undefined ? 0 : Number((last.entry.body as Body)["ms"]);
}
