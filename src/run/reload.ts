/**
 * What the journal says of a run, taken over by the process that holds its lease: when it is resumed, and after a call
 * that broke off. What was admitted and has no receipt is found out about before anything else is done.
 */

import { digestFromHex } from "../base/digest.ts";
import {
  isUndecided,
  openAmong,
  type ReceiptsRead,
  receiptsIn,
  recover,
  requestsIn,
} from "../host/index.ts";
import type { Appended } from "../model/journal.ts";
import { type Attached, countAttempt } from "./attached.ts";
import { type Drive, demoteFailed, feed } from "./drive.ts";
import { eventsIn, refuseBrokenChain, settledEvent } from "./entries.ts";
import { finish, put } from "./record.ts";
import { fold } from "./step.ts";

/** @throws RoteError `lease_lost` `journal_damaged` */
export async function reload(drive: Drive, attached: Attached): Promise<void> {
  const entries = attached.parts.journal.read(drive.id);
  refuseBrokenChain(entries);
  const said = receiptsIn(attached.parts, entries);
  if (entries.length > 0) {
    const events = eventsIn(drive.program, attached.parts, entries, said);
    drive.state = fold(drive.program, events, "ignore").state;
    // An end that was not written has not happened.
    drive.stopped = null;
    const end = entries.find(({ entry }) => entry.type === "run_ended");
    drive.finished = end !== undefined;
    drive.endedWallMs = end?.entry.time ?? null;
  }
  if (drive.finished) readBack(attached, entries, said);
  else await takeOver(drive, attached, entries, said);
}

/** Goes on from entries that `drive` was folded from. */
export async function takeOver(
  drive: Drive,
  attached: Attached,
  entries: readonly Appended[],
  said: ReceiptsRead,
): Promise<void> {
  readBack(attached, entries, said);
  await settleOpen(drive, attached, entries);
  if (!drive.state?.end) return;
  demoteFailed(drive);
  await finish(drive, attached);
}

/** Requests, receipts and attempts as the entries have them. */
export function readBack(
  attached: Attached,
  entries: readonly Appended[],
  said: ReceiptsRead,
): void {
  const { parts, requests, waiting, receipts, attempts } = attached;
  requests.splice(0, requests.length, ...requestsIn(parts.journal, entries));
  waiting.clear();
  for (const request of openAmong(requests, entries)) {
    if (isUndecided(parts, request)) waiting.set(request.nonce, request);
  }
  receipts.length = 0;
  attempts.clear();
  for (const { entry, hash } of entries) {
    if (entry.type !== "receipt") continue;
    receipts.push(digestFromHex(hash));
  }
  for (const { node, index, admitted, final } of said.values()) {
    if (admitted && !final) countAttempt(attached, { node, index });
  }
}

async function settleOpen(
  drive: Drive,
  attached: Attached,
  entries: readonly Appended[],
): Promise<void> {
  const { parts, lease } = attached;
  for (const { frozen, performed } of await recover(parts, lease, entries)) {
    const { node, index } = frozen.operation;
    attached.receipts.push(performed.receipt.digest);
    if (!performed.final) countAttempt(attached, { node, index });
    if (!performed.final || drive.state?.end) continue;
    const { outcome, result, refusal } = performed;
    const settled = { node, index, outcome, result, admitted: true, refusal };
    await put(drive, attached, feed(drive, settledEvent(drive.program, settled)));
  }
}
