/**
 * DSSE envelopes (secure-systems-lab/dsse, protocol 1.0.2), in the closed form that Rote signs and accepts.
 *
 * D1 Signed are the payload's bytes and its type string, so no canonicalisation is needed to verify: verify, then read.
 * D2 The reader states which payload type it expects; an envelope of another type is never opened.
 * D3 Members that DSSE does not define are refused: nothing beside a signature may look as if it were covered by it.
 * D4 `keyid` is an unauthenticated hint. It selects the key to try, and that key's own id must equal it.
 */

import { fromBase64, fromBase64Url, toBase64 } from "./bytes.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";
import { err, ok, type Result } from "./result.ts";
import { type PrivateKey, type PublicKey, sign, type Verify, verify } from "./sign.ts";

export interface Envelope {
  readonly payloadType: string;
  readonly payload: Uint8Array;
  readonly signatures: readonly { readonly keyid: string; readonly sig: Uint8Array }[];
}

export const ENVELOPE_FAULTS = [
  "malformed_envelope",
  "wrong_payload_type",
  "signature_count",
  "unknown_key",
  "bad_signature",
] as const;
export type EnvelopeFault = (typeof ENVELOPE_FAULTS)[number];

/** Signatures on one envelope at most; more is refused before any is checked. */
const MAX_SIGNATURES = 16;

/** The pre-authentication encoding: lengths are in bytes, not in UTF-16 units. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const length = Buffer.byteLength(payloadType, "utf8");
  const head = `DSSEv1 ${length} ${payloadType} ${payload.byteLength} `;
  return Buffer.concat([Buffer.from(head, "utf8"), payload]);
}

export function signEnvelope(
  payloadType: string,
  payload: Uint8Array,
  keys: readonly PrivateKey[],
): Envelope {
  const message = preAuthEncoding(payloadType, payload);
  return {
    payloadType,
    payload,
    signatures: keys.map((key) => ({ keyid: key.publicKey.id, sig: sign(key, message) })),
  };
}

export function envelopeToJson(envelope: Envelope): JsonValue {
  return {
    payload: toBase64(envelope.payload),
    payloadType: envelope.payloadType,
    signatures: envelope.signatures.map(({ keyid, sig }) => ({ keyid, sig: toBase64(sig) })),
  };
}

/** Reads the shape only; nothing is verified yet. Either base64 alphabet is accepted, each only in canonical form. */
export function readEnvelope(json: JsonValue): Result<Envelope, "malformed_envelope"> {
  const fields = members(json, ["payload", "payloadType", "signatures"]);
  if (fields === undefined) return err("malformed_envelope");
  const { payload, payloadType, signatures } = fields;
  const bytes = bytesOf(payload);
  if (bytes === undefined || typeof payloadType !== "string") return err("malformed_envelope");
  if (!isJsonArray(signatures)) return err("malformed_envelope");
  if (signatures.length === 0 || signatures.length > MAX_SIGNATURES)
    return err("malformed_envelope");
  const read: { keyid: string; sig: Uint8Array }[] = [];
  for (const signature of signatures) {
    const entry = members(signature, ["keyid", "sig"]);
    const sig = bytesOf(entry?.["sig"]);
    const keyid = entry?.["keyid"];
    if (sig === undefined || typeof keyid !== "string") return err("malformed_envelope");
    read.push({ keyid, sig });
  }
  return ok({ payloadType, payload: bytes, signatures: read });
}

/**
 * The payload of an envelope that carries exactly one signature, by a key that `find` knows. The bytes are those that
 * were verified; parse these and no others. `check` is `verify`, or what has asked it before.
 */
export function openEnvelope(
  envelope: Envelope,
  payloadType: string,
  find: (keyid: string) => PublicKey | undefined,
  check: Verify = verify,
): Result<{ readonly payload: Uint8Array; readonly key: PublicKey }, EnvelopeFault> {
  if (envelope.signatures.length !== 1) return err("signature_count");
  const opened = openEnvelopeByAll(envelope, payloadType, find, check);
  if (!opened.ok) return opened;
  const key = opened.value.keys[0];
  return key === undefined ? err("signature_count") : ok({ payload: opened.value.payload, key });
}

/** As `openEnvelope`, for documents signed by several keys: every signature present must verify, by distinct keys. */
export function openEnvelopeByAll(
  envelope: Envelope,
  payloadType: string,
  find: (keyid: string) => PublicKey | undefined,
  check: Verify = verify,
): Result<{ readonly payload: Uint8Array; readonly keys: readonly PublicKey[] }, EnvelopeFault> {
  if (envelope.payloadType !== payloadType) return err("wrong_payload_type");
  const message = preAuthEncoding(payloadType, envelope.payload);
  const keys: PublicKey[] = [];
  for (const { keyid, sig } of envelope.signatures) {
    const key = find(keyid);
    if (key === undefined || key.id !== keyid) return err("unknown_key");
    if (keys.some((other) => other.id === key.id)) return err("signature_count");
    if (!check(key, message, sig)) return err("bad_signature");
    keys.push(key);
  }
  return ok({ payload: envelope.payload, keys });
}

function bytesOf(text: JsonValue | undefined): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  return fromBase64(text) ?? fromBase64Url(text);
}

function members(json: JsonValue, names: readonly string[]): JsonObject | undefined {
  if (!isJsonObject(json) || Object.keys(json).length !== names.length) return undefined;
  return names.every((name) => Object.hasOwn(json, name)) ? json : undefined;
}
