/** Records in directories, exported from a host or where it keeps them, audited by anybody. */
import {
  type AuditOptions,
  type AuditReport,
  auditBundle,
  type Exported,
  exportBundle,
  exportReceipt,
  type ListedReceipt,
  type ReceiptFile,
  readOutsideHeads,
  receiptsIn,
  sourceOf,
} from "../audit/index.ts";
import { RoteError } from "../base/error.ts";
import { parseNote, parseTreeHead } from "../base/note.ts";
import { type Host, partsOf } from "../host/index.ts";
import {
  directorySource,
  directoryWriter,
  fileSource,
  isBundle,
} from "../store/bundle/directory.ts";
import type { RecordReader } from "../store/sqlite/reader.ts";

export {
  type AuditOptions,
  type AuditReport,
  type Counts,
  type Exported,
  FINDING_CODES,
  type Finding,
  type FindingCode,
  formatAudit,
  formatReceipt,
  type ListedReceipt,
  type Place,
  type ReceiptFile,
  type ReceiptOptions,
  type ReceiptReport,
  type Severity,
  type Span,
  type Statement,
  type Tally,
  verifyReceipt,
} from "../audit/index.ts";

/**
 * Writes the record of a host into a directory that does not exist or is empty, up to a tree head that is signed now.
 *
 * @throws RoteError `file_exists` `not_writable` and as the journal
 */
export async function exportRecord(host: Host, directory: string): Promise<Exported> {
  const { journal } = partsOf(host);
  const note = parseNote(await journal.seal());
  const head = note.ok ? parseTreeHead(note.value.text) : undefined;
  return exportBundle(journal, directoryWriter(directory), head?.size);
}

/**
 * The same from the store of a host, by somebody who has none of its keys. What is behind the last tree head is written
 * too, and counted as `uncovered`.
 *
 * @throws RoteError `file_exists` `not_writable` and as opening the store to read it
 */
export async function exportStore(store: string, directory: string): Promise<Exported> {
  return reading(store, async (record) => exportBundle(record, directoryWriter(directory)));
}

/**
 * Audits an exported record. No store, no key and no network.
 *
 * @throws RoteError `trust_refused` for the auditor's own trust store, `file_not_found` `not_readable`
 */
export async function auditDirectory(
  directory: string,
  options: AuditOptions,
): Promise<AuditReport> {
  return auditBundle(directorySource(directory), options);
}

/**
 * Audits the store of a host, reading only: the record as it is at that moment, also while the host goes on.
 *
 * @throws RoteError `trust_refused` for the auditor's own trust store, and as opening the store to read it
 */
export async function auditStore(store: string, options: AuditOptions): Promise<AuditReport> {
  return reading(store, (record) => auditBundle(sourceOf(record), options));
}

/** Audits the record of a host where it is. @throws RoteError as `auditDirectory` */
export async function auditHost(host: Host, options: AuditOptions): Promise<AuditReport> {
  return auditBundle(sourceOf(partsOf(host).journal), options);
}

/**
 * Tree heads from a copy that was kept outside, for `anchors`. A file without any is refused: it would show nothing, and
 * whoever named it believes that it does.
 *
 * @throws RoteError `bad_heads` `file_not_found` `not_readable`
 */
export async function readHeads(file: string): Promise<readonly string[]> {
  const heads = await readOutsideHeads(fileSource(file));
  if (heads.length > 0) return heads;
  throw new RoteError("bad_heads", `${file} has no tree head in it.`, { file });
}

/**
 * One receipt, as `run.receipts` names it, with its proof.
 *
 * @throws RoteError `unknown_receipt`, `journal_damaged`
 */
export async function exportRunReceipt(host: Host, receipt: string): Promise<ReceiptFile> {
  const { journal } = partsOf(host);
  await journal.seal();
  return exportReceipt(journal, receipt);
}

/** The same from the store of a host. @throws RoteError also `receipt_uncovered` and as opening the store to read it */
export async function exportStoredReceipt(store: string, receipt: string): Promise<ReceiptFile> {
  return reading(store, async (record) => exportReceipt(record, receipt));
}

/** The receipts of a run in the store of a host, in their order. @throws RoteError as opening the store to read it */
export async function storedReceipts(
  store: string,
  run: string,
): Promise<readonly ListedReceipt[]> {
  return reading(store, async (record) => receiptsIn(record, run));
}

/**
 * True for a directory in which a host keeps its store. One that has a journal's file too is a bundle: no host writes
 * that, and who handed it over does not choose by another file what is judged.
 */
export async function isStoreDirectory(directory: string): Promise<boolean> {
  if (isBundle(directory)) return false;
  const { isStore } = await import("../store/sqlite/reader.ts");
  return isStore(directory);
}

/** The database's module is loaded only where there is a database. */
async function reading<T>(store: string, work: (record: RecordReader) => Promise<T>): Promise<T> {
  const { readSqliteRecord } = await import("../store/sqlite/reader.ts");
  const record = readSqliteRecord(store);
  try {
    return await work(record);
  } finally {
    record.close();
  }
}
