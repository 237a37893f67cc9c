/** Writes a journal out as a bundle, in one pass and in little memory. */
import { canonicalBytes } from "../base/canonical.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { BLOB_FOLDER, BUNDLE_FILES, type BundleWriter, type RecordView } from "../ports/bundle.ts";
import { headBytes, rawIn, sizeOf, trustEnvelope } from "./journal-source.ts";
import { namedBy } from "./references.ts";
import { createSeen } from "./seen.ts";

export interface Exported {
  readonly entries: number;
  readonly heads: number;
  readonly blobs: number;
  /** Entries behind the last tree head: nobody has signed yet that they are the record. */
  readonly uncovered: number;
}

const LIMITS = { numbers: "finite", maxDepth: 600 } as const;

/**
 * Writes the record up to `size` entries, or all that is there now: what comes meanwhile is not part of it. Entries are
 * copied as they are, damaged ones too: judging them is for the auditor.
 *
 * The heads are written first, so that a bundle whose writing broke off shows that something is missing.
 */
export async function exportBundle(
  journal: RecordView,
  writer: BundleWriter,
  size: bigint = journal.head().size,
): Promise<Exported> {
  const sizes = journal.heads().map((note) => ({ note, of: sizeOf(note) ?? 0n }));
  // A head of more entries than there are says that some are missing, and belongs to the record too.
  const end = journal.head().size;
  const heads = sizes.filter(({ of }) => of <= size || of > end).map(({ note }) => note);
  const covered = sizes.reduce((most, { of }) => (of <= size && of > most ? of : most), 0n);
  for (const note of heads) await writer.append(BUNDLE_FILES.heads, headBytes(note));
  const trust: JsonValue[] = [];
  const named = createSeen();
  let entries = 0;
  let blobs = 0;
  for (const bytes of rawIn(journal, Number(size))) {
    await writer.append(BUNDLE_FILES.journal, lineOf(bytes));
    entries += 1;
    const read = readJson(bytes, LIMITS);
    if (!read.ok) continue;
    const envelope = trustEnvelope(read.value, journal);
    if (envelope !== undefined) trust.push(envelope);
    for (const name of namedBy(read.value, (wanted) => journal.blob(wanted))) {
      const blob = named.add(name) ? journal.blob(name) : undefined;
      if (blob === undefined) continue;
      await writer.put(BLOB_FOLDER + name, blob);
      blobs += 1;
    }
  }
  await writer.put(BUNDLE_FILES.trust, canonicalBytes(trust));
  await writer.close();
  return { entries, heads: heads.length, blobs, uncovered: Number(size - covered) };
}

function lineOf(bytes: Uint8Array): Uint8Array {
  const line = new Uint8Array(bytes.byteLength + 1);
  line.set(bytes);
  line[bytes.byteLength] = 0x0a;
  return line;
}
