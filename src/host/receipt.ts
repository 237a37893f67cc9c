/**
 * Receipts: the signed statement of what became of an operation (in-toto Statement v1 in a DSSE envelope).
 *
 * A receipt proves what this host said. It does not prove what the target did.
 */

import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, digestOf } from "../base/digest.ts";
import { envelopeToJson, signEnvelope } from "../base/dsse.ts";
import type { JsonValue } from "../base/json.ts";
import type { PrivateKey } from "../base/sign.ts";
import type { Outcome } from "../model/operation.ts";
import { PAYLOAD_TYPES } from "../model/trust.ts";
import type { FrozenOperation } from "./operation.ts";

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
  return digestOf("rote-result/v1", result);
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
