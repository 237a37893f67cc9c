/**
 * The driver of a run at a host: records each event in the journal before it takes effect, and performs what the
 * interpreter wants through the gate.
 *
 * - H1 A process that lost its lease writes nothing more: the first append tells it, and it stops.
 * - H2 The last entry of an ended run says so, with the signed tree head in the same commit.
 * - H3 Reads that are ready run together; effects one at a time, while nothing else is in flight.
 * - H4 After a call that broke off, the next one begins with what the journal says.
 * - H5 A run that waits for a person is held by nobody: whoever has the answer may go on with it.
 */

import type { JsonValue } from "../base/json.ts";
import { differingParts, environmentDiffers } from "../compile/index.ts";
import { environmentFor, fileDecision, toolsOf } from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import type { GateCode } from "../model/operation.ts";
import type { ModelAnswer } from "../model/run.ts";
import type { RunStateName } from "../model/stop.ts";
import { type Attached, alone } from "./attached.ts";
import {
  answerFor,
  type Drive,
  feed,
  learnedAnswers,
  startedEvent,
  stateName,
  stop,
} from "./drive.ts";
import { settledEvent } from "./entries.ts";
import { fence, operate, type Turn } from "./operations.ts";
import { outstanding } from "./outstanding.ts";
import { boundEnvironment } from "./program.ts";
import { checkpoint, denied, finish, put } from "./record.ts";
import { reload } from "./reload.ts";

export interface DurableAdvance {
  /** When given, must equal the host's own and the recipe's. */
  readonly environment?: Environment;
  readonly model?: ModelAnswer;
  /** A signed decision, as its envelope, about `run.pendingRequest`. */
  readonly approval?: JsonValue;
  /**
   * Once aborted, the call returns as soon as nothing is in flight. The run is not ended by it: whoever advances or
   * resumes it goes on where it was left.
   */
  readonly pause?: AbortSignal;
}

/** @throws RoteError `run_busy` `lease_lost` `approval_refused` and as `answerFor`: the run waits as before */
export function advanceDurably(
  drive: Drive,
  attached: Attached,
  options: DurableAdvance,
): Promise<RunStateName> {
  return alone(drive, attached, async () => {
    await catchUp(drive, attached);
    if (!drive.state?.end) await forward(drive, attached, options);
    if (!drive.state?.end && attached.waiting.size > 0) {
      await attached.parts.journal.release(attached.lease);
    }
    return stateName(drive);
  });
}

/** Ends the run where it stands. An effect in flight is uncertain, and then that is how the run ends. */
export async function cancelDurably(drive: Drive, attached: Attached): Promise<RunStateName> {
  if (attached.busy !== null) {
    attached.cancel.abort();
    // However the call under way ends is told to whoever made it; here only that it is over.
    await attached.busy.catch(() => undefined);
    return stateName(drive);
  }
  return alone(drive, attached, async () => {
    await catchUp(drive, attached);
    if (drive.state?.end) return stateName(drive);
    await safely(attached, async () => {
      await put(drive, attached, stop(drive, "user_cancelled", "the run was cancelled"));
      await finish(drive, attached);
    });
    return stateName(drive);
  });
}

async function catchUp(drive: Drive, attached: Attached): Promise<void> {
  if (!attached.stale) return;
  await reload(drive, attached);
  attached.stale = false;
}

/** What breaks off leaves the run to be read from its journal again. */
async function safely(attached: Attached, work: () => Promise<void>): Promise<void> {
  attached.stale = true;
  await work();
  attached.stale = false;
}

