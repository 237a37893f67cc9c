/**
 * Checks a reviewer's signature over operations that were shown. It decides nothing and consumes nothing: a refused
 * signature burns no nonce, so junk cannot spend a real approval.
 */

import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { KeyId, PrivateKey } from "../base/sign.ts";
import { type Approval, approvalSchema, PAYLOAD_TYPES } from "../model/trust.ts";
import { openByRole } from "./role-document.ts";
import { type DocumentFault, signDocument } from "./signed-document.ts";
import type { KeyFault, TrustStore } from "./trust-store.ts";

/** What the host asked for and recorded: an approval must answer exactly this. */
export interface ApprovalRequest {
  readonly audience: string;
  readonly run: string;
  readonly nonce: string;
  readonly operations: readonly Digest[];
  readonly display: Digest;
}

export type ApprovalFault =
  | DocumentFault
  | KeyFault
  | "wrong_approver"
  | "wrong_audience"
  | "wrong_run"
  | "wrong_nonce"
  | "wrong_operations"
  | "wrong_display"
  | "approval_not_yet_valid"
  | "approval_expired"
  | "approval_too_long";

export interface CheckedApproval {
  readonly approval: Approval;
  readonly key: KeyId;
  readonly digest: Digest;
  /** Seconds since 1970 UTC: from then on the signature counts no more. */
  readonly until: number;
}

/** A signature may be good for 15 minutes at most: long enough to reach the host, too short to lie around. */
export const MAX_APPROVAL_SECONDS = 900;

/** A reviewer's clock may be this many seconds ahead of the host's; `expires` has no slack. */
export const CLOCK_SLACK_SECONDS = 60;

export function signApproval(approval: Approval, key: PrivateKey): JsonValue {
  return signDocument(PAYLOAD_TYPES.approval, approvalSchema, approval, [key]);
}

export function checkApproval(
  envelope: JsonValue,
  request: ApprovalRequest,
  trust: TrustStore,
  now: number,
): Result<CheckedApproval, ApprovalFault> {
  const opened = openByRole(
    envelope,
    PAYLOAD_TYPES.approval,
    approvalSchema,
    trust,
    "approver",
    now,
  );
  if (!opened.ok) return opened;
  const { document: approval, key, digest, holder } = opened.value;
  if (holder.name !== approval.approver) return err("wrong_approver");
  if (approval.audience !== request.audience) return err("wrong_audience");
  if (approval.run !== request.run) return err("wrong_run");
  if (approval.nonce !== request.nonce) return err("wrong_nonce");
  if (!sameList(approval.operations, request.operations)) return err("wrong_operations");
  if (approval.display !== request.display) return err("wrong_display");
  if (approval.expires - approval.not_before > MAX_APPROVAL_SECONDS)
    return err("approval_too_long");
  if (now + CLOCK_SLACK_SECONDS < approval.not_before) return err("approval_not_yet_valid");
  if (now >= approval.expires) return err("approval_expired");
  return ok({ approval, key: key.id, digest, until: Math.min(approval.expires, holder.valid_to) });
}

function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, at) => item === right[at]);
}
