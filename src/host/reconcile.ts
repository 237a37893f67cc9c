/**
 * A signed statement, on the host chain, of what somebody found out about an uncertain operation.
 *
 * It dispatches nothing and verifies nothing: the run stays `uncertain`. Found `not_done`, it frees the operation's
 * natural key, so that the deed may be done by another run, and gives back what was reserved for it.
 */

import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import { PAYLOAD_TYPES, type Reconciliation, reconciliationSchema } from "../model/trust.ts";
import { givenBack } from "../policy/budget.ts";
import { CLOCK_SLACK_SECONDS } from "../trust/approval.ts";
import { openByRole } from "../trust/role-document.ts";
import { naturalKey } from "./natural-key.ts";
import type { HostParts } from "./parts.ts";
import { operationOf } from "./recover.ts";
import { frozenCopy } from "./stored.ts";
import { judgedNow } from "./time.ts";

/**
 * @throws RoteError `reconciliation_refused` with the fault as `data.fault`; nothing was written
 */
export async function reconcile(parts: HostParts, given: JsonValue): Promise<Reconciliation> {
  const now = judgedNow(parts);
  const envelope = frozenCopy(given);
  if (envelope === undefined) throw refusal("malformed_envelope");
  const opened = openByRole(
    envelope,
    PAYLOAD_TYPES.reconciliation,
    reconciliationSchema,
    parts.trust(),
    "reconciler",
    now,
  );
  if (!opened.ok) throw refusal(opened.error);
  const { document, holder, digest } = opened.value;
  if (holder.name !== document.reconciler) throw refusal("wrong_reconciler");
  if (document.audience !== parts.journal.origin) throw refusal("wrong_audience");
  if (document.at > now + CLOCK_SLACK_SECONDS) throw refusal("dated_ahead");
  const found = operationOf(parts, document.run, document.operation);
  if (found === undefined) throw refusal("unknown_operation");
  if (found.outcome !== "uncertain") throw refusal("not_uncertain");
  const { frozen, counts } = found.admission;
  const key = naturalKey(frozen);
  const notDone = document.found === "not_done";
  const appended = await parts.journal.append({
    lease: null,
    entries: [{ chain: HOST_CHAIN, type: "reconciled", body: { envelope, digest } }],
    take: [{ space: "operation", key: `reconciled/${document.operation}` }],
    free: notDone && key !== undefined ? [key] : [],
    count: notDone ? givenBack(counts) : [],
  });
  if (!appended.ok) throw refusal("already_reconciled");
  return document;
}

function refusal(fault: string): RoteError {
  return new RoteError("reconciliation_refused", `The reconciliation is refused: ${fault}.`, {
    fault,
  });
}
