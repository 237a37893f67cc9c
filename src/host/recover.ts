/**
 * Operations that were admitted and have no receipt: the process died, or was overtaken, between the two.
 *
 * U1 They are never dispatched again. What cannot be found out is `uncertain`, for good.
 * U2 A probe's `done` settles as done. Its `absent` settles as failed_before_effect only where the target durably
 *    refuses a late dispatch under the same operation id: the first process may only be paused.
 * U3 A read that was reviewed as repeatable is closed as broken, and may be attempted anew.
 */

import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue, readJson } from "../base/json.ts";
import type { Appended } from "../model/journal.ts";
import type { ToolReview } from "../model/trust.ts";
import type { Lease } from "../ports/journal.ts";
import { checkToolReview } from "../trust/tool-review.ts";
import { type FrozenOperation, refreeze } from "./operation.ts";
import type { HostParts } from "./parts.ts";
import { type AdmissionFacts, type Performed, settle } from "./perform.ts";

type Body = { readonly [key: string]: JsonValue };

export interface Recovered {
  readonly frozen: FrozenOperation;
  readonly performed: Performed;
}

export async function recover(
  parts: HostParts,
  lease: Lease,
  entries: readonly Appended[],
): Promise<readonly Recovered[]> {
  const recovered: Recovered[] = [];
  for (const admission of withoutReceipt(parts, entries)) {
    const performed = await settleOne(parts, lease, admission);
    recovered.push({ frozen: admission.frozen, performed });
  }
  return recovered;
}

/** Admissions of a run that no receipt answers, in order. */
export function withoutReceipt(
  parts: HostParts,
  entries: readonly Appended[],
): readonly AdmissionFacts[] {
  const open = new Map<string, Appended>();
  for (const appended of entries) {
    const body = appended.entry.body as Body;
    if (appended.entry.type === "admitted") open.set(String(body["digest"]), appended);
    if (appended.entry.type === "receipt") open.delete(String(body["operation"]));
  }
  return [...open.values()].map((appended) => admissionFrom(parts, appended));
}

/** An admitted operation of a run with its recorded outcome; null as long as it has none. */
export function operationOf(
  parts: HostParts,
  run: string,
  digest: string,
): { readonly frozen: FrozenOperation; readonly outcome: string | null } | undefined {
  let frozen: FrozenOperation | undefined;
  let outcome: string | null = null;
  for (const appended of parts.journal.read(run)) {
    const body = appended.entry.body as Body;
    if (appended.entry.type === "admitted" && body["digest"] === digest) {
      frozen = admissionFrom(parts, appended).frozen;
    }
    if (appended.entry.type === "receipt" && body["operation"] === digest) {
      outcome = String(body["outcome"]);
    }
  }
  return frozen === undefined ? undefined : { frozen, outcome };
}

async function settleOne(
  parts: HostParts,
  lease: Lease,
  admission: AdmissionFacts,
): Promise<Performed> {
  const { frozen } = admission;
  const review = reviewOf(parts, frozen);
  const now = parts.clock.wallMs();
  const times = { started: null, finished: now };
  if (frozen.operation.tool.category === "read") {
    const again = review?.repeatable === true && frozen.operation.attempt < parts.readAttempts;
    const refusal = {
      code: "interrupted",
      message: "the process ended before there was an answer",
    };
    const done = { ...times, outcome: "refused", result: undefined, refusal } as const;
    return settle(parts, lease, admission, done, !again);
  }
  const found = await probe(parts, frozen);
  if (found?.kind === "done") {
    const done = { ...times, outcome: "done", result: found.result, refusal: null } as const;
    return settle(parts, lease, admission, done, true);
  }
  if (found?.kind === "absent" && review?.fenced === true) {
    const refusal = {
      code: "absent",
      message: "the target never saw it and refuses it from now on",
    };
    const done = { ...times, outcome: "failed_before_effect", result: undefined, refusal } as const;
    return settle(parts, lease, admission, done, true);
  }
  const refusal = {
    code: "no_outcome",
    message: "it was admitted and nothing is known of its outcome; reconcile with the target",
  };
  const done = { ...times, outcome: "uncertain", result: undefined, refusal } as const;
  return settle(parts, lease, admission, done, true);
}

async function probe(parts: HostParts, frozen: FrozenOperation) {
  const { tool } = parts.tools.get(frozen.operation.tool.name) ?? {};
  if (tool?.probe === undefined) return undefined;
  const timeout = AbortSignal.timeout(parts.callMs);
  try {
    const found = await tool.probe({
      arguments: frozen.arguments,
      operationId: frozen.digest,
      signal: timeout,
    });
    if (found.kind !== "done") return found;
    const admitted = admitJson(found.result, { numbers: "finite" });
    return admitted.ok ? { kind: "done" as const, result: admitted.value } : undefined;
  } catch {
    // A probe that cannot tell says nothing about the operation.
    return undefined;
  }
}

/** The review of exactly the definition that was admitted; a tool that changed since is not the one that knows. */
function reviewOf(parts: HostParts, { operation }: FrozenOperation): ToolReview | undefined {
  const envelope = parts.tools.get(operation.tool.name)?.review;
  if (envelope === null || envelope === undefined) return undefined;
  const now = Math.floor(parts.clock.wallMs() / 1000);
  const checked = checkToolReview(envelope, parts.journal.origin, parts.trust(), now);
  if (!checked.ok) return undefined;
  const { review } = checked.value;
  return review.definition === operation.tool.definition ? review : undefined;
}

function admissionFrom(parts: HostParts, { entry, hash }: Appended): AdmissionFacts {
  const body = entry.body as Body;
  const frozen = refreeze(operationIn(parts, body["operation"] ?? null));
  if (frozen.digest !== body["digest"]) {
    throw new RoteError(
      "journal_damaged",
      `Entry ${entry.seq} of ${entry.chain} names another operation.`,
    );
  }
  const approvals = body["approvals"] as readonly Body[];
  const reserved = body["reserved"] as readonly { counter: string; add: string }[];
  return {
    frozen,
    seq: entry.seq,
    entry: hash,
    approvals: approvals.map(({ envelope }) => envelope as Digest),
    rules: body["rules"] as readonly string[],
    counts: reserved.map(({ counter, add }) => ({ counter, add: BigInt(add), limit: null })),
  };
}

function operationIn(parts: HostParts, json: JsonValue): JsonValue {
  const blob = (json as Body)["blob"];
  if (typeof blob !== "string") return json;
  const bytes = parts.journal.blob(blob);
  const read =
    bytes === undefined
      ? undefined
      : readJson(bytes, { numbers: "finite", maxDepth: 600, maxBytes: bytes.byteLength });
  if (read?.ok === true) return read.value;
  throw new RoteError("journal_damaged", `The blob ${blob} of an operation is missing.`);
}
