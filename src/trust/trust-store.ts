/**
 * Whom this host believes, for what, and when.
 *
 * T1 One key has one role. A key listed twice, or a root's key with another role, refuses the store.
 * T2 A new version counts one up and is signed by the threshold of the old root and of its own; going back is refused.
 * T3 Keys never leave the store, nor change holder or role, and no revocation is taken back: signatures of retired keys
 *    must stay checkable. Validity and revocation say when.
 * T4 For new operations any revocation refuses, whatever its date.
 */

import { fromBase64Url } from "../base/bytes.ts";
import type { Digest } from "../base/digest.ts";
import { readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { type KeyId, type PrivateKey, type PublicKey, publicKey } from "../base/sign.ts";
import {
  PAYLOAD_TYPES,
  type Role,
  type TrustDocument,
  type TrustedKey,
  trustSchema,
} from "../model/trust.ts";
import { type DocumentFault, openDocument, readDocument, signDocument } from "./signed-document.ts";

export type TrustFault =
  | DocumentFault
  | "bad_key"
  | "repeated_key"
  | "key_removed"
  | "key_changed"
  | "threshold_not_met"
  | "wrong_version"
  | "wrong_audience";

export type KeyFault = "unknown_key" | "wrong_role" | "not_yet_valid" | "expired" | "revoked";

export interface TrustStore {
  readonly document: TrustDocument;
  readonly digest: Digest;
  /** The key with this id, whatever its role; undefined when the store does not list it. */
  key(id: string): { readonly key: PublicKey; readonly entry: TrustedKey } | undefined;
  /** Judges a key for use now, in one role. */
  usable(id: string, role: Role, now: number): Result<TrustedKey, KeyFault>;
  /** True when the whole store is past its date: nothing new is admitted, old records stay checkable. */
  expired(now: number): boolean;
}

export function signTrust(document: TrustDocument, roots: readonly PrivateKey[]): JsonValue {
  return signDocument(PAYLOAD_TYPES.trust, trustSchema, document, roots);
}

/**
 * Opens a trust store. Without `previous` its own root vouches for it: the caller got the file, or its digest, from a
 * place it trusts. With `previous` it must be that store's next version, signed by both roots.
 */
export function openTrust(
  envelope: JsonValue,
  previous?: TrustStore,
): Result<TrustStore, TrustFault> {
  const shape = readEnvelope(envelope);
  if (!shape.ok) return shape;
  const claimed = readDocument(shape.value.payload, trustSchema);
  if (!claimed.ok) return claimed;
  const roots = keysOf(claimed.value.root.keys);
  if (!roots.ok) return roots;
  const before = previous === undefined ? roots : keysOf(previous.document.root.keys);
  if (!before.ok) return before;
  const all = new Map([...roots.value, ...before.value]);
  const opened = openDocument(envelope, PAYLOAD_TYPES.trust, trustSchema, (id) => all.get(id));
  if (!opened.ok) return opened;
  const { document, keys: signers, digest } = opened.value;
  const signed = (root: Keys, threshold: number) =>
    signers.filter(({ id }) => root.has(id)).length >= threshold;
  if (!signed(roots.value, document.root.threshold)) return err("threshold_not_met");
  const entries = entriesOf(document, all);
  if (!entries.ok) return entries;
  if (previous !== undefined) {
    // First, since it says most: another host's store has another root and its own versions as well.
    if (document.audience !== previous.document.audience) return err("wrong_audience");
    if (!signed(before.value, previous.document.root.threshold)) return err("threshold_not_met");
    if (document.version !== previous.document.version + 1) return err("wrong_version");
    const fault = lossAgainst(previous.document, document);
    if (fault !== undefined) return err(fault);
  }
  return ok(trustStore(document, digest, entries.value));
}

type Keys = ReadonlyMap<string, PublicKey>;
type Entries = ReadonlyMap<string, { readonly key: PublicKey; readonly entry: TrustedKey }>;

/** What the version before said of a key must stay said. */
function lossAgainst(before: TrustDocument, after: TrustDocument): TrustFault | undefined {
  const now = new Map(after.keys.map((entry) => [entry.public, entry]));
  for (const old of before.keys) {
    const entry = now.get(old.public);
    if (entry === undefined) return "key_removed";
    if (entry.name !== old.name || entry.role !== old.role) return "key_changed";
    if (old.revoked === undefined) continue;
    if (entry.revoked === undefined || entry.revoked.at > old.revoked.at) return "key_changed";
  }
  return undefined;
}

function entriesOf(document: TrustDocument, roots: Keys): Result<Entries, TrustFault> {
  const entries = new Map<string, { key: PublicKey; entry: TrustedKey }>();
  for (const entry of document.keys) {
    const key = keyOf(entry.public);
    if (key === undefined) return err("bad_key");
    if (entries.has(key.id) || roots.has(key.id)) return err("repeated_key");
    entries.set(key.id, { key, entry });
  }
  return ok(entries);
}

function trustStore(document: TrustDocument, digest: Digest, entries: Entries): TrustStore {
  return {
    document,
    digest,
    key: (id) => entries.get(id),
    usable(id, role, now) {
      const found = entries.get(id);
      if (found === undefined) return err("unknown_key");
      const { entry } = found;
      if (entry.role !== role) return err("wrong_role");
      if (entry.revoked !== undefined) return err("revoked");
      if (now < entry.valid_from) return err("not_yet_valid");
      if (now >= entry.valid_to) return err("expired");
      return ok(entry);
    },
    expired: (now) => now >= document.expires,
  };
}

function keysOf(texts: readonly string[]): Result<Keys, "bad_key" | "repeated_key"> {
  const keys = new Map<KeyId, PublicKey>();
  for (const text of texts) {
    const key = keyOf(text);
    if (key === undefined) return err("bad_key");
    if (keys.has(key.id)) return err("repeated_key");
    keys.set(key.id, key);
  }
  return ok(keys);
}

/** Loading repeats the cheap half of the key check only; the costly half was done when the key was enrolled. */
function keyOf(text: string): PublicKey | undefined {
  const raw = fromBase64Url(text);
  if (raw === undefined) return undefined;
  try {
    return publicKey(raw);
  } catch (error) {
    if (error instanceof RoteError) return undefined;
    throw error;
  }
}
