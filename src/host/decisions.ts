/**
 * Decisions that answer a request for approval.
 *
 * R3 Decisions may be filed by another process, at any time the request is open: they wait on the host chain and are
 *    read from there. They are filed one after the other, each judged by those before it: one approval of each approver
 *    and no more than are required, a rejection until the approvals are used, and nothing that does not verify.
 * R4 An approval counts while its own window is open, and only if it was filed before the request expired. A rejection
 *    counts for good once it was filed: no admission under the request follows it, whatever becomes of its key.
 * R5 A decision that is refused changes nothing and uses nothing up.
 */

import { RoteError } from "../base/error.ts";
import { deepFreeze } from "../base/freeze.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../base/json.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import type { PolicyDocument } from "../model/policy.ts";
import { approvalSchema, PAYLOAD_TYPES } from "../model/trust.ts";
import {
  type ApprovalFault,
  type ApprovalRequest,
  type CheckedApproval,
  checkApproval,
} from "../trust/approval.ts";
import { openByRole } from "../trust/role-document.ts";
import { type HostParts, rejectionCounter } from "./parts.ts";
import type { UsedApproval } from "./perform.ts";
import { isUsed, type OpenRequest, openRequestsIn } from "./request.ts";
import { type Body, frozenCopy, keep, kept } from "./stored.ts";
import { judgedNow } from "./time.ts";

/** What judging a decision takes of a host: nothing that could act or sign. */
export interface DecidingParts extends Pick<HostParts, "journal" | "clock" | "trust" | "identity"> {
  readonly policy: { readonly document: Pick<PolicyDocument, "approvals"> };
}

export interface Decisions {
  /** By distinct approvers, each with a key of their own. */
  readonly approvals: readonly CheckedApproval[];
  readonly rejection: { readonly approver: string } | null;
}

/** What has been decided about a request so far, judged now. */
export function decisionsOn(parts: DecidingParts, request: OpenRequest): Decisions {
  const now = judgedNow(parts);
  const asked = askedBy(parts, request);
  const approvals: CheckedApproval[] = [];
  // Each was verified when it was counted.
  const rejected = parts.journal.total(rejectionCounter(request.nonce)) > 0n;
  let rejection: Decisions["rejection"] = null;
  for (const { filed, envelope, approver, rejects } of filedOn(parts, request)) {
    if (rejected && rejects) rejection ??= { approver };
    const judged = judgeFiled(parts, envelope, asked, now, filed);
    if (judged === undefined) continue;
    const { approval, key } = judged;
    if (approval.decision === "reject") {
      rejection ??= { approver: approval.approver };
      continue;
    }
    const inTime = request.expires === null || filed < request.expires;
    const counted = approvals.some(
      (other) => other.approval.approver === approval.approver || other.key === key,
    );
    if (inTime && !counted && mayApprove(parts, judged)) approvals.push(judged);
  }
  return { approvals, rejection };
}

export type Verdict =
  | { readonly kind: "waiting" }
  /** Nobody can answer it any more. */
  | { readonly kind: "expired" }
  | { readonly kind: "rejected"; readonly approver: string }
  /** No more than are required: an admission has to fit into the record. */
  | { readonly kind: "approved"; readonly approvals: readonly UsedApproval[] };

/** What the decisions so far come to. */
export function verdictOn(
  parts: DecidingParts,
  request: OpenRequest,
  { approvals, rejection }: Decisions = decisionsOn(parts, request),
): Verdict {
  if (rejection !== null) return { kind: "rejected", approver: rejection.approver };
  const { nonce } = request;
  const { required } = parts.policy.document.approvals;
  if (approvals.length >= required) {
    const used = approvals.slice(0, required).map((checked) => ({ nonce, checked }));
    return { kind: "approved", approvals: used };
  }
  return { kind: isPast(parts, request) ? "expired" : "waiting" };
}

/** True when the decisions so far are neither enough nor final, whether or not somebody can still decide. */
export function isUndecided(parts: DecidingParts, request: OpenRequest): boolean {
  const { kind } = verdictOn(parts, request);
  return kind === "waiting" || kind === "expired";
}

/** As it counts now; a rejection also as it counted when it was filed. */
function judgeFiled(
  parts: DecidingParts,
  envelope: JsonValue,
  asked: ApprovalRequest,
  now: number,
  filed: number,
): CheckedApproval | undefined {
  const checked = checkApproval(envelope, asked, parts.trust(), now);
  if (checked.ok) return checked.value;
  const then = checkApproval(envelope, asked, parts.trust(), filed);
  return then.ok && then.value.approval.decision === "reject" ? then.value : undefined;
}

/** Who asked may not approve, under another name neither. */
function mayApprove(parts: DecidingParts, { approval, key }: CheckedApproval): boolean {
  if (parts.policy.document.approvals.requester_may_approve) return true;
  const { name, key: own } = parts.identity;
  return approval.approver !== name && parts.trust().key(key)?.entry.public !== own;
}

interface Filed {
  /** Seconds since 1970 UTC, by the journal. */
  readonly filed: number;
  readonly approver: string;
  readonly rejects: boolean;
  readonly envelope: JsonValue;
}

