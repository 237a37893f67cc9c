/**
 * The trust store of a host: the one that its owner supplies, recorded in the journal, and from then on whichever later
 * one any process records there.
 *
 * Going back is refused, in the transaction that would record it. A host that runs while another process records a later
 * version takes that over before it judges the next signature; until it can, it admits nothing.
 */
import type { Digest } from "../base/digest.ts";
import { envelopeToJson, readEnvelope } from "../base/dsse.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { type Body, keep, kept, TRUST_COUNTER } from "../host/index.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import type { Journal } from "../ports/journal.ts";
import { envelopeDigest } from "../trust/signed-document.ts";
import { trustRefused } from "../trust/trust-refused.ts";
import { openTrust, type TrustFault, type TrustStore } from "../trust/trust-store.ts";

/** @throws RoteError `trust_refused` with the fault as `data.fault` */
export async function adoptTrust(journal: Journal, given: unknown): Promise<() => TrustStore> {
  const read = admitJson(given, { numbers: "finite" });
  if (!read.ok) throw trustRefused("malformed_envelope");
  const current = versions(journal).at(-1);
  // A version with a new root carries a signature of the old one: only after that one can it be opened.
  const same = current !== undefined && digestOfEnvelope(read.value) === current.digest;
  let trust = same ? current : opened(openTrust(read.value, current));
  if (trust.document.audience !== journal.origin) throw trustRefused("wrong_audience");
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
  if (!read.ok) throw trustRefused("malformed_envelope");
  const digest = digestOfEnvelope(read.value);
  const known = versions(journal).find((store) => store.digest === digest);
  if (known === undefined) return adoptTrust(journal, read.value);
  if (known.document.audience !== journal.origin) throw trustRefused("wrong_audience");
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
  const known = journal.total(ENTRY_COUNTER);
  const first = { chain: HOST_CHAIN, type: "host_opened", body: { audience } } as const;
  const plain = { version, digest, before: known === 0n ? null : Number(known) - 1 };
  const { body, blobs } = keep(plain, "envelope", envelope);
  const entry = { chain: HOST_CHAIN, type: "trust", body } as const;
  const entries = before === undefined ? [first, entry] : [entry];
  const end = BigInt(journal.length(HOST_CHAIN) + entries.length);
  const appended = await journal.append({
    lease: null,
    entries,
    count: [
      // Whoever recorded another next version in between has moved the total on.
      {
        counter: TRUST_COUNTER,
        add: BigInt(version - (before?.document.version ?? 0)),
        limit: BigInt(version),
      },
      { counter: ENTRY_COUNTER, add: end - known, limit: null },
    ],
    blobs,
  });
  if (!appended.ok) throw trustRefused("wrong_version");
}

/** One more than the place, on the host's chain, of the last entry of a trust store: a hint, since others write there. */
const ENTRY_COUNTER = "trust/entry";

/** Follows the recorded versions as far as they can be followed. */
function latest(journal: Journal, trust: TrustStore): TrustStore {
  const { version } = trust.document;
  if (journal.total(TRUST_COUNTER) <= BigInt(version)) return trust;
  let store = trust;
  for (const envelope of recordedAfter(journal, version)) {
    const next = openTrust(envelope, store);
    if (!next.ok) break;
    store = next.value;
  }
  return store;
}

/** The versions on record, each opened after the one before it. */
function versions(journal: Journal): readonly TrustStore[] {
  const stores: TrustStore[] = [];
  for (const envelope of recordedAfter(journal, 0)) {
    stores.push(opened(openTrust(envelope, stores.at(-1))));
  }
  return stores;
}

/** The recorded stores above a version, oldest first: from entry to entry, and not through all that lies between. */
function recordedAfter(journal: Journal, version: number): readonly JsonValue[] {
  const bodies: Body[] = [];
  for (let at = Number(journal.total(ENTRY_COUNTER)) - 1; at >= 0; ) {
    const [one] = journal.read(HOST_CHAIN, at, 1);
    if (one?.entry.type !== "trust") return scanned(journal, version);
    const body = one.entry.body as Body;
    if (Number(body["version"]) <= version) break;
    bodies.push(body);
    const before = body["before"];
    at = typeof before === "number" && before < at ? before : -1;
  }
  return bodies.reverse().map((body) => kept(journal, body, "envelope") ?? null);
}

function scanned(journal: Journal, version: number): readonly JsonValue[] {
  return journal.read(HOST_CHAIN).flatMap(({ entry }) => {
    const body = entry.body as Body;
    if (entry.type !== "trust" || Number(body["version"]) <= version) return [];
    return [kept(journal, body, "envelope") ?? null];
  });
}

/** In the one spelling that digests of envelopes are made of. */
function digestOfEnvelope(envelope: JsonValue): Digest | undefined {
  const shape = readEnvelope(envelope);
  return shape.ok ? envelopeDigest(envelopeToJson(shape.value)) : undefined;
}

function opened<T>(result: { ok: true; value: T } | { ok: false; error: TrustFault }): T {
  if (result.ok) return result.value;
  throw trustRefused(result.error);
}
