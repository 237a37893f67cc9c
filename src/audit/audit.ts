/**
 * The audit of a record by somebody who was not there: offline, in one pass, in little memory.
 *
 * - A1 Nothing in the record is believed because it is there. Bytes are what chains, tree and digests say; documents are
 *   what their signatures say; signatures count by the auditor's own trust store, at their place.
 * - A2 It goes on behind what it finds, so that one fault does not hide another, and says how much it saw.
 * - A3 A finding of any kind, and nothing to look at, is not a clean record.
 * - A4 Of what is behind it, an audit remembers what may be named again: open runs and uncertain operations whole, and of
 *   each run that ended, blob that was named and effect that took its key sixteen bytes (`seen.ts`). For a run of three
 *   receipts behind one approval that is about 64 bytes a receipt.
 */

import type { JsonValue } from "../base/json.ts";
import { leafHash } from "../base/merkle.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import { BLOB_FOLDER, BUNDLE_FILES, type BundleSource } from "../ports/bundle.ts";
import { type Ahead, envelopeAhead } from "./ahead.ts";
import { createBlobs } from "./blobs.ts";
import type { Bodies } from "./bodies.ts";
import { createBudgets } from "./budgets.ts";
import { readCanonical } from "./canonical.ts";
import { createChains } from "./chains.ts";
import { type Context, type Placed, placeOf } from "./context.ts";
import { createCounts } from "./counts.ts";
import { createDocuments } from "./documents.ts";
import { createFindings, type Findings, inOrder } from "./finding.ts";
import type { FindingCode } from "./finding-codes.ts";
import { createHeads, rawHeadsOf } from "./heads.ts";
import { createHostChain } from "./host-chain.ts";
import { createJudge } from "./judgement.ts";
import { createKeys, openOwnTrust } from "./keys.ts";
import { linesOf, type Piece, wholeOf } from "./lines.ts";
import { MAX_LINE_BYTES, type ReadEntry, readEntry } from "./read-entry.ts";
import type { AuditReport } from "./report.ts";
import { createRuns, type Runs } from "./runs.ts";
import { createSeen } from "./seen.ts";

export interface AuditOptions {
  /** The auditor's own trust store, got from a place that it trusts: one envelope, or a list of consecutive versions. */
  readonly trust: JsonValue;
  /** Tree heads that were kept outside (`readOutsideHeads`): they alone show that the end was cut off. Default none. */
  readonly anchors?: readonly string[];
  /** Findings listed at most. Default 1,000. */
  readonly mostListed?: number;
  /** Called and waited for now and then, with how many entries were read; what it throws ends the audit. */
  readonly progress?: (entries: number) => void | Promise<void>;
}

/** Entries read between two words of progress. */
const PROGRESS_EVERY = 512;

const MAX_HEAD_LINE_BYTES = 4_096;
/** It is read whole. Eighty versions of a thousand keys each have about as much. */
const MAX_TRUST_BYTES = 32_000_000;

/** Entries that are read while those before them are judged, so that their signatures can be verified meanwhile. */
const READ_AHEAD = 32;

interface Fault {
  readonly code: FindingCode;
  readonly message: string;
}

/** An entry that was read and is not judged yet. */
interface Waiting {
  readonly leaf: Uint8Array;
  readonly length: number;
  readonly read: ReadEntry | undefined;
  /** Of its line. */
  readonly faults: readonly Fault[];
  readonly ahead?: Ahead;
}

