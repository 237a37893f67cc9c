/**
 * Asking for approval: one request for all operations that were shown together.
 *
 * R1 A request is durable before anybody is told of it. Its nonce is fresh; its display digest is of the exact text.
 * R2 A request is open as long as one of its operations was neither admitted nor shown anew, and its run goes on.
 */

import { toBase64Url } from "../base/bytes.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../base/json.ts";
import { type Appended, HOST_CHAIN } from "../model/journal.ts";
import { GATE_CODES, type GateCode, type Operation } from "../model/operation.ts";
import type { Journal, Lease } from "../ports/journal.ts";
import { type FrozenOperation, refreeze } from "./operation.ts";
import type { HostParts } from "./parts.ts";
import { leaseLost } from "./perform.ts";
import { displayDigest, renderOperations } from "./show.ts";
import { type Body, storedJson } from "./stored.ts";
import { judgedNow } from "./time.ts";

export interface OpenRequest {
  readonly run: string;
  /** The fence, or the read or effect that asks at its own turn. */
  readonly node: string;
  readonly nonce: string;
  readonly operations: readonly FrozenOperation[];
  readonly display: Digest;
  /** The exact text to show and to sign by its digest. */
  readonly text: string;
  /** Seconds since 1970 UTC; null when it does not expire. */
  readonly expires: number | null;
  /** The request that was not good enough, and what had changed since. */
  readonly replaces: Replaced | null;
  /** Decisions on the host chain from here on may be answers to it. */
  readonly hostSeq: number;
}

export type Replaced = {
  readonly nonce: string;
  readonly code: GateCode;
};

/** What one signature covers at most. */
export const MOST_SHOWN = 1000;

export async function openRequest(
  parts: HostParts,
  lease: Lease,
  node: string,
  operations: readonly FrozenOperation[],
  replaces: Replaced | null,
): Promise<OpenRequest> {
  const text = renderOperations(lease.chain, operations);
  const display = displayDigest(text);
  const nonce = toBase64Url(parts.random.bytes(16));
  const now = judgedNow(parts);
  const expires = parts.requestSeconds === null ? null : now + parts.requestSeconds;
  const hostSeq = parts.journal.length(HOST_CHAIN);
  const shown = canonicalBytes(operations.map(({ operation }) => operation));
  const body = {
    node,
    nonce,
    count: operations.length,
    display,
    expires,
    host_seq: hostSeq,
    shown: sha256Hex(shown),
    replaces: replaces === null ? null : { ...replaces },
  };
  const appended = await parts.journal.append({
    lease,
    entries: [{ chain: lease.chain, type: "approval_requested", body }],
    blobs: [shown],
  });
  if (!appended.ok) throw leaseLost(lease.chain);
  return { run: lease.chain, node, nonce, operations, display, text, expires, replaces, hostSeq };
}

/**
 * The requests in a run's entries, oldest first. One that this version would show otherwise than it was shown is left
 * out: nobody can answer it, and its operations are asked for anew.
 *
 * @throws RoteError `journal_damaged`
 */
export function requestsIn(journal: Journal, entries: readonly Appended[]): readonly OpenRequest[] {
  return entries.flatMap((appended) =>
    appended.entry.type === "approval_requested" ? (requestFrom(journal, appended) ?? []) : [],
  );
}

/** Of the requests in a run's entries, those that can still be answered. @throws RoteError `journal_damaged` */
export function openRequestsIn(
  journal: Journal,
  entries: readonly Appended[],
): readonly OpenRequest[] {
  return openAmong(requestsIn(journal, entries), entries);
}

/** The same of requests that were read from these entries before. */
export function openAmong(
  requests: readonly OpenRequest[],
  entries: readonly Appended[],
): readonly OpenRequest[] {
  if (entries.some(({ entry }) => entry.type === "run_ended")) return [];
  const admitted = admittedIn(entries);
  const later = new Set<string>();
  const open: OpenRequest[] = [];
  for (const request of requests.toReversed()) {
    const waits = request.operations.filter(
      ({ operation, digest }) => !admitted.has(digest) && !later.has(itemOf(operation)),
    );
    if (waits.length > 0) open.push(request);
    for (const { operation } of request.operations) later.add(itemOf(operation));
  }
  return open.toReversed();
}

/** True when every operation of the request was admitted: no decision about it can change anything any more. */
export function isUsed({ operations }: OpenRequest, entries: readonly Appended[]): boolean {
  const admitted = admittedIn(entries);
  return operations.every(({ digest }) => admitted.has(digest));
}

function admittedIn(entries: readonly Appended[]): ReadonlySet<JsonValue | undefined> {
  const admitted = new Set<JsonValue | undefined>();
  for (const { entry } of entries) {
    if (entry.type === "admitted") admitted.add((entry.body as Body)["digest"]);
  }
  return admitted;
}

function itemOf({ node, index, call }: Operation): string {
  return `${node}/${index ?? call ?? ""}`;
}

function requestFrom(journal: Journal, { entry }: Appended): OpenRequest | undefined {
  const body = entry.body as Body;
  const shown = storedJson(journal, String(body["shown"]), "request");
  if (!isJsonArray(shown)) {
    throw new RoteError("journal_damaged", `The request in run ${entry.chain} is not readable.`);
  }
  const operations = shown.map(refreeze);
  const text = renderOperations(entry.chain, operations);
  const display = displayDigest(text);
  if (display !== body["display"]) return undefined;
  return {
    run: entry.chain,
    node: String(body["node"]),
    nonce: String(body["nonce"]),
    operations,
    display,
    text,
    expires: typeof body["expires"] === "number" ? body["expires"] : null,
    replaces: replacedIn(body["replaces"] ?? null),
    hostSeq: Number(body["host_seq"]),
  };
}

function replacedIn(json: JsonValue): Replaced | null {
  if (!isJsonObject(json)) return null;
  const { nonce, code } = json;
  const known = GATE_CODE_LIST.find((one) => one === code);
  return typeof nonce === "string" && known !== undefined ? { nonce, code: known } : null;
}

const GATE_CODE_LIST = Object.keys(GATE_CODES) as readonly GateCode[];
