/**
 * Signatures whose turn comes soon, verified on other threads until then: verifying is half of an audit.
 *
 * A verdict is of one key, one message and one signature. It is given for exactly these; whatever else is asked is
 * verified when it is asked. So nothing depends on what was thought to come.
 */
import { sameBytes } from "../base/bytes.ts";
import { preAuthEncoding, readEnvelope } from "../base/dsse.ts";
import type { JsonValue } from "../base/json.ts";
import { type PublicKey, type Verify, verify, verifyAside } from "../base/sign.ts";

/** Resolves to `verify`, which knows one answer by then. */
export type Ahead = Promise<Verify>;

export function verifyAhead(key: PublicKey, message: Uint8Array, signature: Uint8Array): Ahead {
  return verifyAside(key, message, signature).then((valid): Verify => {
    return (otherKey, otherMessage, otherSignature) =>
      otherKey === key && sameBytes(otherMessage, message) && sameBytes(otherSignature, signature)
        ? valid
        : verify(otherKey, otherMessage, otherSignature);
  });
}

/** Of the first signature of an envelope; undefined where it has none, or none by a key that is known. */
export function envelopeAhead(
  json: JsonValue,
  find: (keyid: string) => PublicKey | undefined,
): Ahead | undefined {
  const read = readEnvelope(json);
  if (!read.ok) return undefined;
  const { payloadType, payload, signatures } = read.value;
  const [first] = signatures;
  const key = first === undefined ? undefined : find(first.keyid);
  if (first === undefined || key === undefined) return undefined;
  return verifyAhead(key, preAuthEncoding(payloadType, payload), first.sig);
}
