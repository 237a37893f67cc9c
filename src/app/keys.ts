/**
 * Keys and the trust store that says what they are good for, as the owner of a host makes them.
 *
 * - K1 A public key is checked in full before it is enrolled, not only its form.
 * - K2 A trust store is only ever followed by its next version, and what was made is opened again before it is given
 *   away: what no host would take is no result.
 */
import { fromBase64Url, toBase64Url } from "../base/bytes.ts";
import { enrolPublicKey } from "../base/enrol.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import type { PrivateKey, PublicKey } from "../base/sign.ts";
import { type TrustDocument, type TrustedKey, trustSchema } from "../model/trust.ts";
import { openTrust, signTrust, type TrustFault } from "../trust/trust-store.ts";

export { generateKey, LEAST_PASSPHRASE, loadKey } from "./key-file.ts";

/** What people hand around: the 32 bytes in base64url, without padding. */
export function publicKeyText(key: PrivateKey | PublicKey): string {
  return toBase64Url("publicKey" in key ? key.publicKey.raw : key.raw);
}

/** @throws RoteError `bad_key` for anything that is not the text of a key that may be trusted */
export function readPublicKey(text: string): PublicKey {
  const raw = fromBase64Url(text);
  if (raw === undefined) throw new RoteError("bad_key", "A public key is 43 letters of base64url.");
  return enrolPublicKey(raw);
}

export interface NewTrust {
  /** Origin of the journal: the host that it is for. */
  readonly audience: string;
  /** Public keys that may sign later versions, and how many of them must. */
  readonly root: { readonly threshold: number; readonly keys: readonly string[] };
  /** Seconds since 1970 UTC. */
  readonly issued: number;
  readonly expires: number;
}

/**
 * The first version of a trust store, with nothing in it but its root.
 *
 * @throws RoteError `bad_key`, `trust_refused`
 */
export function newTrust(made: NewTrust, roots: readonly PrivateKey[]): JsonValue {
  const keys = made.root.keys.map((text) => publicKeyText(readPublicKey(text)));
  const root = { threshold: made.root.threshold, keys };
  const { audience, issued, expires } = made;
  const document = { type: "rote-trust/v1", audience, version: 1, issued, expires, root, keys: [] };
  return signed(document, roots, undefined);
}

export interface TrustChange {
  /** Seconds since 1970 UTC. */
  readonly issued: number;
  /** Default: as the version before. */
  readonly expires?: number;
}

/**
 * The next version of a trust store, with one key more.
 *
 * @throws RoteError `bad_key`, `trust_refused` with the fault as `data.fault`
 */
export function enrolKey(
  trust: JsonValue,
  key: Omit<TrustedKey, "revoked">,
  change: TrustChange,
  roots: readonly PrivateKey[],
): JsonValue {
  const entry = { ...key, public: publicKeyText(readPublicKey(key.public)) };
  return nextVersion(trust, change, roots, (keys) => [...keys, entry]);
}

/**
 * The next version of a trust store, in which a key is revoked. It stays listed: what it signed before must stay
 * checkable.
 *
 * @throws RoteError `unknown_key`, `trust_refused` with the fault as `data.fault`
 */
export function revokeKey(
  trust: JsonValue,
  publicText: string,
  revoked: NonNullable<TrustedKey["revoked"]>,
  change: TrustChange,
  roots: readonly PrivateKey[],
): JsonValue {
  return nextVersion(trust, change, roots, (keys) => {
    if (!keys.some((entry) => entry.public === publicText)) {
      throw new RoteError("unknown_key", "The trust store does not list this key.");
    }
    return keys.map((entry) => (entry.public === publicText ? { ...entry, revoked } : entry));
  });
}

function nextVersion(
  trust: JsonValue,
  { issued, expires }: TrustChange,
  roots: readonly PrivateKey[],
  change: (keys: readonly TrustedKey[]) => readonly TrustedKey[],
): JsonValue {
  const before = openTrust(admitted(trust));
  if (!before.ok) throw refused(before.error);
  const { document } = before.value;
  const next = {
    ...document,
    version: document.version + 1,
    issued,
    expires: expires ?? document.expires,
    keys: change(document.keys),
  };
  return signed(next, roots, before.value);
}

function signed(
  document: object,
  roots: readonly PrivateKey[],
  before: Parameters<typeof openTrust>[1],
): JsonValue {
  const parsed = trustSchema.safeParse(document);
  if (!parsed.success) throw refused("malformed_document");
  const envelope = signTrust(parsed.data satisfies TrustDocument, roots);
  const opened = openTrust(envelope, before);
  if (!opened.ok) throw refused(opened.error);
  return envelope;
}

function admitted(value: unknown): JsonValue {
  const read = admitJson(value);
  if (read.ok) return read.value;
  throw refused("malformed_envelope");
}

function refused(fault: TrustFault): RoteError {
  return new RoteError("trust_refused", `The trust store is refused: ${fault}.`, { fault });
}
