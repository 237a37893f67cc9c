/**
 * The parts of an archive, as far as a spreadsheet needs them. Nothing is inflated that was not asked for, and never
 * more than was allowed for all of it together: what an entry says of its own size is not believed.
 */
import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { refusal } from "./outcome.ts";

export interface Archive {
  readonly names: ReadonlySet<string>;
  /** A part's bytes; undefined when there is none. @throws Declared `document_malformed` `document_too_costly` */
  part(this: void, name: string): Promise<Uint8Array | undefined>;
}

interface Entry {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_LENGTH = 22;
const MAX_COMMENT = 0xffff;
const MAX_ENTRIES = 4096;
const ENCRYPTED = 1;

const inflate = promisify(inflateRaw);

/** @throws Declared `document_malformed` `document_encrypted` `document_too_costly` */
export function openArchive(given: Uint8Array, maxBytes: number): Archive {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const entries = entriesOf(bytes);
  let left = maxBytes;
  return {
    names: new Set(entries.keys()),
    async part(name) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      if (entry.size > left) throw costly(maxBytes);
      const content = await contentOf(bytes, name, entry, left);
      left -= content.byteLength;
      return content;
    },
  };
}

/** Where the comment of an archive begins, which is its end when it has none; undefined when it is no archive. */
export function commentStart(given: Uint8Array): number | undefined {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const least = Math.max(0, bytes.length - END_LENGTH - MAX_COMMENT);
  for (let at = bytes.length - END_LENGTH; at >= least; at -= 1) {
    if (bytes.readUInt32LE(at) !== END) continue;
    if (at + END_LENGTH + bytes.readUInt16LE(at + 20) === bytes.length) return at + END_LENGTH;
  }
  return undefined;
}

function entriesOf(bytes: Buffer): ReadonlyMap<string, Entry> {
  const after = commentStart(bytes);
  if (after === undefined) throw malformed("it is no archive, or cut off");
  const end = after - END_LENGTH;
  const count = bytes.readUInt16LE(end + 10);
  if (bytes.readUInt16LE(end + 8) !== count) throw malformed("it is one of several volumes");
  if (count > MAX_ENTRIES) throw malformed(`it has more than ${MAX_ENTRIES} parts`);
  const entries = new Map<string, Entry>();
  const names = new Set<string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== CENTRAL) throw malformed("its list of parts");
    const nameLength = bytes.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (next > end) throw malformed("its list of parts");
    const name = bytes.toString("latin1", at + 46, at + 46 + nameLength);
    // Programs tell names of parts apart without looking at their case.
    const known = name.toLowerCase();
    if (names.has(known)) throw malformed("a part is there twice");
    names.add(known);
    if ((bytes.readUInt16LE(at + 8) & ENCRYPTED) !== 0) {
      throw refusal("document_encrypted", "the spreadsheet is encrypted");
    }
    entries.set(name, {
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      at: bytes.readUInt32LE(at + 42),
    });
    at = next;
  }
  return entries;
}

async function contentOf(
  bytes: Buffer,
  name: string,
  { method, crc, packed, size, at }: Entry,
  left: number,
): Promise<Uint8Array> {
  if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== LOCAL) throw malformed("a part is lost");
  const nameEnd = at + 30 + bytes.readUInt16LE(at + 26);
  const from = nameEnd + bytes.readUInt16LE(at + 28);
  const named = bytes.toString("latin1", at + 30, nameEnd);
  if (named !== name || from + packed > bytes.length) throw malformed("a part is lost");
  const content = await unpacked(bytes.subarray(from, from + packed), method, left);
  if (content.byteLength !== size || crc32(content) !== crc) throw malformed("a part is damaged");
  return content;
}

async function unpacked(packed: Uint8Array, method: number, left: number): Promise<Uint8Array> {
  if (method === 0) return packed;
  if (method !== 8) throw malformed(`a part is packed by method ${method}`);
  try {
    return await inflate(packed, { maxOutputLength: Math.max(1, left) });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    throw code === "ERR_BUFFER_TOO_LARGE" ? costly(left) : malformed("a part cannot be unpacked");
  }
}

export function malformed(what: string): Error {
  return refusal("document_malformed", `the spreadsheet cannot be read: ${what}`);
}

function costly(maxBytes: number): Error {
  const message = `what is to be read of the spreadsheet is over ${maxBytes} bytes when unpacked`;
  return refusal("document_too_costly", message);
}
