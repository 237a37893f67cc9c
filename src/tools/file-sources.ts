/**
 * Files that the host selected as evidence. They are committed by content when they are registered: what is read later
 * is these bytes, or nothing.
 *
 * - S1 Only the host names paths. Whoever reads names a source, so there is no path to escape with.
 * - S2 A source is a regular file under its own name: no link, no device, no directory.
 * - S3 A source can be read as declared: JSON is JSON and text is UTF-8 before any run depends on it. Documents with a
 *   reader of their own begin as they must; the reader refuses what it cannot make out.
 */

import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
} from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { type Digest, digestOf, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { nameOf } from "./outcome.ts";

export interface FileRegistration {
  /** How readers call it: lower-case letters, digits and `. _ -`, at most 64. */
  readonly source: string;
  readonly file: string;
  /** 64 hexadecimal digits; registration fails when the content has another digest. Default: what is there counts. */
  readonly sha256?: string;
  /**
   * `application/json`, `application/jsonl`, `text/...`, `application/pdf`, or the media type of `.xlsx`. Default: by the
   * file's ending, else `text/plain`.
   */
  readonly media_type?: string;
  /** JSON Lines only: the member that names a record, a text or an integer, different in every record. */
  readonly id?: string;
}

export interface FileSource {
  readonly source: string;
  /** Real path; for the adapter alone, never in a result or message. */
  readonly file: string;
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly media_type: string;
  readonly id: string | null;
  /** Of JSON Lines: where each record stands, and which record each id names. */
  readonly lines: readonly ByteRange[];
  readonly ids: ReadonlyMap<string, number>;
}

export interface ByteRange {
  readonly from: number;
  readonly count: number;
}

export interface RegisterOptions {
  /** Bytes of one file at most. Default 16 MiB: every read looks at the whole file. */
  readonly maxBytes?: number;
}

export type FileSources = ReadonlyMap<string, FileSource>;

export const JSON_LIMITS = { numbers: "finite" } as const;
export const JSON_TYPE = "application/json";
export const JSON_LINES_TYPE = "application/jsonl";
export const PDF_TYPE = "application/pdf";
export const SPREADSHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const SOURCE = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const TEXT_TYPE = /^text\/[a-z0-9][a-z0-9.+-]{0,60}$/;
const LINE_FEED = 0x0a;

/** @throws RoteError `bad_source` with the source, never with content */
export function registerFiles(
  registrations: readonly FileRegistration[],
  options: RegisterOptions = {},
): FileSources {
  const sources = new Map<string, FileSource>();
  for (const registration of registrations) {
    const { source } = registration;
    if (!SOURCE.test(source)) throw bad(source, "is no name of a source");
    if (sources.has(source)) throw bad(source, "is registered twice");
    sources.set(source, register(registration, options.maxBytes ?? 16 * 1024 * 1024));
  }
  return sources;
}

/** Every source by content, in no order: what an environment says of evidence. */
export function evidenceDocument(sources: FileSources): JsonValue {
  const document: { [source: string]: JsonValue } = Object.create(null);
  for (const { source, sha256, size, media_type, id } of sources.values()) {
    document[source] = { sha256, size, media_type, id };
  }
  return document;
}

export function evidenceDigest(sources: FileSources): Digest {
  return digestOf(TAGS.evidence, evidenceDocument(sources));
}

/** The committed bytes; undefined when what is there now is something else. */
export async function committedBytes(
  { file, size, sha256 }: FileSource,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const handle = await open(file, READING).catch(gone);
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size !== size) return undefined;
    // One more than there should be, so that a file that grows meanwhile is seen.
    const bytes = Buffer.alloc(size + 1);
    let filled = 0;
    while (filled < bytes.byteLength) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(bytes, filled, bytes.byteLength - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    const content = bytes.subarray(0, filled);
    return filled === size && sha256Hex(content) === sha256 ? content : undefined;
  } finally {
    await handle.close();
  }
}

/** A pipe that took the file's place must not hold the reader. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Not there, or not a file any more, is a change of content; what the system cannot do is not. */
function gone(error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO"].includes(code)) return undefined;
  throw error;
}

function register(registration: FileRegistration, maxBytes: number): FileSource {
  const { source } = registration;
  const { file, bytes } = content(registration, maxBytes);
  const sha256 = sha256Hex(bytes);
  if (registration.sha256 !== undefined && registration.sha256 !== sha256) {
    throw bad(source, "has another content than was registered");
  }
  const media_type = registration.media_type ?? mediaTypeOf(file);
  const id = registration.id ?? null;
  if (id !== null && media_type !== JSON_LINES_TYPE) {
    throw bad(source, `names an id, and only records of ${JSON_LINES_TYPE} have one`);
  }
  const lines = media_type === JSON_LINES_TYPE ? linesOf(bytes) : [];
  const ids = checkContent(source, media_type, bytes, lines, id);
  const size = bytes.byteLength;
  return Object.freeze({ source, file, sha256, size, media_type, id, lines, ids });
}

