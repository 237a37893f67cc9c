/**
 * One receipt for somebody who wants no more: its envelope, the entry it stands in, and the proof that this entry is in
 * the log of a signed tree head.
 *
 * - V1 What the receipt is about is asked for, not taken from it: a valid receipt of something else is refused.
 * - V2 A proof counts only against the root of a signed head, and from the entry at hand.
 * - V3 It shows that the journal says so. What else the journal says (the admission, the approvals) is for an audit.
 */
import { fromBase64, sameBytes, toBase64 } from "../base/bytes.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { digestOf, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { inclusionProof, leafHash, verifyInclusion } from "../base/merkle.ts";
import { parseNote, parseTreeHead, type TreeHead } from "../base/note.ts";
import { TAGS } from "../base/tags.ts";
import type { RecordView } from "../ports/bundle.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import type { Bodies, Statement } from "./bodies.ts";
import { createFindings, type Finding } from "./finding.ts";
import type { FindingCode } from "./finding-codes.ts";
import { signatureFault } from "./heads.ts";
import { rawIn } from "./journal-source.ts";
import { judgeOf, openOwnTrust } from "./keys.ts";
import { type ReadEntry, readEntry } from "./read-entry.ts";
import { openReceipt } from "./receipts.ts";
import { count, json, listOf, oneOf, record, text } from "./shape.ts";

export interface ReceiptFile {
  readonly type: "rote-receipt/v1";
  /** The signed statement (DSSE); also in the entry. */
  readonly envelope: JsonValue;
  /** The exact text of the entry. */
  readonly entry: string;
  /** Index of the entry in the log. */
  readonly index: number;
  /** Hashes from the entry's leaf up to the root, base64. */
  readonly proof: readonly string[];
  /** The signed tree head. */
  readonly head: string;
}

const FILE = "receipt";
const fileShape = record({
  type: oneOf(["rote-receipt/v1"]),
  envelope: json,
  entry: text,
  index: count,
  proof: listOf(text),
  head: text,
});

/**
 * The receipt in the entry with this hash (`sha256:<hex>`, as a run lists its receipts), against the smallest tree head
 * that covers it.
 *
 * @throws RoteError `unknown_receipt` when there is no such receipt, `receipt_uncovered` when no tree head covers it,
 * `journal_damaged` when the log does not lead to that head
 */
export function exportReceipt(journal: RecordView, receipt: string): ReceiptFile {
  const wanted = receipt.replace(/^sha256:/u, "");
  const found = find(journal, wanted);
  const read =
    found === undefined ? undefined : readJson(found.bytes, { numbers: "finite", maxDepth: 600 });
  const entry = read?.ok === true && isJsonObject(read.value) ? read.value : undefined;
  const body = entry?.["type"] === "receipt" ? entry["body"] : undefined;
  if (found === undefined || !isJsonObject(body)) {
    throw new RoteError("unknown_receipt", `There is no receipt ${receipt} in the journal.`, {
      receipt,
    });
  }
  const { bytes, index } = found;
  const { note, head } = headOver(journal, index, receipt);
  const size = Number(head.size);
  const proof = inclusionProof(index, size, (from, to) => leavesOf(journal, from, to));
  if (!verifyInclusion(leafHash(bytes), BigInt(index), head.size, proof, head.root)) {
    throw damaged(`The log does not lead from entry ${index} to the tree head of ${size} entries.`);
  }
  return {
    type: "rote-receipt/v1",
    envelope: body["envelope"] ?? null,
    entry: Buffer.from(bytes).toString("utf8"),
    index,
    proof: proof.map(toBase64),
    head: note,
  };
}

function find(
  journal: RecordView,
  hash: string,
): { readonly bytes: Uint8Array; readonly index: number } | undefined {
  let index = 0;
  for (const bytes of rawIn(journal, Number(journal.head().size))) {
    if (sha256Hex(bytes) === hash) return { bytes, index };
    index += 1;
  }
  return undefined;
}

function headOver(
  journal: RecordView,
  index: number,
  receipt: string,
): { readonly note: string; readonly head: TreeHead } {
  for (const note of journal.heads()) {
    const parsed = parseNote(note);
    const head = parsed.ok ? parseTreeHead(parsed.value.text) : undefined;
    if (head !== undefined && head.size > BigInt(index)) return { note, head };
  }
  throw new RoteError(
    "receipt_uncovered",
    `No signed tree head covers the receipt ${receipt} yet: it is entry ${index} of the log.`,
    { receipt, index },
  );
}

function leavesOf(journal: RecordView, from: number, to: number): readonly Uint8Array[] {
  const leaves: Uint8Array[] = [];
  for (let at = from; at < to; ) {
    const portion = journal.raw(at, Math.min(to - at, 500));
    if (portion.length === 0) throw damaged(`Entry ${at} of the log is missing.`);
    leaves.push(...portion.map(leafHash));
    at += portion.length;
  }
  return leaves;
}

function damaged(message: string): RoteError {
  return new RoteError("journal_damaged", message);
}

export interface ReceiptOptions {
  /** The auditor's own trust store: one envelope, or a list of consecutive versions. */
  readonly trust: JsonValue;
  /** What the receipt must be about; null takes whatever it is about, and the answer says what. */
  readonly expected: { readonly run?: string; readonly operation?: string } | null;
}

export interface ReceiptReport {
  readonly type: "rote-receipt-check/v1";
  readonly verified: boolean;
  readonly findings: readonly Finding[];
  /** What the receipt states, when its signature holds. */
  readonly statement: Statement | null;
  /** Milliseconds since 1970 UTC of the entry, when it could be read. */
  readonly time: number | null;
  /** Where it is in the log of how many entries, when the proof shows that and the head is signed. */
  readonly head: { readonly index: number; readonly size: number } | null;
}

