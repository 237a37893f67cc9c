/**
 * A run made again from its journal, in any process at the same host.
 *
 * - E1 The state is the fold over the recorded events and nothing else.
 * - E2 What was admitted and has no receipt is found out about first, before anything else is done (`host/recover.ts`).
 * - E3 Another recipe, verifier or version of the operator semantics refuses, and the run stays as it was.
 */
import { RoteError } from "../base/error.ts";
import { type Host, type HostParts, partsOf, recover, requestFrom } from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import type { Appended } from "../model/journal.ts";
import type { Plan, Verifier } from "../model/plan.ts";
import type { Clock } from "../ports/clock.ts";
import type { Qualification } from "../ports/qualification.ts";
import { readModels } from "./answer.ts";
import { type Attached, attachedTo, claimRun } from "./attached.ts";
import { type Drive, feed } from "./drive.ts";
import { finish, put } from "./durable.ts";
import { type Body, eventsIn, predicateOf, settledEvent } from "./entries.ts";
import type { StartedEvent } from "./event.ts";
import { countAttempt } from "./operations.ts";
import { programOf } from "./program.ts";
import { type Run, runOf } from "./run.ts";
import { fold } from "./step.ts";

export interface ResumeOptions {
  readonly clock: Clock;
  /** For compiled runs: the qualification under which the run was started. */
  readonly qualification?: Qualification;
  readonly environment?: Environment;
}

/**
 * @throws RoteError `unknown_run` `run_busy` `other_procedure` `other_semantics` `not_qualified` `journal_damaged`
 */
export async function resumeRun(
  plan: Plan,
  verifier: Verifier,
  host: Host,
  run: string,
  options: ResumeOptions,
): Promise<Run> {
  const parts = partsOf(host);
  const known = parts.journal.read(run);
  const ended = known.some(({ entry }) => entry.type === "run_ended");
  if (known.length === 0) {
    throw new RoteError("unknown_run", `There is no run ${JSON.stringify(run)} in the journal.`, {
      run,
    });
  }
  if (ended) {
    const drive = driveFrom(plan, verifier, parts, known, options);
    drive.finished = true;
    return runOf(drive, null);
  }
  const lease = await claimRun(parts, run);
  // Read again: until the lease was ours, another process may have written.
  const entries = parts.journal.read(run);
  const drive = driveFrom(plan, verifier, parts, entries, options);
  const attached = attachedFrom(parts, lease, entries);
  await parts.journal.append({
    lease,
    entries: [
      { chain: run, type: "run_resumed", body: { owner: lease.owner, from_seq: entries.length } },
    ],
  });
  await settleOpen(drive, attached, entries);
  if (drive.state?.end) await finish(drive, attached);
  return runOf(drive, attached);
}

async function settleOpen(
  drive: Drive,
  attached: Attached,
  entries: readonly Appended[],
): Promise<void> {
  const { parts, lease } = attached;
  for (const { frozen, performed } of await recover(parts, lease, entries)) {
    const { node, index } = frozen.operation;
    attached.receipts.push(performed.receipt);
    if (!performed.final) countAttempt(attached, { node, index });
    if (!performed.final || drive.state?.end) continue;
    const { outcome, result, refusal } = performed;
    const settled = { node, index, outcome, result, admitted: true, refusal };
    await put(drive, attached, feed(drive, settledEvent(drive.program, settled)));
  }
}

function driveFrom(
  plan: Plan,
  verifier: Verifier,
  parts: HostParts,
  entries: readonly Appended[],
  options: ResumeOptions,
): Drive {
  const program = programOf(plan, verifier);
  const events = eventsIn(program, parts.journal, entries);
  const [started] = events;
  const [first] = entries;
  if (first === undefined || started?.type !== "started") {
    throw new RoteError("journal_damaged", "The run does not begin with its start.");
  }
  refuseOther(plan, verifier, started);
  const qualification = qualificationOf(first, started, options);
  const body = first.entry.body as Body;
  const last = entries.at(-1);
  return {
    id: first.entry.chain,
    program,
    mode: started.mode,
    limits: started.limits,
    inputs: started.inputs,
    models: readModels(program, body["models"] as never),
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

function refuseOther(plan: Plan, verifier: Verifier, started: StartedEvent): void {
  const other = [
    ...(started.plan === plan.digest ? [] : ["recipe"]),
    ...(started.verifier === verifier.digest ? [] : ["verifier"]),
  ];
  if (other.length === 0) return;
  throw new RoteError(
    "other_procedure",
    `The run was started with another ${other.join(" and another ")}; it stays as it is.`,
    { recipe: started.plan, verifier: started.verifier },
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

function attachedFrom(
  parts: HostParts,
  lease: Attached["lease"],
  entries: readonly Appended[],
): Attached {
  const attached = attachedTo(parts, lease);
  for (const appended of entries) {
    const { type, body } = appended.entry;
    switch (type) {
      case "approval_requested": {
        const request = requestFrom(parts.journal, appended);
        attached.requests.push(request);
        attached.waiting.set(request.node, request);
        break;
      }
      case "approved":
        attached.waiting.delete(String((body as Body)["node"]));
        break;
      case "receipt": {
        attached.receipts.push(`sha256:${appended.hash}` as never);
        const { node, index } = predicateOf(body as Body);
        attached.waiting.delete(String(node));
        if ((body as Body)["final"] === false) {
          countAttempt(attached, { node: String(node), index: index as number | null });
        }
        break;
      }
      default:
        break;
    }
  }
  return attached;
}
