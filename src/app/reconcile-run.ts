/** A signed statement of what was found out about an uncertain operation, made with the reconciler's own key. */
import { RoteError } from "../base/error.ts";
import type { PrivateKey } from "../base/sign.ts";
import { type Host, judgedNow, partsOf } from "../host/index.ts";
import { IN_ENGLISH } from "../model/in-english.ts";
import { PAYLOAD_TYPES, type Reconciliation, reconciliationSchema } from "../model/trust.ts";
import { signDocument } from "../trust/signed-document.ts";
import { unreconciled } from "./run-record.ts";

export interface Finding {
  readonly run: string;
  /** Digest of the operation; see `uncertainOperation`. */
  readonly operation: string;
  readonly found: Reconciliation["found"];
  /** How it was found out: 1 to 2,000 characters, kept for ever. */
  readonly evidence: string;
}

/**
 * Signs a finding and files it with the host. It dispatches nothing, and the run stays uncertain.
 *
 * @throws RoteError `reconciliation_refused` with the fault as `data.fault`
 */
export async function reconcileRun(
  host: Host,
  key: PrivateKey,
  { run, operation, found, evidence }: Finding,
): Promise<Reconciliation> {
  const parts = partsOf(host);
  const { trust } = parts;
  const now = judgedNow(parts);
  const holder = trust().usable(key.publicKey.id, "reconciler", now);
  if (!holder.ok) {
    const message = `The key ${key.publicKey.id} is no reconciler's (${holder.error}).`;
    throw new RoteError("reconciliation_refused", message, { fault: holder.error });
  }
  const statement: Reconciliation = {
    type: "rote-reconciliation/v1",
    audience: host.origin,
    run,
    operation,
    found,
    evidence,
    reconciler: holder.value.name,
    at: now,
  };
  const read = reconciliationSchema.safeParse(statement, IN_ENGLISH);
  if (!read.success) {
    const [first] = read.error.issues;
    const message = `The finding is not valid: ${first?.path.join("/") ?? ""}: ${first?.message ?? ""}.`;
    throw new RoteError("reconciliation_refused", message, { fault: "malformed_document" });
  }
  const { reconciliation } = PAYLOAD_TYPES;
  return host.reconcile(signDocument(reconciliation, reconciliationSchema, statement, [key]));
}

/**
 * The digest of the one uncertain operation of a run that nobody has reconciled.
 *
 * @throws RoteError `nothing_uncertain`, also when there are several; `unknown_run`
 */
export function uncertainOperation(host: Host, run: string): string {
  const open = unreconciled(host, run);
  const [only] = open;
  if (only !== undefined && open.length === 1) return only.digest;
  const message =
    only === undefined
      ? `The run ${run} has no uncertain operation that waits for a finding.`
      : `The run ${run} has ${open.length} uncertain operations; name one of them.`;
  throw new RoteError("nothing_uncertain", message, {
    run,
    operations: open.map(({ digest }) => digest),
  });
}
