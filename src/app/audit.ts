/** A host's record as files, and the judgement of somebody who was not there: no store, no keys, no network. */
import { type AuditReport, auditBundle, exportBundle, formatAudit } from "../audit/index.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { type Host, partsOf } from "../host/index.ts";
import { directorySource, directoryWriter } from "../store/bundle/directory.ts";

export type { AuditReport };
export { formatAudit };

/**
 * Writes the whole record of a host into a directory that does not exist yet.
 *
 * @throws RoteError `store_exists` and as the directory is written
 */
export async function exportAudit(host: Host, directory: string): Promise<void> {
  const { journal } = partsOf(host);
  await journal.seal();
  const writer = directoryWriter(directory);
  await exportBundle(journal, writer);
  await writer.close();
}

/**
 * Judges everything in an exported record. `trust` is the trust store that the auditor got from a place of their own.
 *
 * @throws RoteError `trust_refused` when that is not a trust store
 */
export async function auditDirectory(directory: string, trust: JsonValue): Promise<AuditReport> {
  if (trust === null) throw new RoteError("trust_refused", "An audit needs a trust store.");
  return auditBundle(directorySource(directory), { trust });
}
