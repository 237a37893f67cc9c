/**
 * The full check of a public key before it may be trusted. It costs about 2 ms, so it is done once per key, when the
 * key is enrolled; loading a trust store repeats only the cheap half (`publicKey`).
 */

import { createHash } from "node:crypto";
import { hashes, Point } from "@noble/ed25519";
import { RoteError } from "./error.ts";
import { type PublicKey, publicKey } from "./sign.ts";

hashes.sha512 = (message: Uint8Array) =>
  Uint8Array.from(createHash("sha512").update(message).digest());

/**
 * A public key whose bytes decode to a point of the prime-order group. Both are needed: the identity is free of
 * torsion, and a point with a torsion part would let its owner craft signatures on which verifiers disagree.
 *
 * @throws RoteError `bad_key`
 */
export function enrolPublicKey(raw: Uint8Array): PublicKey {
  const key = publicKey(raw);
  let point: Point;
  try {
    point = Point.fromBytes(raw, false);
  } catch (cause) {
    throw new RoteError(
      "bad_key",
      "The Ed25519 public key is not a point of the curve.",
      {},
      cause,
    );
  }
  if (point.isSmallOrder() || !point.isTorsionFree()) {
    throw new RoteError("bad_key", "The Ed25519 public key is not in the prime-order group.");
  }
  return key;
}
