/** A request for approval as a reviewer is told of it: what it asks, what was decided, and what has become of it. */
import { type Digest, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import {
  type Body,
  type DecidingParts,
  decisionsOn,
  type Host,
  isUsed,
  judgedNow,
  type OpenRequest,
  openRequestsIn,
  partsOf,
  verdictOn,
} from "../host/index.ts";
import { type Appended, HOST_CHAIN } from "../model/journal.ts";
import { type PolicyDocument, policySchema } from "../model/policy.ts";
import type { Journal } from "../ports/journal.ts";
import { type Totals, totalsOf } from "./totals.ts";

export const REQUEST_STATUSES = [
  "waiting",
  "approved",
  "rejected",
  "used",
  "expired",
  "replaced",
  "run_ended",
] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

export type Decision = "approve" | "reject";

export interface FiledDecision {
  readonly approver: string;
  readonly decision: Decision;
  /** Milliseconds since 1970 UTC, by the journal. */
  readonly filed_ms: number;
  /**
   * False when it does not count (any more): its window has passed, its key was revoked, who signed may not, or it came
   * when what it rejects had been admitted.
   */
  readonly counts: boolean;
}

export interface ReviewRequest {
  readonly request: OpenRequest;
  readonly status: RequestStatus;
  /** Distinct approvers wanted. */
  readonly required: number;
  /** Who acts, and may therefore not approve unless the host's rules say otherwise. */
  readonly requestedBy: string;
  readonly decisions: readonly FiledDecision[];
  readonly totals: Totals;
}

export interface Reading {
  readonly parts: Pick<DecidingParts, "journal" | "clock" | "trust">;
  readonly toolReviews: readonly JsonValue[];
}

/** What judging takes; what cannot be read is set so that it judges more strictly than the host would. */
export function decidingParts(
  { parts }: Reading,
  operations: OpenRequest["operations"],
): DecidingParts {
  const operation = operations[0]?.operation;
  const approvals =
    operation === undefined ? undefined : approvalsUnder(parts.journal, operation.policy);
  const identity = { name: operation?.identity ?? "", key: null };
  return { ...parts, identity, policy: { document: { approvals: approvals ?? STRICTEST } } };
}

const STRICTEST = { required: 16, requester_may_approve: false } as const;
const POLICY_HEAD = `${TAGS.policy}\n`;

/** The rules for approvals in the policy that operations name: the host keeps it in the record by that digest. */
function approvalsUnder(journal: Journal, policy: Digest): PolicyDocument["approvals"] | undefined {
  const sha256 = policy.slice("sha256:".length);
  const bytes = journal.blob(sha256);
  if (bytes === undefined || sha256Hex(bytes) !== sha256) return undefined;
  const text = Buffer.from(bytes).toString("utf8");
  const read = text.startsWith(POLICY_HEAD) ? readJson(text.slice(POLICY_HEAD.length)) : undefined;
  const document = read?.ok === true ? policySchema.safeParse(read.value) : undefined;
  return document?.data?.approvals;
}

/** @param entries of the run */
export function reviewRequest(
  reading: Reading,
  request: OpenRequest,
  entries: readonly Appended[],
): ReviewRequest {
  const parts = decidingParts(reading, request.operations);
  const { journal, trust } = parts;
  const now = judgedNow(parts);
  const decided = decisionsOn(parts, request);
  const status = statusOf(parts, request, entries, decided);
  return {
    request,
    status,
    required: parts.policy.document.approvals.required,
    requestedBy: parts.identity.name,
    decisions: filedOn(
      parts,
      request,
      status === "used" ? { ...decided, rejection: null } : decided,
    ),
    totals: totalsOf(request.operations, reading.toolReviews, journal.origin, trust(), now),
  };
}

/**
 * Refuses a request that cannot be decided so any more, and says by whom and when it was decided. What is approved can
 * be rejected until it is used.
 *
 * @throws RoteError `approval_refused` with the fault as `data.fault`, for `already_decided` also `data.decisions`
 */
export function refuseDecided(asked: ReviewRequest, decision: Decision): void {
  switch (asked.status) {
    case "waiting":
      return;
    case "approved":
      if (decision === "reject") return;
      throw alreadyDecided(asked);
    case "rejected":
    case "used":
      throw alreadyDecided(asked);
    case "expired":
      throw refusedDecision("request_expired", "the request has expired");
    case "replaced":
      throw refusedDecision("no_pending_request", "the request was replaced by another one");
    case "run_ended":
      throw refusedDecision("no_pending_request", "its run has ended");
  }
}

export function alreadyDecided({
  status,
  decisions,
}: Pick<ReviewRequest, "status" | "decisions">): RoteError {
  const who = decisions.map(
    ({ approver, decision, filed_ms: filed }) =>
      `${decision} by ${approver} at ${new Date(filed).toISOString()}`,
  );
  const after = status === "used" ? "What was approved has been admitted" : "Nothing was used up";
  return new RoteError(
    "approval_refused",
    `The request is decided already: ${who.join(", ")}. ${after}.`,
    { fault: "already_decided", decisions: decisions.map((one) => ({ ...one })) },
  );
}

export function refusedDecision(fault: string, why: string): RoteError {
  return new RoteError("approval_refused", `Nothing was signed: ${why} (${fault}).`, { fault });
}

/** Decisions about a request that do not count any more, though somebody made them. */
export function lapsedDecisions(host: Host, request: OpenRequest): readonly FiledDecision[] {
  const parts = partsOf(host);
  const told = reviewRequest({ parts, toolReviews: [] }, request, parts.journal.read(request.run));
  return told.decisions.filter(({ counts }) => !counts);
}

/** Judged once, so that the status and the decisions told beside it agree. */
type Decided = ReturnType<typeof decisionsOn>;

function statusOf(
  parts: DecidingParts,
  request: OpenRequest,
  entries: readonly Appended[],
  decided: Decided,
): RequestStatus {
  const { journal } = parts;
  const { kind } = verdictOn(parts, request, decided);
  // First: a rejection that was overtaken by the admission stands in the record, and has stopped nothing.
  if (isUsed(request, entries)) return "used";
  if (kind === "rejected") return kind;
  if (entries.some(({ entry }) => entry.type === "run_ended")) return "run_ended";
  const open = openRequestsIn(journal, entries);
  if (!open.some(({ nonce }) => nonce === request.nonce)) return "replaced";
  return kind;
}

function filedOn(
  { journal }: DecidingParts,
  request: OpenRequest,
  { approvals, rejection }: Decided,
): readonly FiledDecision[] {
  return journal.read(HOST_CHAIN, request.hostSeq).flatMap(({ entry }) => {
    const body = entry.body as Body;
    if (entry.type !== "approval_received" || body["nonce"] !== request.nonce) return [];
    const approver = String(body["approver"]);
    const decision = body["decision"] === "reject" ? "reject" : "approve";
    const counts =
      decision === "reject"
        ? rejection?.approver === approver
        : approvals.some(({ approval }) => approval.approver === approver);
    return [{ approver, decision, filed_ms: entry.time, counts }];
  });
}
