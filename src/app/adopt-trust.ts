/**
 * The trust store of a host: the one that its owner supplies, recorded in the journal, and from then on whichever later
 * one any process records there.
 *
 * Going back is refused, in the transaction that would record it. A host that runs while another process records a later
 * version takes that over before it judges the next signature; until it can, it admits nothing.
 */
import type { Digest } from "../base/digest.ts";
import { envelopeToJson, readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { type Body, keep, kept, TRUST_COUNTER } from "../host/index.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import type { Journal } from "../ports/journal.ts";
import { envelopeDigest } from "../trust/signed-document.ts";
import { openTrust, type TrustFault, type TrustStore } from "../trust/trust-store.ts";

/** @throws RoteError `trust_refused` with the fault as `data.fault` */
export async function adoptTrust(journal: Journal, given: unknown): Promise<() => TrustStore> {
  const read = admitJson(given, { numbers: "finite" });
  if (!read.ok) throw refused("malformed_envelope");
  const current = versions(journal).at(-1);
  // A version with a new root carries a signature of the old one: only after that one can it be opened.
  const same = current !== undefined && digestOfEnvelope(read.value) === current.digest;
  let trust = same ? current : opened(openTrust(read.value, current));
  if (trust.document.audience !== journal.origin) throw refused("wrong_audience");
  if (!same) await record(journal, trust, read.value, current);
  return () => {
    trust = latest(journal, trust);
    return trust;
  };
}

/**
 * The trust store of somebody who is not the host and has a copy from a place that he trusts: what the journal says
 * counts as far as it follows from that copy. A copy ahead of the journal is recorded there, as a host would.
 *
 * @throws RoteError `trust_refused` with the fault as `data.fault`
 */
export async function followTrust(journal: Journal, given: unknown): Promise<() => TrustStore> {
  const read = admitJson(given, { numbers: "finite" });
  if (!read.ok) throw refused("malformed_envelope");
  const digest = digestOfEnvelope(read.value);
  const known = versions(journal).find((store) => store.digest === digest);
  if (known === undefined) return adoptTrust(journal, read.value);
  if (known.document.audience !== journal.origin) throw refused("wrong_audience");
  let trust = known;
  return () => {
    trust = latest(journal, trust);
    return trust;
  };
}

async function record(
  journal: Journal,
  { document, digest }: TrustStore,
  envelope: JsonValue,
  before: TrustStore | undefined,
): Promise<void> {
  const { version, audience } = document;
  const first = { chain: HOST_CHAIN, type: "host_opened", body: { audience } } as const;
  const { body, blobs } = keep({ version, digest }, "envelope", envelope);
  const entry = { chain: HOST_CHAIN, type: "trust", body } as const;
  const add = BigInt(version - (before?.document.version ?? 0));
  const appended = await journal.append({
    lease: null,
    entries: before === undefined ? [first, entry] : [entry],
    // Whoever recorded another next version in between has moved the total on.
    count: [{ counter: TRUST_COUNTER, add, limit: BigInt(version) }],
    blobs,
  });
  if (!appended.ok) throw refused("wrong_version");
}

/** Follows the recorded versions as far as they can be followed. */
function latest(journal: Journal, trust: TrustStore): TrustStore {
  if (journal.total(TRUST_COUNTER) <= BigInt(trust.document.version)) return trust;
  let store = trust;
  for (const { entry } of journal.read(HOST_CHAIN)) {
    const body = entry.body as Body;
    if (entry.type !== "trust" || body["version"] !== store.document.version + 1) continue;
    const next = openTrust(kept(journal, body, "envelope") ?? null, store);
    if (!next.ok) break;
    store = next.value;
  }
  return store;
}

/** The versions on record, each opened after the one before it. */
function versions(journal: Journal): readonly TrustStore[] {
  const stores: TrustStore[] = [];
  for (const { entry } of journal.read(HOST_CHAIN)) {
    if (entry.type !== "trust") continue;
    const envelope = kept(journal, entry.body as Body, "envelope") ?? null;
    stores.push(opened(openTrust(envelope, stores.at(-1))));
  }
  return stores;
}

/** In the one spelling that digests of envelopes are made of. */
function digestOfEnvelope(envelope: JsonValue): Digest | undefined {
  const shape = readEnvelope(envelope);
  return shape.ok ? envelopeDigest(envelopeToJson(shape.value)) : undefined;
}

function opened<T>(result: { ok: true; value: T } | { ok: false; error: TrustFault }): T {
  if (result.ok) return result.value;
  throw refused(result.error);
}

function refused(fault: TrustFault): RoteError {
  return new RoteError("trust_refused", `The trust store is refused: ${fault}.`, { fault });
}
