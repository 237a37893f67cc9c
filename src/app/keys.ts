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
import { type KeyId, type PrivateKey, type PublicKey, publicKey } from "../base/sign.ts";
import { shortened } from "../base/text.ts";
import { type TrustDocument, type TrustedKey, trustSchema } from "../model/trust.ts";
import { trustRefused } from "../trust/trust-refused.ts";
import { openTrust, signTrust, type TrustStore } from "../trust/trust-store.ts";

export { generateKey, loadKey } from "./key-file.ts";

/** What people hand around: the 32 bytes in base64url, without padding. */
export function publicKeyText(key: PrivateKey | PublicKey): string {
  return toBase64Url("publicKey" in key ? key.publicKey.raw : key.raw);
}

/** @throws RoteError `bad_key` for anything that is not the text of a key that may be trusted */
export function readPublicKey(text: string): PublicKey {
  return enrolPublicKey(rawOf(text));
}

function rawOf(text: string): Uint8Array {
  const raw = fromBase64Url(text);
  if (raw === undefined) {
    const shown = JSON.stringify(shortened(text, 64));
    throw new RoteError("bad_key", `${shown} is no public key: that is 43 letters of base64url.`);
  }
  return raw;
}

export interface NewTrust {
  /** Origin of the journal: the host that it is for. */
  readonly audience: string;
  /** Public keys that may sign later versions, and how many of them must. */
  readonly root: { readonly threshold: number; readonly keys: readonly string[] };
  /** Seconds since 1970 UTC. */
  readonly issued: number;
  readonly expires: number;
  /** Keys to list from the start. Default none. */
  readonly add?: readonly NewKey[];
}

/** A key with its holder, its one role and the time in which it is good. */
export type NewKey = Omit<TrustedKey, "revoked">;

/**
 * The first version of a trust store.
 *
 * @throws RoteError `bad_key`, `trust_refused`
 */
export function newTrust(made: NewTrust, roots: readonly PrivateKey[]): JsonValue {
  const { audience, issued, expires, add = [] } = made;
  const root = { threshold: made.root.threshold, keys: made.root.keys.map(checkedText) };
  const keys = add.map(checkedKey);
  const document = { type: "rote-trust/v1", audience, version: 1, issued, expires, root, keys };
  return signed(document, roots, undefined);
}

export interface TrustChange {
  /** Seconds since 1970 UTC. */
  readonly issued: number;
  /** Default: as the version before. */
  readonly expires?: number;
}

/** What the next version says otherwise: several things at once, since hosts follow one version at a time. */
export interface TrustEdit extends TrustChange {
  readonly add?: readonly NewKey[];
  /** A listed key, by its text, that is good until then and no longer. */
  readonly end?: { readonly public: string; readonly at: number };
  readonly revoke?: {
    readonly public: string;
    readonly revoked: NonNullable<TrustedKey["revoked"]>;
  };
  /**
   * Keys of the root. Change it in two versions, with the new key beside the old one in between: each then opens by
   * itself, since all who signed it are in its own root.
   */
  readonly root?: readonly string[];
}

/**
 * The next version of a trust store.
 *
 * @throws RoteError `bad_key` `unknown_key`, `trust_refused` with the fault as `data.fault`
 */
export function changeTrust(
  trust: JsonValue,
  { issued, expires, add = [], end, revoke, root }: TrustEdit,
  roots: readonly PrivateKey[],
): JsonValue {
  const before = readTrust(trust);
  const { document } = before;
  let keys: readonly TrustedKey[] = document.keys;
  if (end !== undefined) {
    keys = changed(keys, end.public, (entry) => ({ ...entry, valid_to: end.at }));
  }
  if (revoke !== undefined) {
    keys = changed(keys, revoke.public, (entry) => ({ ...entry, revoked: revoke.revoked }));
  }
  const next = {
    ...document,
    version: document.version + 1,
    issued,
    expires: expires ?? document.expires,
    root: root === undefined ? document.root : { ...document.root, keys: root.map(checkedText) },
    keys: [...keys, ...add.map(checkedKey)],
  };
  return signed(next, roots, before);
}

/**
 * The next version of a trust store, with one key more.
 *
 * @throws RoteError `bad_key`, `trust_refused` with the fault as `data.fault`
 */
export function enrolKey(
  trust: JsonValue,
  key: NewKey,
  change: TrustChange,
  roots: readonly PrivateKey[],
): JsonValue {
  return changeTrust(trust, { ...change, add: [key] }, roots);
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
  return changeTrust(trust, { ...change, revoke: { public: publicText, revoked } }, roots);
}

/** A trust store that its own root vouches for. @throws RoteError `trust_refused` with the fault as `data.fault` */
export function readTrust(trust: JsonValue): TrustStore {
  const opened = openTrust(admitted(trust));
  if (opened.ok) return opened.value;
  throw trustRefused(opened.error);
}

/** `sha256:` and 64 hex digits, as it stands beside signatures. @throws RoteError `bad_key` */
export function keyIdOf(text: string): KeyId {
  return publicKey(rawOf(text)).id;
}

function checkedText(text: string): string {
  return publicKeyText(readPublicKey(text));
}

function checkedKey(key: NewKey): TrustedKey {
  return { ...key, public: checkedText(key.public) };
}

function changed(
  keys: readonly TrustedKey[],
  text: string,
  change: (entry: TrustedKey) => TrustedKey,
): readonly TrustedKey[] {
  if (!keys.some((entry) => entry.public === text)) {
    throw new RoteError("unknown_key", "The trust store does not list this key.", { key: text });
  }
  return keys.map((entry) => (entry.public === text ? change(entry) : entry));
}

function signed(
  document: object,
  roots: readonly PrivateKey[],
  before: TrustStore | undefined,
): JsonValue {
  const parsed = trustSchema.safeParse(document);
  if (!parsed.success) throw trustRefused("malformed_document");
  const envelope = signTrust(parsed.data satisfies TrustDocument, roots);
  const opened = openTrust(envelope, before);
  if (!opened.ok) throw trustRefused(opened.error);
  return envelope;
}

function admitted(value: unknown): JsonValue {
  const read = admitJson(value);
  if (read.ok) return read.value;
  throw trustRefused("malformed_envelope");
}
