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
  fileDecision,
  judgedNow,
  type OpenRequest,
  openRequestsIn,
  requestsIn,
} from "../host/index.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import { approvalSchema, trustSchema } from "../model/trust.ts";
import { systemClock } from "../os/clock.ts";
import { isOwnerDead, processOwner } from "../os/owner.ts";
import { systemTimers } from "../os/timers.ts";
import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import { MAX_APPROVAL_SECONDS, signApproval } from "../trust/approval.ts";
import { readDocument } from "../trust/signed-document.ts";
import { trustRefused } from "../trust/trust-refused.ts";
import { followTrust } from "./adopt-trust.ts";
import {
  alreadyDecided,
  type Decision,
  decidingParts,
  type Reading,
  type ReviewRequest,
  refuseDecided,
  refusedDecision,
  reviewRequest,
} from "./review-request.ts";

export interface ReviewOptions {
  /** The host's store. */
  readonly directory: string;
  /** The signed trust store, from a place that the reviewer trusts: it says which host this is and whose word counts. */
  readonly trust: JsonValue;
  /** Where the host copies tree heads to, when not into the directory. */
  readonly heads?: string;
  /** Signed tool reviews, for totals of amounts. Default none. */
  readonly toolReviews?: readonly JsonValue[];
  readonly clock?: Clock;
}

export interface Deciding {
  /** The name that the trust store gives to the key's holder. */
  readonly approver: string;
  readonly decision: Decision;
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
  const origin = audienceOf(options.trust);
  const { visitSqliteJournal } = await import("../store/sqlite/visitor.ts");
  const journal = visitSqliteJournal(options.directory, {
    journal: {
      origin,
      clock,
      timers: systemTimers,
      owner: processOwner(),
      isDead: isOwnerDead,
    },
    ...(options.heads === undefined ? {} : { heads: options.heads }),
  });
  try {
    refuseEmpty(journal, options.directory);
    const trust = await followTrust(journal, options.trust);
    const { toolReviews = [] } = options;
    return reviewOf({ parts: { journal, clock, trust }, toolReviews });
  } catch (error) {
    await journal.close();
    throw error;
  }
}

function reviewOf(reading: Reading): Review {
  const { journal, trust } = reading.parts;
  const told = (request: OpenRequest, entries = journal.read(request.run)) =>
    reviewRequest(reading, request, entries);

  return {
    origin: journal.origin,

    pending: () =>
      journal
        .runs(MOST_RUNS, true)
        .flatMap(({ run }) => {
          const entries = journal.read(run);
          return openRequestsIn(journal, entries).map((request) => told(request, entries));
        })
        .filter(({ status }) => status === "waiting"),

    find(nonce) {
      const ended = journal.runs(MOST_RUNS).filter(({ state }) => state !== null);
      for (const { run } of [...journal.runs(MOST_RUNS, true), ...ended]) {
        const entries = journal.read(run);
        const request = requestsIn(journal, entries).find((one) => one.nonce === nonce);
        if (request !== undefined) return told(request, entries);
      }
      throw new RoteError("unknown_request", `There is no request ${JSON.stringify(nonce)}.`, {
        request: nonce,
      });
    },

    sign(asked, key, { approver, decision, seconds = MAX_APPROVAL_SECONDS }) {
      refuseDecided(asked, decision);
      const { request, requestedBy } = asked;
      const { id } = key.publicKey;
      const now = judgedNow(reading.parts);
      const usable = trust().usable(id, "approver", now);
      if (!usable.ok) throw refusedDecision(usable.error, `the key ${id} is no approver's`);
      if (usable.value.name !== approver) {
        const why = `the key ${id} is held by ${usable.value.name}, not by ${approver}`;
        throw refusedDecision("wrong_approver", why);
      }
      const { approvals } = decidingParts(reading, request.operations).policy.document;
      const own = approver === requestedBy && !approvals.requester_may_approve;
      if (decision === "approve" && own) {
        throw refusedDecision("requester_may_not_approve", "who asked may not approve");
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
          not_before: now,
          expires: now + Math.min(seconds, MAX_APPROVAL_SECONDS),
        },
        key,
      );
    },

    async file(envelope) {
      const answer = answerIn(journal, envelope);
      if (answer !== undefined) refuseDecided(told(answer.request), answer.decision);
      try {
        await fileDecision(decidingParts(reading, answer?.request.operations ?? []), envelope);
      } catch (error) {
        const late = error instanceof RoteError && error.data["fault"] === "already_decided";
        if (!late || answer === undefined) throw error;
        throw alreadyDecided(told(answer.request));
      }
    },

    close: () => journal.close(),
  };
}

/** What an envelope claims to decide, and how, before anybody vouched for it. */
function answerIn(journal: Journal, envelope: JsonValue) {
  const read = readEnvelope(envelope);
  const claimed = read.ok ? readDocument(read.value.payload, approvalSchema) : read;
  if (!claimed.ok) return undefined;
  const { run, nonce, decision } = claimed.value;
  const requests = requestsIn(journal, journal.read(run));
  const request = requests.find((one) => one.nonce === nonce);
  return request === undefined ? undefined : { request, decision };
}

/** Which host the store claims to be for; whether it may is found out when its journal is open. */
function audienceOf(trust: JsonValue): string {
  const read = admitJson(trust, { numbers: "finite" });
  const shape = read.ok ? readEnvelope(read.value) : read;
  const claimed = shape.ok ? readDocument(shape.value.payload, trustSchema) : shape;
  if (claimed.ok) return claimed.value.audience;
  throw trustRefused("malformed_envelope");
}

/** A reviewer is not the one who begins a journal. */
function refuseEmpty(journal: Journal, directory: string): void {
  if (journal.length(HOST_CHAIN) > 0) return;
  throw new RoteError("store_missing", `no host has opened a journal in ${directory}`, {
    directory,
  });
}
