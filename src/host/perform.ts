/**
 * From a judgement to a receipt: admission, dispatch, outcome.
 *
 * A1 Admission is one append: the operation's place, its approvals and its natural key are taken, budgets and warrant
 *    spend are counted, the qualification stands, the clock can be trusted. All of it, or nothing.
 * A2 Dispatch follows the durable admission, the receipt is durable before anybody sees the answer.
 * A3 A natural key stays taken unless it is certain that nothing happened.
 */

import { canonicalText } from "../base/canonical.ts";
import type { Digest } from "../base/digest.ts";
import { sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Appended } from "../model/journal.ts";
import type { Outcome } from "../model/operation.ts";
import { givenBack } from "../policy/budget.ts";
import type { AppendRefusal, Claim, Count, Lease } from "../ports/journal.ts";
import type { CheckedApproval } from "../trust/approval.ts";
import { type Dispatched, dispatch } from "./dispatch.ts";
import { type Judgement, limitCode, type Refusal } from "./judge.ts";
import { type FrozenOperation, placeOf } from "./operation.ts";
import type { HostParts } from "./parts.ts";
import { type ReceiptFacts, signReceipt } from "./receipt.ts";

/** Bodies above this size are kept as blobs, so that entries stay small. */
const INLINE_BYTES = 16_384;

export interface Performed {
  readonly kind: "performed";
  readonly outcome: Outcome;
  readonly result: JsonValue | undefined;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** False for a read that broke and may be attempted again: the run still waits for it. */
  readonly final: boolean;
  readonly receipt: Digest;
}

export interface Admission {
  readonly kind: "admitted";
  readonly judgement: Judgement;
  readonly approvals: readonly UsedApproval[];
  readonly entry: Appended;
}

/** An approval with the nonce that it answers. */
export interface UsedApproval {
  readonly nonce: string;
  readonly checked: CheckedApproval;
}

export async function admit(
  parts: HostParts,
  lease: Lease,
  judgement: Judgement,
  approvals: readonly UsedApproval[],
  qualification: string | null,
): Promise<Admission | Refusal> {
  const { frozen, rules, counts } = judgement;
  const blob = frozen.bytes.byteLength > INLINE_BYTES;
  const appended = await parts.journal.append({
    lease,
    entries: [
      {
        chain: lease.chain,
        type: "admitted",
        body: {
          digest: frozen.digest,
          operation: blob
            ? { blob: sha256Hex(frozen.bytes) }
            : (frozen.operation as unknown as JsonValue),
          approvals: approvals.map(({ checked }) => ({
            envelope: checked.digest,
            approver: checked.approval.approver,
            key: checked.key,
          })),
          rules,
          reserved: counts.map(({ counter, add }) => ({ counter, add: String(add) })),
        },
      },
    ],
    take: claimsOf(frozen, approvals),
    count: counts,
    needsClock: true,
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
  const done = await dispatch(registered.tool, frozen, parts.callMs, parts.clock, cancel);
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
  done: Omit<Dispatched, "broken" | "started"> & { readonly started: number | null },
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
  });
  const { outcome, result, refusal } = done;
  return { kind: "performed", outcome, result, refusal, final, receipt };
}

/** The receipt of an operation that was refused before it was admitted, so that an auditor sees that it was tried. */
export async function fileRefusal(
  parts: HostParts,
  lease: Lease,
  refusal: Refusal,
): Promise<Digest | null> {
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
    true,
    { free: [], count: [] },
  );
}

async function fileReceipt(
  parts: HostParts,
  lease: Lease,
  facts: ReceiptFacts,
  final: boolean,
  change: { readonly free: readonly Claim[]; readonly count: readonly Count[] },
): Promise<Digest> {
  const envelope = signReceipt(facts, parts.receiptKey);
  const { result, blobs } = resultBody(facts.result);
  const appended = await parts.journal.append({
    lease,
    entries: [
      {
        chain: lease.chain,
        type: "receipt",
        body: {
          operation: facts.frozen.digest,
          outcome: facts.outcome,
          envelope,
          final,
          ...result,
        },
      },
    ],
    ...change,
    blobs,
  });
  const [entry] = appended.ok ? appended.value : [];
  if (entry === undefined) {
    throw new RoteError("lease_lost", `Another process took over the run ${lease.chain}.`, {
      run: lease.chain,
    });
  }
  return `sha256:${entry.hash}` as Digest;
}

function resultBody(result: JsonValue | undefined): {
  readonly result: { readonly [member: string]: JsonValue };
  readonly blobs: readonly Uint8Array[];
} {
  if (result === undefined) return { result: {}, blobs: [] };
  const bytes = Buffer.from(canonicalText(result));
  return bytes.byteLength <= INLINE_BYTES
    ? { result: { result }, blobs: [] }
    : { result: { result_blob: sha256Hex(bytes) }, blobs: [bytes] };
}

function claimsOf(frozen: FrozenOperation, approvals: readonly UsedApproval[]): readonly Claim[] {
  const key = naturalKey(frozen);
  return [
    { space: "operation", key: placeOf(frozen.operation) },
    ...approvals.map(
      ({ nonce, checked }): Claim => ({
        space: "nonce",
        key: `${nonce}/${frozen.digest}/${checked.approval.approver}`,
      }),
    ),
    ...(key === undefined ? [] : [key]),
  ];
}

/** Two effects with the same tool and key are the same deed, whatever run they stand in. */
export function naturalKey({ operation }: FrozenOperation): Claim | undefined {
  if (operation.key === null || operation.tool.category !== "effect") return undefined;
  return { space: "natural_key", key: `${operation.tool.name}\n${canonicalText(operation.key)}` };
}

function refused(judgement: Judgement, error: AppendRefusal): Refusal {
  const { frozen, rules } = judgement;
  const make = (code: Refusal["code"], message: string): Refusal => ({
    kind: "refused",
    code,
    message,
    frozen,
    rules,
  });
  switch (error.code) {
    case "taken":
      return takenBy(error.claim, make);
    case "over_limit": {
      const message = `${error.counter} would be ${error.total} of ${error.limit}`;
      return make(limitCode(error.counter), message);
    }
    case "not_qualified":
      return make("not_qualified", "the qualification does not stand any more");
    case "clock_behind":
      return make("clock_behind", `the clock is ${error.behindMs} ms behind the journal`);
    case "lease_lost":
      throw new RoteError("lease_lost", `Another process took over the run ${error.chain}.`, {
        run: error.chain,
      });
  }
}

function takenBy(claim: Claim, make: (code: Refusal["code"], message: string) => Refusal): Refusal {
  switch (claim.space) {
    case "nonce":
      return make("approval_consumed", "the approval was used before for this operation");
    case "natural_key":
      return make("duplicate_key", `an effect with this key was admitted before: ${claim.key}`);
    case "operation":
    case "run":
      return make("duplicate_operation", `the operation ${claim.key} was admitted before`);
  }
}