async function forward(
  drive: Drive,
  attached: Attached,
  { environment, model, approval, pause }: DurableAdvance,
): Promise<void> {
  await safely(attached, async () => {
    const changed = changedParts(drive, attached, environment);
    if (changed.length > 0) {
      const code = changeCode(changed);
      const message = environmentDiffers(changed);
      await put(drive, attached, stop(drive, "environment_changed", message, code));
    } else if (!(await denied(drive, attached)) && drive.state === null) {
      await put(drive, attached, feed(drive, startedEvent(drive)));
    }
  });
  if (!drive.state?.end && approval !== undefined) {
    await fileDecision(attached.parts, approval, drive.id);
  }
  const answer = !drive.state?.end && model !== undefined ? answerFor(drive, model) : undefined;
  await safely(attached, async () => {
    if (answer !== undefined) await put(drive, attached, feed(drive, answer));
    await goOn(drive, attached, pause);
    if (drive.state?.end) await finish(drive, attached);
  });
}

async function goOn(
  drive: Drive,
  attached: Attached,
  pause: AbortSignal | undefined,
): Promise<void> {
  for (let moved = true; moved && !drive.state?.end && pause?.aborted !== true; ) {
    moved = await move(drive, attached);
    if (drive.state?.end) return;
    if (attached.cancel.signal.aborted) {
      await put(drive, attached, stop(drive, "user_cancelled", "the run was cancelled"));
      return;
    }
    if (moved && (await denied(drive, attached))) return;
  }
}

/** Does whatever can be done now; false when everything waits for somebody. */
async function move(drive: Drive, attached: Attached): Promise<boolean> {
  const { program, state } = drive;
  if (state === null) return false;
  for (const event of learnedAnswers(drive)) {
    if (drive.state?.end) return true;
    await put(drive, attached, feed(drive, event));
  }
  const wanted = outstanding(program, drive.state ?? state);
  if (wanted.reads.length > 0) {
    const turns = await together(wanted.reads, (read) => operate(drive, attached, read, "read"));
    if (await take(drive, attached, turns)) return true;
  }
  for (const node of wanted.checkpoints) {
    await checkpoint(drive, attached, node);
    return true;
  }
  for (const { node, operations } of wanted.fences) {
    const turn = await fence(drive, attached, node, operations);
    if (turn.kind === "approved") {
      const approvals = turn.approvals.map(({ checked }) => checked.digest);
      await put(drive, attached, feed(drive, { type: "approved", node }), { approvals });
      return true;
    }
    if (await take(drive, attached, [turn])) return true;
  }
  for (const effect of wanted.effects) {
    const turn = await operate(drive, attached, effect, "effect");
    if (await take(drive, attached, [turn])) return true;
  }
  return false;
}

async function together<T>(
  items: readonly T[],
  work: (item: T) => Promise<Turn>,
): Promise<readonly Turn[]> {
  const done = await Promise.allSettled(items.map(work));
  return done.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

/** Takes turns in the order of their receipts, and ends that no receipt tells of last: as the fold will read them. */
async function take(drive: Drive, attached: Attached, turns: readonly Turn[]): Promise<boolean> {
  const settled = turns.flatMap((turn) => (turn.kind === "settled" ? [turn] : []));
  settled.sort((left, right) => left.receipt - right.receipt);
  const ended = turns.flatMap((turn) => (turn.kind === "ended" ? [turn] : []));
  for (const turn of settled) {
    if (drive.state?.end) break;
    await put(drive, attached, feed(drive, settledEvent(drive.program, turn.settled)));
  }
  for (const { reason, message, code } of ended) {
    if (drive.state?.end) break;
    await put(drive, attached, stop(drive, reason, message, code));
  }
  return settled.length + ended.length > 0;
}

function changedParts(
  drive: Drive,
  { parts }: Attached,
  claimed: Environment | undefined,
): readonly string[] {
  const { plan } = drive.program;
  const bound = boundEnvironment(plan);
  const now = environmentFor(parts, toolsOf(plan));
  return [
    ...new Set([
      ...differingParts(bound, now),
      ...(claimed === undefined ? [] : differingParts(bound, claimed)),
    ]),
  ];
}

/** Where one part alone has changed, its own code. */
function changeCode(changed: readonly string[]): GateCode {
  const [part] = changed;
  if (changed.length > 1) return "environment_changed";
  if (part === "policy") return "policy_changed";
  return part === "tools" ? "tool_definition_changed" : "environment_changed";
}