function content(
  { source, file }: FileRegistration,
  maxBytes: number,
): { readonly file: string; readonly bytes: Uint8Array } {
  try {
    if (!lstatSync(file).isFile()) throw bad(source, "is not a regular file");
    const real = realpathSync(file);
    const handle = openSync(real, READING);
    try {
      const { size } = fstatSync(handle);
      if (size > maxBytes) throw bad(source, `is larger than ${maxBytes} bytes`);
      const bytes = Buffer.alloc(size);
      let filled = 0;
      while (filled < size) {
        const count = readSync(handle, bytes, filled, size - filled, filled);
        if (count === 0) throw bad(source, "changes while it is registered");
        filled += count;
      }
      return { file: real, bytes };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (error instanceof RoteError) throw error;
    const absent = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw bad(
      source,
      absent
        ? `has no file: ${path.resolve(file)} is not there`
        : `cannot be read (${nameOf(error)})`,
    );
  }
}

function mediaTypeOf(file: string): string {
  switch (path.extname(file).toLowerCase()) {
    case ".json":
      return JSON_TYPE;
    case ".jsonl":
    case ".ndjson":
      return JSON_LINES_TYPE;
    case ".pdf":
      return PDF_TYPE;
    case ".xlsx":
      return SPREADSHEET_TYPE;
    case ".csv":
      return "text/csv";
    case ".md":
      return "text/markdown";
    default:
      return "text/plain";
  }
}

/** Whether the content is what was declared; of records with ids, which id names which. */
function checkContent(
  source: string,
  mediaType: string,
  bytes: Uint8Array,
  lines: readonly ByteRange[],
  id: string | null,
): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  if (mediaType === JSON_LINES_TYPE) {
    lines.forEach(({ from, count }, index) => {
      const record = readJson(bytes.subarray(from, from + count), JSON_LIMITS);
      if (!record.ok) throw bad(source, `record ${index}: ${record.error.message}`);
      if (id === null) return;
      const name = idOf(record.value, id);
      if (name === undefined) throw bad(source, `record ${index} has no ${id}`);
      if (ids.has(name))
        throw bad(source, `record ${index} has the ${id} of record ${ids.get(name)}`);
      ids.set(name, index);
    });
  } else if (mediaType === JSON_TYPE) {
    const read = readJson(bytes, JSON_LIMITS);
    if (!read.ok) throw bad(source, `${read.error.pointer}: ${read.error.message}`);
  } else if (isDocument(mediaType)) {
    if (!begins(mediaType, bytes)) throw bad(source, `does not begin as ${mediaType} does`);
  } else if (!TEXT_TYPE.test(mediaType)) {
    throw bad(source, `has the media type ${JSON.stringify(mediaType)}, which cannot be read`);
  } else if (!isUtf8(bytes)) {
    throw bad(source, "is not UTF-8");
  }
  return ids;
}

/** Whether a source is read by a tool of its own (`rote/tools/pdf`, `rote/tools/spreadsheet`). */
export function isDocument(mediaType: string): boolean {
  return mediaType === PDF_TYPE || mediaType === SPREADSHEET_TYPE;
}

/** A PDF may have some bytes before its mark. An encrypted spreadsheet is another container, and fails here. */
function begins(mediaType: string, bytes: Uint8Array): boolean {
  const mark = mediaType === PDF_TYPE ? "%PDF-" : "PK\u0003\u0004";
  const head = Buffer.from(bytes.subarray(0, mediaType === PDF_TYPE ? 1024 : mark.length));
  return head.includes(mark, 0, "latin1");
}

/** Every line; the last one may end without a line feed. */
function linesOf(bytes: Uint8Array): readonly ByteRange[] {
  const lines: ByteRange[] = [];
  let from = 0;
  while (from < bytes.byteLength) {
    const end = bytes.indexOf(LINE_FEED, from);
    const to = end < 0 ? bytes.byteLength : end;
    lines.push({ from, count: to - from });
    from = to + 1;
  }
  return lines;
}

function idOf(record: JsonValue, member: string): string | undefined {
  if (!isJsonObject(record) || !Object.hasOwn(record, member)) return undefined;
  const value = record[member];
  return typeof value === "string" || Number.isSafeInteger(value) ? String(value) : undefined;
}

function bad(source: string, what: string): RoteError {
  return new RoteError("bad_source", `the source ${JSON.stringify(source)} ${what}`, { source });
}