/** What was found on the host chain for a request, and how far it was read: entries never change. */
const found = new WeakMap<OpenRequest, { next: number; readonly filed: Filed[] }>();

function filedOn(parts: DecidingParts, request: OpenRequest): readonly Filed[] {
  const known = found.get(request) ?? { next: request.hostSeq, filed: [] };
  found.set(request, known);
  for (const { entry } of parts.journal.read(HOST_CHAIN, known.next)) {
    known.next = entry.seq + 1;
    const body = entry.body as Body;
    if (entry.type !== "approval_received" || body["nonce"] !== request.nonce) continue;
    known.filed.push({
      filed: Math.floor(entry.time / 1000),
      approver: String(body["approver"]),
      rejects: body["decision"] === "reject",
      envelope: deepFreeze(kept(parts.journal, body, "envelope") ?? null),
    });
  }
  return known.filed;
}

function askedBy(parts: DecidingParts, request: OpenRequest): ApprovalRequest {
  return {
    audience: parts.journal.origin,
    run: request.run,
    nonce: request.nonce,
    operations: request.operations.map(({ digest }) => digest),
    display: request.display,
  };
}

export type DecisionFault =
  | ApprovalFault
  | "signature_missing"
  | "no_pending_request"
  | "request_expired"
  | "requester_may_not_approve"
  | "already_decided";

/**
 * Files a decision on the host chain, where the waiting run finds it; `run` when it must be of that run.
 *
 * @throws RoteError `approval_refused` with the fault as `data.fault`: nothing was written, but for a rejection that what
 * it rejects was quicker than
 */
export async function fileDecision(
  parts: DecidingParts,
  given: JsonValue,
  run?: string,
): Promise<void> {
  const now = judgedNow(parts);
  const envelope = frozenCopy(given);
  if (envelope === undefined) throw refused("malformed_envelope");
  if (isUnsigned(envelope)) throw refused("signature_missing");
  const opened = openByRole(
    envelope,
    PAYLOAD_TYPES.approval,
    approvalSchema,
    parts.trust(),
    "approver",
    now,
  );
  if (!opened.ok) throw refused(opened.error);
  const { document } = opened.value;
  if (run !== undefined && document.run !== run) throw refused("wrong_run");
  const entries = parts.journal.read(document.run);
  const request = openRequestsIn(parts.journal, entries).find(
    ({ nonce }) => nonce === document.nonce,
  );
  if (request === undefined) throw refused("no_pending_request");
  const checked = checkApproval(envelope, askedBy(parts, request), parts.trust(), now);
  if (!checked.ok) throw refused(checked.error);
  if (isPast(parts, request)) throw refused("request_expired");
  if (document.decision === "approve" && !mayApprove(parts, checked.value)) {
    throw refused("requester_may_not_approve");
  }
  const { run: of, nonce, decision, approver } = document;
  const { body, blobs } = keep({ run: of, nonce, approver, decision }, "envelope", envelope);
  for (;;) {
    // Counted before they are judged: what comes in between was judged too, and takes this number away.
    const before = filedOn(parts, request).length;
    const decided = decisionsOn(parts, request);
    const { kind } = verdictOn(parts, request, decided);
    const stands = decided.approvals.some(({ approval }) => approval.approver === approver);
    if (kind === "rejected" || (decision === "approve" && (stands || kind === "approved"))) {
      throw refused("already_decided");
    }
    const appended = await parts.journal.append({
      lease: null,
      entries: [{ chain: HOST_CHAIN, type: "approval_received", body }],
      // Of two that saw the same decisions before them one is filed; the other looks again.
      take: [{ space: "nonce", key: `${nonce}/filed/${before}` }],
      count:
        decision === "reject" ? [{ counter: rejectionCounter(nonce), add: 1n, limit: null }] : [],
      before: Math.min(checked.value.until, request.expires ?? checked.value.until) * 1000,
      blobs,
    });
    if (appended.ok) {
      // A rejection may find the approval in use only now, and whoever rejected has to know.
      const used = decision === "reject" && isUsed(request, parts.journal.read(request.run));
      if (used) throw refused("already_decided", "It is on record, and stopped nothing");
      return;
    }
    if (appended.error.code === "too_late") {
      throw refused(isPast(parts, request) ? "request_expired" : "approval_expired");
    }
    if (filedOn(parts, request).length === before) throw refused("already_decided");
  }
}

/** True when nobody can answer the request any more. */
function isPast(parts: DecidingParts, { expires }: Pick<OpenRequest, "expires">): boolean {
  return expires !== null && judgedNow(parts) >= expires;
}

/** Told apart from junk: somebody's surface may have dropped the signature from what was signed. */
function isUnsigned(envelope: JsonValue): boolean {
  if (!isJsonObject(envelope) || !Object.hasOwn(envelope, "payload")) return false;
  const { signatures } = envelope;
  return signatures === undefined || (isJsonArray(signatures) && signatures.length === 0);
}

function refused(fault: DecisionFault, after = "Nothing was used up"): RoteError {
  const message = `The approval is refused: ${fault}. ${after}.`;
  return new RoteError("approval_refused", message, { fault });
}
