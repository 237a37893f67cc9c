/**
 * Versions of a trust store, made by its owner: several changes in one version, since hosts follow one version at a
 * time.
 *
 * What was made is opened again before it is given away: what no host would take is no result.
 */

import { fromBase64Url } from "../base/bytes.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { type PrivateKey, publicKey } from "../base/sign.ts";
import { type TrustDocument, type TrustedKey, trustSchema } from "../model/trust.ts";
import { systemClock } from "../os/clock.ts";
import { openTrust, signTrust, type TrustStore } from "../trust/trust-store.ts";
import { publicKeyText, readPublicKey } from "./keys.ts";

/** The time that changes of a trust store are dated with, in seconds since 1970 UTC. */
export function secondsNow(): number {
  return Math.floor(systemClock.wallMs() / 1000);
}

export interface TrustEdit {
  /** Seconds since 1970 UTC. */
  readonly issued: number;
  /** Default: as the version before. */
  readonly expires?: number;
  /** Keys to list. Each is checked in full. */
  readonly add?: readonly Omit<TrustedKey, "revoked">[];
  /** Keys that are good until then and no longer, by their text. */
  readonly end?: { readonly public: string; readonly at: number };
  readonly revoke?: {
    readonly public: string;
    readonly revoked: NonNullable<TrustedKey["revoked"]>;
  };
  /** A root key in the place of another, by their texts. Both sign. */
  readonly replaceRoot?: { readonly old: string; readonly new: string };
}

export interface FirstTrust {
  /** Name of the journal: the host that it is for. */
  readonly audience: string;
  /** Root keys that must sign later versions. */
  readonly threshold: number;
}

/**
 * The first version, with the keys of `roots` as its root.
 *
 * @throws RoteError `bad_key`, `trust_refused` with the fault as `data.fault`
 */
export function firstTrust(
  { audience, threshold }: FirstTrust,
  { issued, expires, add = [] }: TrustEdit & { readonly expires: number },
  roots: readonly PrivateKey[],
): JsonValue {
  const root = { threshold, keys: roots.map((key) => publicKeyText(key)) };
  const keys = add.map(checked);
  const document = { type: "rote-trust/v1", audience, version: 1, issued, expires, root, keys };
  return signed(document, roots, undefined);
}

/**
 * The next version of a trust store.
 *
 * @throws RoteError `bad_key` `unknown_key`, `trust_refused` with the fault as `data.fault`
 */
export function nextTrust(
  trust: JsonValue,
  { issued, expires, add = [], end, revoke, replaceRoot }: TrustEdit,
  roots: readonly PrivateKey[],
): JsonValue {
  const before = storeIn(trust);
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
    root: replaceRoot === undefined ? document.root : replaced(document.root, replaceRoot),
    keys: [...keys, ...add.map(checked)],
  };
  return signed(next, roots, before);
}

/** @throws RoteError `trust_refused` with the fault as `data.fault` */
export function storeIn(trust: JsonValue): TrustStore {
  const read = admitJson(trust);
  const opened = read.ok ? openTrust(read.value) : undefined;
  if (opened?.ok === true) return opened.value;
  throw refused(opened === undefined ? "malformed_envelope" : opened.error);
}

/** The text of a listed or root key by its text or its id. @throws RoteError `unknown_key` */
export function listedKey({ document }: TrustStore, named: string): string {
  const texts = [...document.keys.map((entry) => entry.public), ...document.root.keys];
  const found = texts.find((text) => text === named || idOf(text) === named);
  if (found !== undefined) return found;
  throw unknown(named);
}

/** `sha256:` and 64 hex digits, as it stands beside signatures. */
export function idOf(text: string): string {
  const raw = fromBase64Url(text);
  return raw === undefined ? "" : publicKey(raw).id;
}

function checked(key: Omit<TrustedKey, "revoked">): TrustedKey {
  return { ...key, public: publicKeyText(readPublicKey(key.public)) };
}

function changed(
  keys: readonly TrustedKey[],
  text: string,
  change: (entry: TrustedKey) => TrustedKey,
): readonly TrustedKey[] {
  if (!keys.some((entry) => entry.public === text)) throw unknown(text);
  return keys.map((entry) => (entry.public === text ? change(entry) : entry));
}

function replaced(
  root: TrustDocument["root"],
  change: { readonly old: string; readonly new: string },
): TrustDocument["root"] {
  if (!root.keys.includes(change.old)) throw unknown(change.old);
  const fresh = publicKeyText(readPublicKey(change.new));
  return { ...root, keys: root.keys.map((text) => (text === change.old ? fresh : text)) };
}

function signed(
  document: unknown,
  roots: readonly PrivateKey[],
  before: TrustStore | undefined,
): JsonValue {
  const parsed = trustSchema.safeParse(document);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    throw refused("malformed_document", `${first?.path.join("/") ?? ""}: ${first?.message ?? ""}`);
  }
  const envelope = signTrust(parsed.data, roots);
  const opened = openTrust(envelope, before);
  if (!opened.ok) throw refused(opened.error);
  return envelope;
}

function unknown(named: string): RoteError {
  return new RoteError("unknown_key", `The trust store does not list the key ${named}.`, {
    key: named,
  });
}

function refused(fault: string, what?: string): RoteError {
  const more = what === undefined ? "" : `, ${what}`;
  return new RoteError("trust_refused", `The trust store is refused: ${fault}${more}.`, { fault });
}
