/** Why a trust store is refused, in words; wherever one is opened. */
import { RoteError } from "../base/error.ts";
import type { TrustFault } from "./trust-store.ts";

const WORDS: { readonly [fault in TrustFault]: string } = {
  malformed_envelope: "it is no signed envelope",
  wrong_payload_type: "it is a signed document of another kind",
  signature_count: "it has no signature, or too many",
  unknown_key: "a key signed it that is in no root",
  bad_signature: "a signature on it does not verify",
  document_too_large: "it is too large",
  malformed_document: "what is signed does not have the form of a trust store",
  bad_key: "it lists a key that is none",
  repeated_key: "it lists a key twice, or one of its root",
  key_removed:
    "it does not list a key any more that the version before has; keys are revoked, and stay",
  key_changed: "it says something else of a key than the version before",
  threshold_not_met: "too few keys of the root have signed it, of its own or of the version before",
  wrong_version: "it is not the version after the one that is on record",
  wrong_audience: "it is for another host",
};

/** @returns RoteError `trust_refused` with the fault as `data.fault` */
export function trustRefused(fault: TrustFault): RoteError {
  const message = `The trust store is refused: ${WORDS[fault]} (${fault}).`;
  return new RoteError("trust_refused", message, { fault });
}
