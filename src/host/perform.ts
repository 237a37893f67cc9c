/**
 * From a judgement to a receipt: admission, dispatch, outcome.
 *
 * A1 Admission is one append: the operation's place, its approvals and its natural key are taken, budgets and warrant
 *    spend are counted, the qualification stands, the clock can be trusted. All of it, or nothing.
 * A2 Dispatch follows the durable admission, the receipt is durable before anybody sees the answer.
 * A3 A natural key stays taken unless it is certain that nothing happened.
 */

import { type Digest, digestFromHex, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Appended } from "../model/journal.ts";
import type { GateCode, Outcome } from "../model/operation.ts";
import { givenBack } from "../policy/budget.ts";
import type { Append, AppendRefusal, Claim, Count, Lease } from "../ports/journal.ts";
import type { CheckedApproval } from "../trust/approval.ts";
import { type Dispatched, dispatch, undone } from "./dispatch.ts";
import { definitionOf, type Judgement, limitCode, type Refusal, refusalOf } from "./judge.ts";
import { beforeBy, keyTaken, naturalKey } from "./natural-key.ts";
import { type FrozenOperation, operationBlob, placeOf } from "./operation.ts";
import { type HostParts, isRejectionCounter, rejectionCounter, TRUST_COUNTER } from "./parts.ts";
import { type ReceiptFacts, signReceipt } from "./receipt.ts";
import { INLINE_BYTES, keep } from "./stored.ts";

export interface Performed {
  readonly kind: "performed";
  readonly outcome: Outcome;
  readonly result: JsonValue | undefined;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** False for a read that broke and may be attempted again: the run still waits for it. */
  readonly final: boolean;
  readonly receipt: FiledReceipt;
}

/** A receipt's entry, and its place in the log: what happened first stands first. */
export interface FiledReceipt {
  readonly digest: Digest;
  readonly index: number;
}

export interface Admission {
  readonly kind: "admitted";
  readonly judgement: Judgement;
  readonly approvals: readonly UsedApproval[];
  readonly entry: Appended;
}

/** Something that was checked ran out before the admission was written: it is to be judged anew. */
export interface Late {
  readonly kind: "late";
}

/** An approval with the nonce that it answers. */
export interface UsedApproval {
  readonly nonce: string;
  readonly checked: CheckedApproval;
}

/** Whose operation it is, as far as an admission records it. */
export interface Admitting {
  /** Of a compiled run: the admission asks whether it stands. */
  readonly qualification: string | null;
  /** Active milliseconds so far: a limit on them holds for all processes together. */
  readonly ms: number;
}

export async function admit(
  parts: HostParts,
  lease: Lease,
  judgement: Judgement,
  approvals: readonly UsedApproval[],
  { qualification, ms }: Admitting,
): Promise<Admission | Refusal | Late> {
  const { frozen, rules, counts, trustVersion, until } = judgement;
  const ends = [until, ...approvals.map(({ checked }) => checked.until)];
  const blob = frozen.bytes.byteLength > INLINE_BYTES;
  const appended = await parts.journal.append({
    lease,
    entries: [
      {
        chain: lease.chain,
        type: "admitted",
        body: {
          digest: frozen.digest,
          operation: blob ? { blob: sha256Hex(frozen.bytes) } : frozen.operation,
          approvals: approvals.map(({ checked }) => ({
            envelope: checked.digest,
            approver: checked.approval.approver,
            key: checked.key,
          })),
          review: judgement.reviewed,
          permissions: judgement.permissions,
          rules,
          reserved: counts.map(({ counter, add }) => ({ counter, add: String(add) })),
          ms,
        },
        known: new Map([[frozen.operation, frozen.bytes]]),
      },
    ],
    take: claimsOf(frozen, approvals),
    count: [
      ...counts,
      { counter: TRUST_COUNTER, add: 0n, limit: BigInt(trustVersion) },
      ...approvals.map(({ nonce }) => ({ counter: rejectionCounter(nonce), add: 0n, limit: 0n })),
    ],
    needsClock: true,
    before: Math.min(...ends) * 1000,
    // Nobody may take the run over while its tool is at work within its time.
    holdMs: parts.callMs,
    ...(qualification === null ? {} : { qualification }),
    ...(blob ? { blobs: [frozen.bytes] } : {}),
  });
  const [entry] = appended.ok ? appended.value : [];
  if (appended.ok && entry !== undefined) return { kind: "admitted", judgement, approvals, entry };
  if (appended.ok) throw new TypeError("an admission without an entry");
  return refused(judgement, appended.error);
}

export async function perform(
  parts: HostParts,
  lease: Lease,
  admission: Admission,
  cancel: AbortSignal,
): Promise<Performed> {
  const { judgement } = admission;
  const { frozen, registered, review } = judgement;
  // Judged before the commit, which took its time: what is called is what was reviewed, or nothing is.
  const same = definitionOf(registered) === frozen.operation.tool.definition;
  const done = same
    ? await dispatch(registered.tool, frozen, parts, cancel)
    : undone(parts.clock, "tool_changed", "the tool is not what was admitted any more");
  const again = review.repeatable && frozen.operation.attempt < parts.readAttempts;
  const final = !(done.broken && again && !cancel.aborted && done.outcome === "refused");
  return settle(parts, lease, factsOf(admission), done, final);
}

/** What the receipt of an admitted operation needs; also made from the journal when a run is recovered. */
export interface AdmissionFacts {
  readonly frozen: FrozenOperation;
  readonly seq: number;
  readonly entry: string;
  readonly approvals: readonly Digest[];
  readonly rules: readonly string[];
  readonly counts: readonly Count[];
}

