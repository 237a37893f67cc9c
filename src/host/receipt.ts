/**
 * Receipts: the signed statement of what became of an operation (in-toto Statement v1 in a DSSE envelope).
 *
 * A receipt proves what this host said. It does not prove what the target did.
 */

import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, digestOf } from "../base/digest.ts";
import { envelopeToJson, openEnvelope, readEnvelope, signEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import type { PrivateKey, PublicKey } from "../base/sign.ts";
import { TAGS } from "../base/tags.ts";
import type { Appended, Entry } from "../model/journal.ts";
import { OUTCOMES, type Outcome } from "../model/operation.ts";
import { PAYLOAD_TYPES } from "../model/trust.ts";
import type { FrozenOperation } from "./operation.ts";
import type { HostParts } from "./parts.ts";
import { type Body, kept } from "./stored.ts";

export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
export const PREDICATE_TYPE = "urn:rote:receipt/v1";

export interface ReceiptFacts {
  readonly frozen: FrozenOperation;
  readonly outcome: Outcome;
  /** Where it was admitted; null for what was refused before. */
  readonly admission: { readonly seq: number; readonly entry: string } | null;
  /** Code and message of a refusal or of a failure. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly approvals: readonly Digest[];
  readonly rules: readonly string[];
  readonly verdict: "passed" | "refused" | "not_asked";
  readonly result: JsonValue | undefined;
  /** Milliseconds since 1970 UTC; null when nothing was dispatched. */
  readonly started: number | null;
  readonly finished: number | null;
}

export function resultDigest(result: JsonValue): Digest {
  return digestOf(TAGS.result, result);
}

export function receiptStatement(facts: ReceiptFacts): JsonValue {
  const { operation, digest } = facts.frozen;
  const subject = [{ name: "operation", digest: { sha256: digest.slice("sha256:".length) } }];
  if (facts.result !== undefined) {
    const sha256 = resultDigest(facts.result).slice("sha256:".length);
    subject.push({ name: "result", digest: { sha256 } });
  }
  return {
    _type: STATEMENT_TYPE,
    subject,
    predicateType: PREDICATE_TYPE,
    predicate: {
      audience: operation.audience,
      run: operation.run,
      node: operation.node,
      index: operation.index,
      call: operation.call,
      attempt: operation.attempt,
      admission: facts.admission,
      outcome: facts.outcome,
      refusal: facts.refusal,
      approvals: facts.approvals,
      warrant: operation.warrant,
      policy: { digest: operation.policy, rules: facts.rules },
      verifiers: operation.verifiers.map((verifier) => ({
        digest: verifier,
        verdict: facts.verdict,
      })),
      target: { name: operation.tool.name },
      started: facts.started,
      finished: facts.finished,
    },
  };
}

export function signReceipt(facts: ReceiptFacts, key: PrivateKey): JsonValue {
  const payload = canonicalBytes(receiptStatement(facts));
  return envelopeToJson(signEnvelope(PAYLOAD_TYPES.receipt, payload, [key]));
}

/** What reading receipts takes of a host. */
export type ReceiptParts = Pick<HostParts, "journal" | "receiptKey" | "trust">;

/** What a receipt's entry says, in its signed statement and beside it. */
export interface ReceiptSays {
  readonly node: string;
  readonly index: number | null;
  /** Number of the call in an agent run; null in procedures. */
  readonly call: number | null;
  /** False when the gate refused it: nothing was admitted. */
  readonly admitted: boolean;
  readonly outcome: Outcome;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly result: JsonValue | undefined;
  /** False for an attempt that another may follow. */
  readonly final: boolean;
}

/** What the receipts of one run say, each under the number of its entry. */
export type ReceiptsRead = ReadonlyMap<number, ReceiptSays>;

/**
 * All receipts of a run, each checked once for everything that goes on from it.
 *
 * @throws RoteError `journal_damaged`
 */
export function receiptsIn(parts: ReceiptParts, entries: readonly Appended[]): ReceiptsRead {
  const receipts = entries.filter(({ entry }) => entry.type === "receipt");
  return new Map(receipts.map(({ entry }) => [entry.seq, receiptIn(parts, entry)]));
}

/**
 * The receipt in an entry. What a run goes on with must be what this host once signed, so signature, operation, outcome
 * and result are compared before anything of it is used.
 *
 * @throws RoteError `journal_damaged`
 */
export function receiptIn(parts: ReceiptParts, { chain, seq, body }: Entry): ReceiptSays {
  const { envelope = null, operation, outcome, admission, final, ...rest } = body as Body;
  const result = kept(parts.journal, rest, "result");
  const predicate = signedPredicate(parts, envelope, operation, result);
  const known = OUTCOMES.find((one) => one === outcome);
  const admitted = predicate?.["admission"] ?? null;
  const refusal = predicate?.["refusal"] ?? null;
  if (
    predicate === undefined ||
    known === undefined ||
    predicate["outcome"] !== known ||
    predicate["run"] !== chain ||
    ((admitted as Body | null)?.["seq"] ?? null) !== admission
  ) {
    const message = `The receipt in entry ${seq} of ${chain} is not what was signed.`;
    throw new RoteError("journal_damaged", message, { run: chain, seq });
  }
  return {
    node: String(predicate["node"]),
    index: predicate["index"] as number | null,
    call: predicate["call"] as number | null,
    admitted: admitted !== null,
    outcome: known,
    refusal:
      refusal === null
        ? null
        : {
            code: String((refusal as Body)["code"]),
            message: String((refusal as Body)["message"]),
          },
    result,
    final: final !== false,
  };
}

/** The predicate of a statement of this host about exactly this operation and this result. */
function signedPredicate(
  parts: ReceiptParts,
  envelope: JsonValue,
  operation: JsonValue | undefined,
  result: JsonValue | undefined,
): Body | undefined {
  const read = readEnvelope(envelope);
  if (!read.ok) return undefined;
  const opened = openEnvelope(read.value, PAYLOAD_TYPES.receipt, (id) => receiptKeyOf(parts, id));
  const statement = opened.ok ? readJson(opened.value.payload) : opened;
  if (!statement.ok) return undefined;
  const { subject, predicate } = statement.value as Body;
  const [about, what] = subject as readonly Body[];
  if (`sha256:${hexIn(about)}` !== operation) return undefined;
  const expected = result === undefined ? undefined : resultDigest(result);
  if ((what === undefined ? undefined : `sha256:${hexIn(what)}`) !== expected) return undefined;
  return predicate as Body;
}

function hexIn(subject: Body | undefined): JsonValue | undefined {
  return (subject?.["digest"] as Body | undefined)?.["sha256"];
}

/** The host's own key, or one that it had before: receipts outlive their keys. */
function receiptKeyOf(parts: ReceiptParts, id: string): PublicKey | undefined {
  if (parts.receiptKey.publicKey.id === id) return parts.receiptKey.publicKey;
  const known = parts.trust().key(id);
  return known?.entry.role === "receipt" ? known.key : undefined;
}
