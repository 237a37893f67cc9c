/**
 * Asking for approval: one request for all operations that were shown together, and the decisions that answer it.
 *
 * R1 A request is durable before anybody is told of it. Its nonce is fresh; its display digest is of the exact text.
 * R2 Decisions may be filed by another process, at any time: they wait on the host chain and are read from there.
 * R3 A decision that does not verify is told apart and changes nothing. A valid rejection ends the waiting.
 */

import { toBase64Url } from "../base/bytes.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, sha256Hex } from "../base/digest.ts";
import { readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { type Appended, HOST_CHAIN } from "../model/journal.ts";
import { approvalSchema, PAYLOAD_TYPES } from "../model/trust.ts";
import type { Journal, Lease } from "../ports/journal.ts";
import { type ApprovalFault, type CheckedApproval, checkApproval } from "../trust/approval.ts";
import { openByRole } from "../trust/role-document.ts";
import { readDocument } from "../trust/signed-document.ts";
import { type FrozenOperation, refreeze } from "./operation.ts";
import type { HostParts } from "./parts.ts";
import { displayDigest, renderOperations } from "./show.ts";

export interface OpenRequest {
  readonly run: string;
  readonly node: string;
  readonly nonce: string;
  readonly operations: readonly FrozenOperation[];
  readonly display: Digest;
  /** The exact text to show and to sign by its digest. */
  readonly text: string;
  /** Seconds since 1970 UTC; null when it does not expire. */
  readonly expires: number | null;
  /** Decisions on the host chain from here on may be answers to it. */
  readonly hostSeq: number;
}

export async function openRequest(
  parts: HostParts,
  lease: Lease,
  node: string,
  operations: readonly FrozenOperation[],
): Promise<OpenRequest> {
  const text = renderOperations(lease.chain, operations);
  const display = displayDigest(text);
  const nonce = toBase64Url(parts.random.bytes(16));
  const now = Math.floor(parts.clock.wallMs() / 1000);
  const expires = parts.requestSeconds === null ? null : now + parts.requestSeconds;
  const hostSeq = parts.journal.length(HOST_CHAIN);
  const shown = canonicalBytes(
    operations.map(({ operation }) => operation as unknown as JsonValue),
  );
  const appended = await parts.journal.append({
    lease,
    entries: [
      {
        chain: lease.chain,
        type: "approval_requested",
        body: {
          node,
          nonce,
          operations: operations.map(({ digest }) => digest),
          display,
          expires,
          host_seq: hostSeq,
          shown: sha256Hex(shown),
        },
      },
    ],
    blobs: [shown],
  });
  if (!appended.ok) {
    throw new RoteError("lease_lost", `Another process took over the run ${lease.chain}.`, {
      run: lease.chain,
    });
  }
  return { run: lease.chain, node, nonce, operations, display, text, expires, hostSeq };
}

/** The request in an entry of the journal. @throws RoteError `journal_damaged` */
export function requestFrom(journal: Journal, { entry }: Appended): OpenRequest {
  const body = entry.body as { readonly [key: string]: JsonValue };
  const shown = journal.blob(String(body["shown"]));
  const read =
    shown === undefined ? undefined : readJson(shown, { numbers: "finite", maxDepth: 600 });
  if (read === undefined || !read.ok || !Array.isArray(read.value)) {
    throw new RoteError(
      "journal_damaged",
      `The request in run ${entry.chain} cannot be read back.`,
    );
  }
  const operations = (read.value as readonly JsonValue[]).map(refreeze);
  const text = renderOperations(entry.chain, operations);
  const display = displayDigest(text);
  if (display !== body["display"]) {
    throw new RoteError(
      "renderer_changed",
      "This version of Rote would show the request differently than it was made. Ask for it anew.",
    );
  }
  return {
    run: entry.chain,
    node: String(body["node"]),
    nonce: String(body["nonce"]),
    operations,
    display,
    text,
    expires: typeof body["expires"] === "number" ? body["expires"] : null,
    hostSeq: Number(body["host_seq"]),
  };
}

export interface Decisions {
  readonly approvals: readonly CheckedApproval[];
  readonly rejection: CheckedApproval | null;
  /** Answers that do not verify, by their fault; they burn nothing. */
  readonly refused: readonly ApprovalFault[];
}

/** What has been decided about a request so far: by distinct approvers, each with a key of their own. */
export function decisionsOn(parts: HostParts, request: OpenRequest): Decisions {
  const now = Math.floor(parts.clock.wallMs() / 1000);
  const asked = {
    audience: parts.journal.origin,
    run: request.run,
    nonce: request.nonce,
    operations: request.operations.map(({ digest }) => digest),
    display: request.display,
  };
  const approvals: CheckedApproval[] = [];
  const refused: ApprovalFault[] = [];
  let rejection: CheckedApproval | null = null;
  for (const { entry } of parts.journal.read(HOST_CHAIN, request.hostSeq)) {
    const body = entry.body as { readonly [key: string]: JsonValue };
    if (entry.type !== "approval_received" || body["nonce"] !== request.nonce) continue;
    const checked = checkApproval(body["envelope"] ?? null, asked, parts.trust(), now);
    if (!checked.ok) {
      refused.push(checked.error);
      continue;
    }
    const { approval, key } = checked.value;
    if (approval.decision === "reject") {
      rejection ??= checked.value;
    } else if (!mayApprove(parts, checked.value)) {
      refused.push("wrong_approver");
    } else if (
      !approvals.some((other) => other.approval.approver === approval.approver || other.key === key)
    ) {
      approvals.push(checked.value);
    }
  }
  return { approvals, rejection, refused };
}

/** Who asked may not approve, under another name neither. */
function mayApprove(parts: HostParts, { approval, key }: CheckedApproval): boolean {
  if (parts.policy.document.approvals.requester_may_approve) return true;
  const { name, key: own } = parts.identity;
  return approval.approver !== name && parts.trust().key(key)?.entry.public !== own;
}

/**
 * Files a decision on the host chain, where the waiting run finds it. It is checked against the request when it is
 * used; here only that an approver of the trust store signed it, so that strangers cannot fill the journal.
 *
 * @throws RoteError `approval_refused` with the fault as `data.fault`
 */
export async function fileDecision(parts: HostParts, envelope: JsonValue): Promise<void> {
  const now = Math.floor(parts.clock.wallMs() / 1000);
  const opened = openByRole(
    envelope,
    PAYLOAD_TYPES.approval,
    approvalSchema,
    parts.trust(),
    "approver",
    now,
  );
  if (!opened.ok) throw refusedApproval(opened.error);
  const { nonce } = opened.value.document;
  await parts.journal.append({
    lease: null,
    entries: [{ chain: HOST_CHAIN, type: "approval_received", body: { nonce, envelope } }],
  });
}

/** The nonce that an envelope claims to answer, before anybody vouched for it. */
export function claimedNonce(envelope: JsonValue): string | undefined {
  const read = readEnvelope(envelope);
  const document = read.ok ? readDocument(read.value.payload, approvalSchema) : undefined;
  return document?.ok === true ? document.value.nonce : undefined;
}

export function refusedApproval(fault: string): RoteError {
  return new RoteError(
    "approval_refused",
    `The approval is refused: ${fault}. Nothing was used up.`,
    {
      fault,
    },
  );
}