/** @throws RoteError `trust_refused` when the auditor's own trust store is not one */
export async function auditBundle(
  source: BundleSource,
  options: AuditOptions,
): Promise<AuditReport> {
  const keys = createKeys(openOwnTrust(options.trust));
  const findings = createFindings(options.mostListed);
  const counts = createCounts();
  const blobs = createBlobs(source, findings, counts);
  const documents = createDocuments(blobs, findings);
  const context: Context = { keys, findings, counts, blobs, documents };
  const naturalKeys = createSeen();
  const budgets = createBudgets(context);
  const chains = createChains(findings);
  const host = createHostChain({
    context,
    budgets,
    naturalKeys,
    runs: () => runs,
    hasEnded: (run) => chains.hasEnded(run),
  });
  const judge = createJudge(context);
  const runs: Runs = createRuns(context, {
    judge,
    budgets,
    naturalKeys,
    onUncertain: (...args) => host.uncertain(...args),
  });

  await learnTrust(source, context);
  const notes = await source.read(BUNDLE_FILES.heads);
  if (notes === undefined) missing(findings, BUNDLE_FILES.heads);
  const raw = notes === undefined ? undefined : rawHeadsOf(linesOf(notes, MAX_HEAD_LINE_BYTES));
  const heads = createHeads(raw, options.anchors ?? [], keys, findings);

  function readAhead(piece: Piece): Waiting {
    const faults: Fault[] = [];
    const read = readEntry(piece, (code, message) => faults.push({ code, message }));
    const { bytes } = piece;
    const waiting = { leaf: leafHash(bytes), length: bytes.byteLength, read, faults };
    if (read?.fault !== null || read.entry.type !== "receipt") return waiting;
    const { envelope } = read.entry.body as JsonValue & Bodies["receipt"];
    const ahead = envelopeAhead(envelope, (id) => keys.inForce()?.key(id)?.key);
    return ahead === undefined ? waiting : { ...waiting, ahead };
  }

  async function take({ leaf, length, read, faults, ahead }: Waiting): Promise<void> {
    const index = counts.entries;
    counts.entries += 1;
    counts.bytes += length;
    const place = { file: BUNDLE_FILES.journal, index: [index, index] as const };
    for (const { code, message } of faults) {
      findings.add(code, { ...place, chain: null, seq: null }, message);
    }
    if (read === undefined) return void (await heads.add(leaf, false, 0));
    const { entry, hash, fault } = read;
    const seconds = Math.floor(entry.time / 1000);
    const placed: Placed = {
      entry,
      hash,
      index,
      seconds,
      ...(ahead === undefined ? {} : { ahead }),
    };
    if (fault !== null) findings.add(fault.code, placeOf(placed), fault.message);
    const follows = chains.follow(entry, hash, index);
    if (index === 0 && entry.chain !== HOST_CHAIN) {
      findings.add(
        "host_start",
        placeOf(placed),
        "the record does not begin with the host's chain",
      );
    }
    if (follows && fault === null) {
      await (entry.chain === HOST_CHAIN ? host.take(placed) : runs.take(placed));
    }
    const due = follows && entry.type === "run_ended";
    const met = heads.add(leaf, due, entry.time);
    if (met !== undefined) await met;
  }

  async function takeNext(waiting: Waiting): Promise<void> {
    await take(waiting);
    if (counts.entries % PROGRESS_EVERY === 0) await options.progress?.(counts.entries);
  }

  const journal = await source.read(BUNDLE_FILES.journal);
  if (journal === undefined) missing(findings, BUNDLE_FILES.journal);
  else {
    const waiting: Waiting[] = [];
    for await (const piece of linesOf(journal, MAX_LINE_BYTES)) {
      waiting.push(readAhead(piece));
      const first = waiting.length > READ_AHEAD ? waiting.shift() : undefined;
      if (first !== undefined) await takeNext(first);
    }
    for (const rest of waiting) await takeNext(rest);
  }
  await heads.finish();
  counts.heads = heads.good;
  const open = runs.open();
  counts.runs.open = open.runs;
  counts.admissions.open = open.admissions;
  judgeWhole(context);
  await judgeNames(source, context);
  const store = keys.inForce();
  return {
    type: "rote-audit/v1",
    clean: findings.counts.size === 0,
    origin: keys.origin,
    trust: store === undefined ? null : { version: store.document.version, digest: store.digest },
    counts,
    covered: heads.covered,
    anchors: heads.anchored,
    findings: inOrder(findings.list),
    omitted: findings.omitted,
    codes: Object.fromEntries(findings.counts),
  };
}

/** The versions in the bundle's file are looked at first: what was revoked later counts from the beginning. */
async function learnTrust(source: BundleSource, { keys, findings }: Context): Promise<void> {
  const file = BUNDLE_FILES.trust;
  const portions = await source.read(file);
  if (portions === undefined) return missing(findings, file);
  const place = { file, index: null, chain: null, seq: null };
  const bytes = await wholeOf(portions, MAX_TRUST_BYTES);
  if (bytes === undefined) {
    return findings.add("file_too_large", place, `it has more than ${MAX_TRUST_BYTES} bytes`);
  }
  const json = readCanonical(bytes);
  if (!json.ok || !Array.isArray(json.value)) {
    const message = json.ok ? "it is not a list of envelopes" : json.error.message;
    return findings.add("file_malformed", place, message);
  }
  keys.learn(json.value as readonly JsonValue[], (index) => (code, message) => {
    findings.add(code, { file, index: [index, index], chain: null, seq: null }, message);
  });
}

function judgeWhole({ keys, findings, counts }: Context): void {
  const nowhere = { index: null, chain: null, seq: null };
  const unadopted = keys.unadopted();
  if (unadopted > 0) {
    const place = { ...nowhere, file: BUNDLE_FILES.trust };
    findings.add("trust_unlisted", place, `the chain adopted ${unadopted} versions fewer`);
  }
  if (counts.runs.started === 0) {
    const place = { ...nowhere, file: BUNDLE_FILES.journal };
    const message = `there are ${counts.entries} entries and no run in the record`;
    findings.add("nothing_to_verify", place, message);
  }
}

/** Whatever else is there was verified by nothing. */
async function judgeNames(source: BundleSource, { findings, blobs }: Context): Promise<void> {
  const known: readonly string[] = Object.values(BUNDLE_FILES);
  for await (const name of source.names()) {
    const named = name.startsWith(BLOB_FOLDER) && blobs.isNamed(name.slice(BLOB_FOLDER.length));
    if (named || known.includes(name)) continue;
    const place = { file: name, index: null, chain: null, seq: null };
    findings.add("file_unknown", place, `nothing in the record names ${name}`);
  }
}

function missing(findings: Findings, file: string): void {
  findings.add(
    "file_missing",
    { file, index: null, chain: null, seq: null },
    `there is no ${file}`,
  );
}
