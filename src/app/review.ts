/**
 * The reviewer's side of a store: what waits for approval, shown as it will be signed, and decisions signed and filed
 * with the reviewer's own key. It takes none of the host's keys, dispatches nothing, and signs no tree head; the host
 * judges each decision again when it uses it.
 *
 * - R1 What is signed is the digest of the text that was shown; text and operations come from one reading.
 * - R2 The first decision that settles a request stands. Whoever comes later is told what was decided, by whom and when.
 */

import { readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import type { PrivateKey } from "../base/sign.ts";
import {
  type Body,
  type DecidingParts,
  decisionsOn,
  fileDecision,
  type OpenRequest,
  openRequestsIn,
  requestsIn,
} from "../host/index.ts";
import { type Appended, HOST_CHAIN } from "../model/journal.ts";
import type { PolicyDocument } from "../model/policy.ts";
import { approvalSchema } from "../model/trust.ts";
import { systemClock } from "../os/clock.ts";
import { isOwnerDead, processOwner } from "../os/owner.ts";
import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import { MAX_APPROVAL_SECONDS, signApproval } from "../trust/approval.ts";
import { readDocument } from "../trust/signed-document.ts";
import { openTrust, type TrustStore } from "../trust/trust-store.ts";
import { followTrust } from "./adopt-trust.ts";
import { type Totals, totalsOf } from "./totals.ts";

export interface ReviewOptions {
  /** The host's store. */
  readonly directory: string;
  /** The signed trust store, from a place that the reviewer trusts: it says which host this is and whose word counts. */
  readonly trust: JsonValue;
  /** Where the host copies tree heads to, when not into the directory. */
  readonly heads?: string;
  /** The host's rules for approvals. Default: not known, and then who asked may not approve. */
  readonly approvals?: PolicyDocument["approvals"];
  /** Signed tool reviews, for totals of amounts. Default none. */
  readonly toolReviews?: readonly JsonValue[];
  readonly clock?: Clock;
}

export const REQUEST_STATUSES = [
  "waiting",
  "approved",
  "rejected",
  "expired",
  "used",
  "replaced",
  "run_ended",
] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

export interface FiledDecision {
  readonly approver: string;
  readonly decision: "approve" | "reject";
  /** Milliseconds since 1970 UTC, by the journal. */
  readonly filed: number;
  /** False when it does not count (any more): its window has passed, its key was revoked, or who signed may not. */
  readonly counts: boolean;
}

export interface ReviewRequest {
  readonly request: OpenRequest;
  readonly status: RequestStatus;
  /** Distinct approvers wanted; null when the host's rules are not known. */
  readonly required: number | null;
  readonly requestedBy: string;
  readonly decisions: readonly FiledDecision[];
  readonly totals: Totals;
}

export interface Deciding {
  /** The name that the trust store gives to the key's holder. */
  readonly approver: string;
  readonly decision: "approve" | "reject";
  /** How long the signature is good for; at most and by default 900. */
  readonly seconds?: number;
}

export interface Review {
  /** The journal's name: the audience of everything that is signed for this host. */
  readonly origin: string;
  /** Requests that wait for a decision, the most recently moved runs first. */
  pending(): readonly ReviewRequest[];
  /** A request whatever became of it. @throws RoteError `unknown_request` */
  find(nonce: string): ReviewRequest;
  /**
   * A signed decision about exactly what the request shows; nothing is filed yet.
   *
   * @throws RoteError `approval_refused` with the fault as `data.fault`
   */
  sign(request: ReviewRequest, key: PrivateKey, deciding: Deciding): JsonValue;
  /**
   * Files a decision where the run that waits finds it.
   *
   * @throws RoteError `approval_refused` with the fault as `data.fault`, for `already_decided` also `data.decisions`
   */
  file(envelope: JsonValue): Promise<void>;
  close(): Promise<void>;
}

/** Runs looked at, most recently updated first. */
const MOST_RUNS = 10_000;

/**
 * Opens the store of a host for its reviewer.
 *
 * @throws RoteError `trust_refused` and as opening the store
 */
export async function openReview(options: ReviewOptions): Promise<Review> {
  const clock = options.clock ?? systemClock;
  const given = audienceOf(options.trust);
  const { visitSqliteJournal } = await import("../store/sqlite/visitor.ts");
  const journal = visitSqliteJournal(options.directory, {
    journal: { origin: given, clock, owner: processOwner(), isDead: isOwnerDead },
    ...(options.heads === undefined ? {} : { heads: options.heads }),
  });
  try {
    refuseEmpty(journal, options.directory);
    const trust = await followTrust(journal, options.trust);
    return reviewOf({ journal, clock, trust }, options);
  } catch (error) {
    await journal.close();
    throw error;
  }
}

interface Opened {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly trust: () => TrustStore;
}

function reviewOf(opened: Opened, options: ReviewOptions): Review {
  const { journal, clock, trust } = opened;
  const now = () => Math.floor(clock.wallMs() / 1000);
  const { approvals, toolReviews = [] } = options;

  function told(request: OpenRequest, entries: readonly Appended[]): ReviewRequest {
    const parts = partsFor(opened, request.operations, approvals);
    const totals = totalsOf(request.operations, toolReviews, journal.origin, trust(), now());
    const decisions = filedOn(parts, request);
    const status = statusOf(parts, request, entries);
    const requestedBy = parts.identity.name;
    return {
      request,
      status,
      required: approvals?.required ?? null,
      requestedBy,
      decisions,
      totals,
    };
  }

  return {
    origin: journal.origin,

    pending: () =>
      journal
        .runs(MOST_RUNS)
        .filter(({ state }) => state === null)
        .flatMap(({ run }) => {
          const entries = journal.read(run);
          return openRequestsIn(journal, entries).map((request) => told(request, entries));
        })
        .filter(({ status }) => status === "waiting"),

    find(nonce) {
      for (const { run } of journal.runs(MOST_RUNS)) {
        const entries = journal.read(run);
        const request = requestsIn(journal, entries).find((one) => one.nonce === nonce);
        if (request !== undefined) return told(request, entries);
      }
      throw new RoteError("unknown_request", `There is no request ${JSON.stringify(nonce)}.`, {
        request: nonce,
      });
    },

    sign({ request }, key, { approver, decision, seconds = MAX_APPROVAL_SECONDS }) {
      const { id } = key.publicKey;
      const usable = trust().usable(id, "approver", now());
      if (!usable.ok) throw refused(usable.error, `the key ${id} is no approver's`);
      if (usable.value.name !== approver) {
        throw refused("wrong_approver", `the key ${id} is held by ${usable.value.name}`);
      }
      return signApproval(
        {
          type: "rote-approval/v1",
          decision,
          operations: request.operations.map(({ digest }) => digest),
          run: request.run,
          audience: journal.origin,
          nonce: request.nonce,
          display: request.display,
          approver,
          role: "approver",
          not_before: now(),
          expires: now() + Math.min(seconds, MAX_APPROVAL_SECONDS),
        },
        key,
      );
    },

    async file(envelope) {
      const request = requestAnswered(journal, envelope);
      const entries = request === undefined ? [] : journal.read(request.run);
      const before = request === undefined ? undefined : told(request, entries);
      if (before !== undefined && SETTLED.has(before.status)) throw decided(before.decisions);
      try {
        await fileDecision(partsFor(opened, request?.operations ?? [], approvals), envelope);
      } catch (error) {
        const lost = error instanceof RoteError && error.data["fault"] === "already_decided";
        if (!lost || request === undefined) throw error;
        throw decided(told(request, journal.read(request.run)).decisions);
      }
    },

    close: () => journal.close(),
  };
}

const SETTLED: ReadonlySet<RequestStatus> = new Set(["approved", "rejected", "used"]);

/** What judging takes; what is not known here is set so that it judges more strictly than the host would. */
function partsFor(
  opened: Opened,
  operations: OpenRequest["operations"],
  approvals: PolicyDocument["approvals"] = { required: 16, requester_may_approve: false },
): DecidingParts {
  const identity = { name: operations[0]?.operation.identity ?? "", key: null };
  return { ...opened, identity, policy: { document: { approvals } } };
}

function statusOf(
  parts: DecidingParts,
  request: OpenRequest,
  entries: readonly Appended[],
): RequestStatus {
  const { journal, clock, policy } = parts;
  const { approvals, rejection } = decisionsOn(parts, request);
  if (rejection !== null) return "rejected";
  const admitted = new Set(entries.map(({ entry }) => admittedIn(entry)));
  if (request.operations.every(({ digest }) => admitted.has(digest))) return "used";
  if (entries.some(({ entry }) => entry.type === "run_ended")) return "run_ended";
  const open = openRequestsIn(journal, entries);
  if (!open.some(({ nonce }) => nonce === request.nonce)) return "replaced";
  if (approvals.length >= policy.document.approvals.required) return "approved";
  const past = request.expires !== null && clock.wallMs() / 1000 >= request.expires;
  return past ? "expired" : "waiting";
}

function admittedIn({ type, body }: Appended["entry"]): JsonValue | undefined {
  return type === "admitted" ? (body as Body)["digest"] : undefined;
}

function filedOn(parts: DecidingParts, request: OpenRequest): readonly FiledDecision[] {
  const { approvals, rejection } = decisionsOn(parts, request);
  return parts.journal.read(HOST_CHAIN, request.hostSeq).flatMap(({ entry }) => {
    const body = entry.body as Body;
    if (entry.type !== "approval_received" || body["nonce"] !== request.nonce) return [];
    const approver = String(body["approver"]);
    const decision = body["decision"] === "reject" ? "reject" : "approve";
    const counts =
      decision === "reject"
        ? rejection?.approval.approver === approver
        : approvals.some(({ approval }) => approval.approver === approver);
    return [{ approver, decision, filed: entry.time, counts }];
  });
}

/** The request that an envelope claims to answer, before anybody vouched for it. */
function requestAnswered(journal: Journal, envelope: JsonValue): OpenRequest | undefined {
  const read = readEnvelope(envelope);
  const claimed = read.ok ? readDocument(read.value.payload, approvalSchema) : read;
  if (!claimed.ok) return undefined;
  const { run, nonce } = claimed.value;
  return requestsIn(journal, journal.read(run)).find((request) => request.nonce === nonce);
}

function audienceOf(trust: JsonValue): string {
  const read = admitJson(trust, { numbers: "finite" });
  const opened = read.ok ? openTrust(read.value) : undefined;
  if (opened?.ok === true) return opened.value.document.audience;
  const fault = opened === undefined ? "malformed_envelope" : opened.error;
  throw new RoteError("trust_refused", `The trust store is refused: ${fault}.`, { fault });
}

/** A reviewer is not the one who begins a journal. */
function refuseEmpty(journal: Journal, directory: string): void {
  const [first] = journal.read(HOST_CHAIN);
  if (first !== undefined) return;
  throw new RoteError("store_missing", `no host has opened a journal in ${directory}`, {
    directory,
  });
}

function decided(decisions: readonly FiledDecision[]): RoteError {
  const said = decisions.filter(({ counts }) => counts);
  const who = said.map(
    ({ approver, decision, filed }) =>
      `${decision} by ${approver} at ${new Date(filed).toISOString()}`,
  );
  return new RoteError(
    "approval_refused",
    `The request is decided already: ${who.join(", ")}. Nothing was used up.`,
    { fault: "already_decided", decisions: said.map((one) => ({ ...one })) },
  );
}

function refused(fault: string, why: string): RoteError {
  return new RoteError("approval_refused", `Nothing was signed: ${why} (${fault}).`, { fault });
}