function factsOf({ judgement, approvals, entry }: Admission): AdmissionFacts {
  return {
    frozen: judgement.frozen,
    seq: entry.entry.seq,
    entry: entry.hash,
    approvals: approvals.map(({ checked }) => checked.digest),
    rules: judgement.rules,
    counts: judgement.counts,
  };
}

export async function settle(
  parts: HostParts,
  lease: Lease,
  admission: AdmissionFacts,
  done: Omit<Dispatched, "broken">,
  final: boolean,
): Promise<Performed> {
  const { frozen } = admission;
  const effect = frozen.operation.tool.category === "effect";
  const facts: ReceiptFacts = {
    frozen,
    outcome: done.outcome,
    admission: { seq: admission.seq, entry: admission.entry },
    refusal: done.refusal,
    approvals: admission.approvals,
    rules: admission.rules,
    verdict: effect ? "passed" : "not_asked",
    result: done.result,
    started: done.started,
    finished: done.finished,
  };
  const nothingHappened = done.outcome === "failed_before_effect";
  const key = nothingHappened ? naturalKey(frozen) : undefined;
  const receipt = await fileReceipt(parts, lease, facts, final, {
    free: key === undefined ? [] : [key],
    count: nothingHappened ? givenBack(admission.counts) : [],
    blobs: [],
  });
  const { outcome, result, refusal } = done;
  return { kind: "performed", outcome, result, refusal, final, receipt };
}

/**
 * The receipt of an operation that was refused before it was admitted, so that an auditor sees that it was tried.
 * `final` when it was its turn, and the refusal is what became of it.
 */
export async function fileRefusal(
  parts: HostParts,
  lease: Lease,
  refusal: Refusal,
  final: boolean,
): Promise<FiledReceipt | null> {
  if (refusal.frozen === null) return null;
  const judgedByVerifier = refusal.code === "before_effect_refused";
  return fileReceipt(
    parts,
    lease,
    {
      frozen: refusal.frozen,
      outcome: "refused",
      admission: null,
      refusal: { code: refusal.code, message: refusal.message },
      approvals: [],
      rules: refusal.rules,
      verdict: judgedByVerifier ? "refused" : "not_asked",
      result: undefined,
      started: null,
      finished: null,
    },
    final,
    // No admission holds it, so it is kept beside: a refusal of nobody knows what would prove nothing.
    { free: [], count: [], blobs: [operationBlob(refusal.frozen)] },
  );
}

async function fileReceipt(
  parts: HostParts,
  lease: Lease,
  facts: ReceiptFacts,
  final: boolean,
  { free, count, blobs: beside }: Required<Pick<Append, "free" | "count" | "blobs">>,
): Promise<FiledReceipt> {
  const envelope = signReceipt(facts, parts.receiptKey);
  const plain = {
    operation: facts.frozen.digest,
    // Where it was admitted: a refusal before any admission must not pass for the outcome of one.
    admission: facts.admission?.seq ?? null,
    outcome: facts.outcome,
    envelope,
    final,
  };
  const { body, blobs } =
    facts.result === undefined ? { body: plain, blobs: [] } : keep(plain, "result", facts.result);
  const appended = await parts.journal.append({
    lease,
    entries: [{ chain: lease.chain, type: "receipt", body }],
    free,
    count,
    blobs: [...blobs, ...beside],
  });
  const [entry] = appended.ok ? appended.value : [];
  if (entry === undefined) throw leaseLost(lease.chain);
  return { digest: digestFromHex(entry.hash), index: entry.index };
}

function claimsOf(frozen: FrozenOperation, approvals: readonly UsedApproval[]): readonly Claim[] {
  const key = naturalKey(frozen);
  return [
    ...approvals.map(
      ({ nonce, checked }): Claim => ({
        space: "nonce",
        key: `${nonce}/${frozen.digest}/${checked.approval.approver}`,
      }),
    ),
    { space: "operation", key: placeOf(frozen.operation) },
    ...(key === undefined ? [] : [key]),
  ];
}

function refused(judgement: Judgement, error: AppendRefusal): Refusal | Late {
  const { frozen, rules } = judgement;
  const make = (code: GateCode, message: string) => refusalOf(frozen, code, message, rules);
  switch (error.code) {
    case "taken":
      return taken(error, make);
    case "over_limit": {
      if (isRejectionCounter(error.counter)) {
        return make("approval_rejected", "the request was rejected while it was being admitted");
      }
      const message = `${error.counter} would be ${error.total} of ${error.limit}`;
      return make(limitCode(error.counter), message);
    }
    case "not_qualified":
      return make("not_qualified", "the qualification does not stand any more");
    case "clock_behind":
      return make("clock_behind", `the clock is ${error.behindMs} ms behind the journal`);
    case "too_late":
      return { kind: "late" };
    case "lease_lost":
      throw leaseLost(error.chain);
  }
}

function taken(
  { claim, by }: AppendRefusal & { readonly code: "taken" },
  make: (code: GateCode, message: string) => Refusal,
): Refusal {
  const before = beforeBy(by);
  switch (claim.space) {
    case "nonce":
      return make("approval_consumed", `the approval was used for this operation ${before}`);
    case "natural_key":
      return make("duplicate_key", keyTaken(claim, by));
    case "operation":
    case "run":
      return make("duplicate_operation", `the operation ${claim.key} was admitted ${before}`);
  }
}

export function leaseLost(run: string): RoteError {
  return new RoteError("lease_lost", `Another process took over the run ${run}.`, { run });
}
