/** Records in directories: exported from a host, audited by anybody. */
import {
  type AuditOptions,
  type AuditReport,
  auditBundle,
  type Exported,
  exportBundle,
  exportReceipt,
  type ReceiptFile,
  readOutsideHeads,
  sourceOf,
} from "../audit/index.ts";
import { type Host, partsOf } from "../host/index.ts";
import { directorySource, directoryWriter, fileSource } from "../store/bundle/directory.ts";

/**
 * Writes the record of a host into a directory that does not exist or is empty, up to a tree head that is signed now.
 *
 * @throws RoteError `file_exists` `not_writable` and as the journal
 */
export async function exportRecord(host: Host, directory: string): Promise<Exported> {
  return exportBundle(partsOf(host).journal, directoryWriter(directory));
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

/** Audits the record of a host where it is. @throws RoteError as `auditDirectory` */
export async function auditHost(host: Host, options: AuditOptions): Promise<AuditReport> {
  return auditBundle(sourceOf(partsOf(host).journal), options);
}

/** Tree heads from a copy that was kept outside, for `anchors`. @throws RoteError `file_not_found` `not_readable` */
export async function readHeads(file: string): Promise<readonly string[]> {
  return readOutsideHeads(fileSource(file));
}

/**
 * One receipt, as `run.receipts` names it, with its proof.
 *
 * @throws RoteError `unknown_receipt`
 */
export async function exportRunReceipt(host: Host, receipt: string): Promise<ReceiptFile> {
  return exportReceipt(partsOf(host).journal, receipt);
}