/** @throws RoteError `trust_refused` when the auditor's own trust store is not one */
export function verifyReceipt(file: JsonValue, { trust, expected }: ReceiptOptions): ReceiptReport {
  const own = openOwnTrust(trust);
  const findings = createFindings();
  const add = (code: FindingCode, message: string) =>
    findings.add(code, { file: FILE, index: null, chain: null, seq: null }, message);
  const fault = fileShape(file);
  const read = fault === null ? readFile(file as JsonValue & ReceiptFile, add) : undefined;
  if (fault !== null) add("file_malformed", fault);
  const statement = read === undefined ? null : judgeStatement(read, own, add);
  const size = read === undefined ? undefined : judgeProof(read, own, add);
  if (statement !== null && expected !== null) judgeSubject(statement, expected, add);
  return {
    type: "rote-receipt-check/v1",
    verified: findings.counts.size === 0,
    findings: findings.list,
    statement,
    time: read?.entry.entry.time ?? null,
    head: read === undefined || size === undefined ? null : { index: read.file.index, size },
  };
}

type Add = (code: FindingCode, message: string) => void;

interface ReadFile {
  readonly file: ReceiptFile;
  readonly bytes: Uint8Array;
  readonly entry: ReadEntry;
  readonly body: Bodies["receipt"];
  readonly seconds: number;
}

function readFile(file: ReceiptFile, add: Add): ReadFile | undefined {
  const bytes = Buffer.from(file.entry);
  const entry = readEntry({ bytes, unfinished: false, tooLong: false }, add);
  if (entry === undefined) return undefined;
  if (entry.fault !== null || entry.entry.type !== "receipt") {
    const message = entry.fault?.message ?? `the entry is a ${entry.entry.type}`;
    add(entry.fault?.code ?? "entry_unknown", message);
    return undefined;
  }
  const body = entry.entry.body as JsonValue & Bodies["receipt"];
  if (!sameBytes(canonicalBytes(file.envelope), canonicalBytes(body.envelope))) {
    add("receipt_differs", "the envelope is not the one in the entry");
  }
  return { file, bytes, entry, body, seconds: Math.floor(entry.entry.time / 1000) };
}

function judgeStatement(
  { file, body, entry, seconds }: ReadFile,
  own: readonly TrustStore[],
  add: Add,
): Statement | null {
  const judge = judgeOf(own, { index: file.index, seconds });
  const opened = openReceipt(file.envelope, judge, seconds);
  if (!opened.ok) {
    add(opened.error.code, opened.error.message);
    return null;
  }
  const { subject, predicate } = opened.value;
  const [about, what, another] = subject;
  const compare = (name: string, said: unknown, is: unknown) => {
    if (said !== is) add("receipt_differs", `its ${name} is ${said}, and the entry's is ${is}`);
  };
  compare("operation", `sha256:${about?.digest.sha256}`, body.operation);
  compare("first subject", about?.name, "operation");
  compare("run", predicate.run, entry.entry.chain);
  compare("outcome", predicate.outcome, body.outcome);
  compare("admission", predicate.admission?.seq ?? null, body.admission);
  compare("audience", predicate.audience, judge.document.audience);
  if (what !== undefined) compare("second subject", what.name, "result");
  if (another !== undefined) add("receipt_differs", "it has more than two subjects");
  // A large result is kept apart, and this file has only its digest.
  if (body.result_blob === undefined) {
    const result = body.result === undefined ? undefined : digestOf(TAGS.result, body.result);
    const said = what === undefined ? undefined : `sha256:${what.digest.sha256}`;
    if (said !== result)
      add("result_differs", `its result is ${said}, and the entry's is ${result}`);
  }
  return opened.value;
}

/** The size of the log that it proves the entry to be in. */
function judgeProof(
  { file, bytes, seconds }: ReadFile,
  own: readonly TrustStore[],
  add: Add,
): number | undefined {
  const note = parseNote(file.head);
  const head = note.ok ? parseTreeHead(note.value.text) : undefined;
  if (!note.ok || head === undefined) {
    add("head_malformed", "the head is not a signed note of origin, size and root");
    return undefined;
  }
  const size = Number(head.size);
  const judge = judgeOf(own, { index: size - 1, seconds, orLater: true });
  const origin = judge.document.audience;
  if (head.origin !== origin) add("head_origin", `the head is of ${head.origin}, not of ${origin}`);
  const fault = signatureFault(note.value, origin, judge, seconds);
  if (fault !== undefined) add("head_signature", fault);
  const proof = file.proof.map((each) => fromBase64(each) ?? new Uint8Array(0));
  if (verifyInclusion(leafHash(bytes), BigInt(file.index), head.size, proof, head.root)) {
    return head.origin === origin && fault === undefined ? size : undefined;
  }
  add(
    "proof_invalid",
    `the proof does not lead from entry ${file.index} to the root of ${size} entries`,
  );
  return undefined;
}

function judgeSubject(
  { subject, predicate }: Statement,
  { run, operation }: NonNullable<ReceiptOptions["expected"]>,
  add: Add,
): void {
  const about = `sha256:${subject[0]?.digest.sha256}`;
  if (run !== undefined && predicate.run !== run) {
    add("subject_differs", `it is about the run ${predicate.run}, and ${run} was asked for`);
  }
  if (operation !== undefined && about !== operation) {
    add("subject_differs", `it is about the operation ${about}, and ${operation} was asked for`);
  }
}
