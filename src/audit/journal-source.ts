/** A journal seen as the bundle that it would be exported as, so that it can be audited where it is. */
import { canonicalBytes } from "../base/canonical.ts";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { parseNote, parseTreeHead } from "../base/note.ts";
import {
  BLOB_FOLDER,
  BUNDLE_FILES,
  type BundleSource,
  HEAD_SEPARATOR,
  type RecordView,
} from "../ports/bundle.ts";

/** Entries read at once. */
const PORTION = 500;
const LF = Uint8Array.of(0x0a);

/**
 * Shows what is in the journal now. What a store keeps beside its entries is no file that somebody could have added, so
 * only what entries name is there.
 */
export function sourceOf(journal: RecordView): BundleSource {
  const heads = journal.heads();
  const size = Number(journal.head().size);
  return {
    async *names() {
      yield* Object.values(BUNDLE_FILES);
    },
    async read(name) {
      if (name === BUNDLE_FILES.journal) return linesIn(journal, size);
      if (name === BUNDLE_FILES.heads) return each(heads.map(headBytes));
      if (name === BUNDLE_FILES.trust) return each([canonicalBytes(trustIn(journal, size))]);
      if (!name.startsWith(BLOB_FOLDER)) return undefined;
      const bytes = journal.blob(name.slice(BLOB_FOLDER.length));
      return bytes === undefined ? undefined : each([bytes]);
    },
  };
}

async function* linesIn(journal: RecordView, size: number): AsyncGenerator<Uint8Array> {
  for (const bytes of rawIn(journal, size)) {
    yield bytes;
    yield LF;
  }
}

/** Bytes of the first `size` entries. */
export function* rawIn(journal: RecordView, size: number): Generator<Uint8Array> {
  for (let from = 0; from < size; ) {
    const portion = journal.raw(from, Math.min(PORTION, size - from));
    if (portion.length === 0) return;
    yield* portion;
    from += portion.length;
  }
}

export function headBytes(note: string): Uint8Array {
  return Buffer.from(note + HEAD_SEPARATOR);
}

/** Size of the log that a head is of; undefined for what is no head. */
export function sizeOf(note: string): bigint | undefined {
  const parsed = parseNote(note);
  return parsed.ok ? parseTreeHead(parsed.value.text)?.size : undefined;
}

function trustIn(journal: RecordView, size: number): readonly JsonValue[] {
  const envelopes: JsonValue[] = [];
  for (const bytes of rawIn(journal, size)) {
    // Most entries are not read for this.
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(TRUST)) continue;
    const read = readJson(bytes, { numbers: "finite", maxDepth: 600 });
    const envelope = read.ok ? trustEnvelope(read.value, journal) : undefined;
    if (envelope !== undefined) envelopes.push(envelope);
  }
  return envelopes;
}

const TRUST = '"type":"trust"';

/** The trust store in an entry of that type. */
export function trustEnvelope(entry: JsonValue, journal: RecordView): JsonValue | undefined {
  if (!isJsonObject(entry) || entry["type"] !== "trust") return undefined;
  const body = entry["body"];
  if (!isJsonObject(body)) return undefined;
  const { envelope, envelope_blob: name } = body;
  if (typeof name !== "string") return envelope;
  const bytes = journal.blob(name);
  const read = bytes === undefined ? undefined : readJson(bytes, { maxBytes: bytes.byteLength });
  return read?.ok === true ? read.value : undefined;
}

async function* each(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
