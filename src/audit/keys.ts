/**
 * Whose signatures count, and where in the record.
 *
 * - K1 The auditor's own trust store decides. A version that the record brings along counts when it is one of the
 *   auditor's, follows from one by the rules of the store, or came before and was signed by the root that the auditor
 *   knows. Keys that documents carry beside themselves count for nothing.
 * - K2 A signature is judged by the version in force where it stands: a key that was retired later stays good there.
 * - K3 What is learned later counts backwards only as it says: a revocation from its `since_seq` on, else from its time.
 */
import { fromBase64Url } from "../base/bytes.ts";
import type { Digest } from "../base/digest.ts";
import { envelopeToJson, openEnvelopeByAll, readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { err, ok } from "../base/result.ts";
import { type PublicKey, publicKey } from "../base/sign.ts";
import { PAYLOAD_TYPES } from "../model/trust.ts";
import { envelopeDigest } from "../trust/signed-document.ts";
import { trustRefused } from "../trust/trust-refused.ts";
import { openTrust, type TrustStore } from "../trust/trust-store.ts";
import type { FindingCode } from "./finding-codes.ts";

type Report = (code: FindingCode, message: string) => void;

/** A version of the trust store as the record has it. */
interface Version {
  readonly digest: Digest;
  /** Undefined when nothing vouches for it. */
  readonly store: TrustStore | undefined;
}

interface Revocation {
  /** Log index from which on the key was not its holder's alone. */
  readonly since: number | null;
  /** Seconds since 1970 UTC. */
  readonly at: number;
}

export interface Keys {
  /** The journal that the auditor's trust store is for. */
  readonly origin: string;
  /** Takes note of the versions in the bundle's file, before any of them is in force. */
  learn(envelopes: readonly JsonValue[], report: (index: number) => Report): void;
  /** Puts the next version of the host's chain in force; `digest` is what the entry calls it. */
  adopt(envelope: JsonValue, digest: Digest, report: Report): void;
  /** Number of versions that the file lists and the chain did not adopt. */
  unadopted(): number;
  readonly adopted: number;
  /** The version in force, if anything vouches for it. */
  inForce(): TrustStore | undefined;
  /** The version in force, as a judge of signatures that were made at this log index. */
  at(index: number): TrustStore | undefined;
  /** How many revocations count there: where it is as many as before, a signature that counted still does. */
  revokedBy(index: number, seconds: number): number;
}

/**
 * The auditor's own trust store: one envelope, or a list of consecutive versions.
 *
 * @throws RoteError `trust_refused` with the fault as `data.fault`
 */
export function openOwnTrust(trust: JsonValue): readonly TrustStore[] {
  const envelopes = Array.isArray(trust) ? (trust as readonly JsonValue[]) : [trust];
  const stores: TrustStore[] = [];
  for (const envelope of envelopes) {
    const opened = openTrust(envelope, stores.at(-1));
    if (!opened.ok) throw trustRefused(opened.error);
    stores.push(opened.value);
  }
  if (stores.length > 0) return stores;
  const message = "The trust store is refused: the list is empty (empty).";
  throw new RoteError("trust_refused", message, { fault: "empty" });
}

export function createKeys(own: readonly TrustStore[]): Keys {
  const [first] = own;
  if (first === undefined) throw new TypeError("no trust store to judge by");
  const origin = first.document.audience;
  const listed: Version[] = [];
  const revocations = new Map<string, readonly Revocation[]>();
  let adopted = 0;
  let current: Version | undefined;
  for (const store of own) noteRevocations(store, revocations);

  function open(envelope: JsonValue, before: Version | undefined, report: Report): Version {
    const digest = digestOfEnvelope(envelope);
    const opened = openTrust(envelope, before?.store);
    if (!opened.ok) {
      report("trust_refused", `a version of the trust store is refused: ${opened.error}`);
      return { digest, store: undefined };
    }
    const store = opened.value;
    const fault = unvouched(store, envelope, before?.store, own);
    if (fault === undefined) {
      noteRevocations(store, revocations);
      return { digest, store };
    }
    report(fault.code, fault.message);
    return { digest, store: undefined };
  }

  return {
    origin,
    get adopted() {
      return adopted;
    },
    unadopted: () => Math.max(0, listed.length - adopted),
    inForce: () => current?.store,

    learn(envelopes, report) {
      envelopes.forEach((envelope, index) => {
        listed.push(open(envelope, listed.at(-1), report(index)));
      });
    },

    adopt(envelope, digest, report) {
      const expected = listed[adopted];
      const found = digestOfEnvelope(envelope);
      adopted += 1;
      if (found !== digest) {
        report("body_malformed", `the entry calls it ${digest}, and its digest is ${found}`);
      }
      if (expected?.digest === found) {
        current = expected;
        return;
      }
      const other = expected?.digest ?? "nothing";
      report("trust_unlisted", `the chain has ${found} where the bundle's file has ${other}`);
      current = open(envelope, current, report);
    },

    at(index) {
      const store = current?.store;
      if (store === undefined) return undefined;
      return {
        ...store,
        usable(id, role, now) {
          const usable = store.usable(id, role, now);
          if (!usable.ok) return usable;
          return isRevoked(revocations.get(id), index, now) ? err("revoked") : usable;
        },
      };
    },

    revokedBy(index, seconds) {
      let count = 0;
      for (const of of revocations.values()) {
        for (const each of of) if (isInEffect(each, index, seconds)) count += 1;
      }
      return count;
    },
  };
}

/** Where and when a signature was made, as far as it is known. */
export interface Occasion {
  /** Log index. */
  readonly index: number;
  /** Seconds since 1970 UTC. */
  readonly seconds: number;
  /** It was made then or some time later: a key that began later may have made it. */
  readonly orLater?: boolean;
}

/**
 * The newest of the auditor's versions as a judge of a signature that stands alone, without the record that says which
 * version was in force: keys never leave a trust store, and say from when to when they counted.
 */
export function judgeOf(
  own: readonly TrustStore[],
  { index, seconds, orLater = false }: Occasion,
): TrustStore {
  const store = own.at(-1);
  if (store === undefined) throw new TypeError("no trust store to judge by");
  const revocations = new Map<string, readonly Revocation[]>();
  for (const version of own) noteRevocations(version, revocations);
  return {
    ...store,
    usable(id, role) {
      const entry = store.key(id)?.entry;
      if (entry === undefined) return err("unknown_key");
      if (entry.role !== role) return err("wrong_role");
      if (isRevoked(revocations.get(id), index, seconds)) return err("revoked");
      if (seconds < entry.valid_from && !orLater) return err("not_yet_valid");
      return seconds >= entry.valid_to ? err("expired") : ok(entry);
    },
  };
}

function isRevoked(
  revocations: readonly Revocation[] | undefined,
  index: number,
  seconds: number,
): boolean {
  return (revocations ?? []).some((each) => isInEffect(each, index, seconds));
}

function isInEffect({ since, at }: Revocation, index: number, seconds: number): boolean {
  return since === null ? seconds >= at : index >= since;
}

function noteRevocations(store: TrustStore, revocations: Map<string, readonly Revocation[]>): void {
  for (const { public: text, revoked } of store.document.keys) {
    const key = revoked === undefined ? undefined : keyIn(text);
    if (revoked === undefined || key === undefined) continue;
    const { since_seq: since = null, at } = revoked;
    const known = revocations.get(key.id) ?? [];
    // Every later version repeats it.
    if (known.some((each) => each.since === since && each.at === at)) continue;
    revocations.set(key.id, [...known, { since, at }]);
  }
}

/** Why a version that is well-formed and follows from the one before it still counts for nothing. */
function unvouched(
  store: TrustStore,
  envelope: JsonValue,
  before: TrustStore | undefined,
  own: readonly TrustStore[],
): { readonly code: FindingCode; readonly message: string } | undefined {
  const { version, audience } = store.document;
  const [first] = own;
  if (audience !== first?.document.audience) {
    return {
      code: "other_host",
      message: `the trust store is for ${audience}, the auditor's for ${first?.document.audience}`,
    };
  }
  const same = own.find(({ document }) => document.version === version);
  if (same !== undefined) {
    if (same.digest === store.digest) return undefined;
    return {
      code: "trust_differs",
      message: `version ${version} is ${store.digest} here and ${same.digest} with the auditor`,
    };
  }
  const earlier = version < first.document.version;
  if (earlier ? isSignedBy(envelope, first) : before !== undefined) return undefined;
  const predecessor = own.find(({ document }) => document.version === version - 1);
  if (predecessor !== undefined && openTrust(envelope, predecessor).ok) return undefined;
  const known = own.map(({ document }) => document.version).join(", ");
  return {
    code: "trust_unproven",
    message: `the auditor knows version ${known}, and nothing leads from there to version ${version}`,
  };
}

/** True when as many of the root's keys signed it as the root demands, and every signature verifies. */
function isSignedBy(envelope: JsonValue, { document }: TrustStore): boolean {
  const read = readEnvelope(envelope);
  if (!read.ok) return false;
  const roots = new Map(document.root.keys.flatMap((text) => entryOf(text)));
  const signatures = read.value.signatures.filter(({ keyid }) => roots.has(keyid));
  if (signatures.length < document.root.threshold) return false;
  const part = { ...read.value, signatures };
  return openEnvelopeByAll(part, PAYLOAD_TYPES.trust, (id) => roots.get(id)).ok;
}

function entryOf(text: string): readonly (readonly [string, PublicKey])[] {
  const key = keyIn(text);
  return key === undefined ? [] : [[key.id, key]];
}

function keyIn(text: string): PublicKey | undefined {
  const raw = fromBase64Url(text);
  return raw === undefined ? undefined : publicKey(raw);
}

/** In the one spelling that digests of envelopes are made of. */
function digestOfEnvelope(envelope: JsonValue): Digest {
  const read = readEnvelope(envelope);
  return envelopeDigest(read.ok ? envelopeToJson(read.value) : envelope);
}
