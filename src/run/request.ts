/** What a reviewer is asked, as the run's user sees it. */
import type { Digest } from "../base/digest.ts";
import type { HostParts, OpenRequest } from "../host/index.ts";
import { type Attached, waitingRequests } from "./attached.ts";

export interface PendingRequest {
  readonly run: string;
  /** The fence, or the read or effect that asks at its own turn. */
  readonly node: string;
  readonly audience: string;
  readonly nonce: string;
  readonly operations: readonly Digest[];
  /** Digest of `text`. */
  readonly display: Digest;
  /** The exact text to show: what a signature over this request covers. */
  readonly text: string;
  /** Seconds since 1970 UTC, or null when the request does not expire. */
  readonly expires: number | null;
  /** Distinct approvers wanted. */
  readonly required: number;
  /** Why the request before it was not good enough: the code of what has changed since; else null. */
  readonly replaces: string | null;
}

export function firstRequest(attached: Attached): PendingRequest | null {
  const [request] = waitingRequests(attached);
  return request === undefined ? null : pendingRequestOf(attached.parts, request);
}

/** A request as whoever is to decide it needs it. */
export function pendingRequestOf(parts: HostParts, request: OpenRequest): PendingRequest {
  const { run, node, nonce, display, text, expires, replaces } = request;
  return Object.freeze({
    run,
    node,
    audience: parts.journal.origin,
    nonce,
    operations: Object.freeze(request.operations.map(({ digest }) => digest)),
    display,
    text,
    expires,
    required: parts.policy.document.approvals.required,
    replaces: replaces?.code ?? null,
  });
}
