/**
 * Ed25519 (RFC 8032) with one rule for host, reviewer and auditor.
 *
 * S1 A key is exactly 32 bytes, its y is canonical (below 2^255 - 19), and it is none of the small-order encodings:
 *    under such a key one signature would fit every message.
 * S2 A signature is exactly 64 bytes, checked by the platform's cofactorless verifier, and its R is not of small order.
 * S3 A key object is always of type Ed25519: the platform's verifier would as readily take EC, RSA or Ed448 keys.
 *
 * The costly half of the key check (the point exists and lies in the prime-order group) is done once, at enrolment
 * (`enrol.ts`).
 */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signWith,
  verify as verifyWith,
} from "node:crypto";
import type { Brand } from "./brand.ts";
import { toHex } from "./bytes.ts";
import { RoteError } from "./error.ts";

/** `sha256:` and the hex SHA-256 of the key's SubjectPublicKeyInfo (DER). */
export type KeyId = Brand<"KeyId">;

export interface PublicKey {
  readonly id: KeyId;
  /** The 32 bytes of RFC 8032. */
  readonly raw: Uint8Array;
  readonly key: KeyObject;
}

export interface PrivateKey {
  readonly publicKey: PublicKey;
  readonly key: KeyObject;
}

const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** 2^255 - 19, little-endian, without the sign bit. */
const FIELD_PRIME = Buffer.from(`ed${"ff".repeat(30)}7f`, "hex");

/** The canonical encodings of the eight small-order points, and of the same y with the other sign. */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  `01${"00".repeat(31)}`,
  `01${"00".repeat(30)}80`,
  `ec${"ff".repeat(30)}7f`,
  `ec${"ff".repeat(31)}`,
  "00".repeat(32),
  `${"00".repeat(31)}80`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]);

/** Why 32 bytes cannot be a key, by the cheap half of the check; undefined when nothing speaks against them. */
export function encodingFault(raw: Uint8Array): string | undefined {
  if (raw.byteLength !== 32) return `is ${raw.byteLength} bytes long, expected 32`;
  if (!isBelowPrime(raw)) return "is not a canonical encoding";
  if (SMALL_ORDER.has(toHex(raw))) return "is of small order";
  return undefined;
}

function isBelowPrime(raw: Uint8Array): boolean {
  for (let at = 31; at >= 0; at--) {
    const limit = FIELD_PRIME[at] ?? 0;
    const byte = at === 31 ? (raw[at] ?? 0) & 0x7f : (raw[at] ?? 0);
    if (byte !== limit) return byte < limit;
  }
  return false;
}

/**
 * A public key from its 32 bytes, after the cheap half of the key check.
 *
 * @throws RoteError `bad_key`
 */
export function publicKey(raw: Uint8Array): PublicKey {
  const fault = encodingFault(raw);
  if (fault !== undefined) throw new RoteError("bad_key", `The Ed25519 public key ${fault}.`);
  const der = Buffer.concat([SPKI_PREFIX, raw]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return { id: keyIdOf(der), raw: Uint8Array.from(raw), key };
}

/**
 * A private key from its 32-byte seed (RFC 8032, 5.1.5).
 *
 * @throws RoteError `bad_key`
 */
export function privateKey(seed: Uint8Array): PrivateKey {
  if (seed.byteLength !== 32) {
    throw new RoteError("bad_key", `An Ed25519 seed has 32 bytes, not ${seed.byteLength}.`);
  }
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  return privateKeyOf(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
}

/**
 * A private key from a key object of the platform (as read from PKCS#8).
 *
 * @throws RoteError `bad_key` when it is of another type
 */
export function privateKeyOf(key: KeyObject): PrivateKey {
  if (key.type !== "private" || key.asymmetricKeyType !== "ed25519") {
    throw new RoteError(
      "bad_key",
      `Expected an Ed25519 private key, not ${key.asymmetricKeyType}.`,
    );
  }
  const der = createPublicKey(key).export({ format: "der", type: "spki" });
  return { publicKey: publicKey(der.subarray(SPKI_PREFIX.byteLength)), key };
}

/** 64 bytes over `message`. */
export function sign(key: PrivateKey, message: Uint8Array): Uint8Array {
  return signWith(null, message, key.key);
}

export type Verify = (key: PublicKey, message: Uint8Array, signature: Uint8Array) => boolean;

/** True only for a valid signature; anything malformed is false, never an exception. */
export const verify: Verify = (key, message, signature) => {
  if (isUnfit(signature)) return false;
  try {
    return verifyWith(null, message, key.key, signature);
  } catch {
    return false;
  }
};

/** `verify` on a thread of the platform's own, while this one goes on. Never rejects. */
export function verifyAside(
  key: PublicKey,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (isUnfit(signature)) return Promise.resolve(false);
  return new Promise((resolve) => {
    try {
      verifyWith(null, message, key.key, signature, (error, valid) =>
        resolve(error === null && valid),
      );
    } catch {
      resolve(false);
    }
  });
}

function isUnfit(signature: Uint8Array): boolean {
  return signature.byteLength !== 64 || SMALL_ORDER.has(toHex(signature.subarray(0, 32)));
}

function keyIdOf(spki: Uint8Array): KeyId {
  return `sha256:${createHash("sha256").update(spki).digest("hex")}` as KeyId;
}
