/** A growing buffer of UTF-8: what the canonical writer writes to. Text goes in unit by unit, without pieces between. */

export interface ByteSink {
  bytes: Buffer;
  /** Bytes in use. */
  size: number;
}

/** Most documents that are digested are about this long; the buffer doubles from here. */
const FIRST_SIZE = 2048;

export function byteSink(): ByteSink {
  return { bytes: Buffer.allocUnsafe(FIRST_SIZE), size: 0 };
}

/** Written in by one document after the other, and taken away while one is written. A large one is not kept. */
let spare: Buffer | undefined;
const MOST_SPARE = 65_536;

export function takeSpare(): Buffer {
  const bytes = spare ?? Buffer.allocUnsafeSlow(2 * FIRST_SIZE);
  spare = undefined;
  return bytes;
}

/** For who has copied what it keeps. */
export function giveSpare(bytes: Buffer): void {
  if (bytes.length <= MOST_SPARE) spare = bytes;
}

export function putByte(sink: ByteSink, byte: number): void {
  if (sink.size === sink.bytes.length) grow(sink, 1);
  sink.bytes[sink.size] = byte;
  sink.size += 1;
}

/** Appends bytes that are canonical already. */
export function putBytes(sink: ByteSink, bytes: Uint8Array): void {
  if (sink.size + bytes.length > sink.bytes.length) grow(sink, bytes.length);
  sink.bytes.set(bytes, sink.size);
  sink.size += bytes.length;
}

/** The bytes written so far, in memory of their own. */
export function bytesOf({ bytes, size }: ByteSink): Uint8Array {
  return new Uint8Array(bytes.subarray(0, size));
}

/** Appends text that is ASCII and needs no quotes: numbers and words. */
export function putAscii(sink: ByteSink, text: string): void {
  if (sink.size + text.length > sink.bytes.length) grow(sink, text.length);
  const { bytes, size } = sink;
  for (let at = 0; at < text.length; at += 1) bytes[size + at] = text.charCodeAt(at);
  sink.size = size + text.length;
}

/** Appends a text in quotes with the escapes of RFC 8785; false when it holds a surrogate without its partner. */
export function putQuoted(sink: ByteSink, text: string): boolean {
  if (sink.size + text.length + 2 > sink.bytes.length) grow(sink, text.length + 2);
  const { bytes } = sink;
  let size = sink.size;
  bytes[size++] = QUOTE;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) {
      sink.size = size;
      return putRest(sink, text, at);
    }
    bytes[size++] = unit;
  }
  bytes[size++] = QUOTE;
  sink.size = size;
  return true;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A unit takes at most six bytes, as `\u001f` does. */
const MOST_BYTES = 6;

/** The letters of the short escapes, by unit. */
const SHORT_ESCAPES = new Map([
  [0x08, 0x62],
  [0x09, 0x74],
  [0x0a, 0x6e],
  [0x0c, 0x66],
  [0x0d, 0x72],
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
]);

function putRest(sink: ByteSink, text: string, from: number): boolean {
  const most = (text.length - from) * MOST_BYTES + 1;
  if (sink.size + most > sink.bytes.length) grow(sink, most);
  const { bytes } = sink;
  let size = sink.size;
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      if (unit >= 0x20 && unit !== QUOTE && unit !== BACKSLASH) {
        bytes[size++] = unit;
        continue;
      }
      size = putEscape(bytes, size, unit);
    } else if (unit < 0x800) {
      bytes[size++] = 0xc0 | (unit >> 6);
      bytes[size++] = 0x80 | (unit & 0x3f);
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes[size++] = 0xe0 | (unit >> 12);
      bytes[size++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[size++] = 0x80 | (unit & 0x3f);
    } else {
      const point = text.codePointAt(at) ?? 0;
      if (point < 0x10000) return false;
      at += 1;
      bytes[size++] = 0xf0 | (point >> 18);
      bytes[size++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[size++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[size++] = 0x80 | (point & 0x3f);
    }
  }
  bytes[size++] = QUOTE;
  sink.size = size;
  return true;
}

function putEscape(bytes: Uint8Array, start: number, unit: number): number {
  let size = start;
  bytes[size++] = BACKSLASH;
  const letter = SHORT_ESCAPES.get(unit);
  if (letter !== undefined) {
    bytes[size++] = letter;
    return size;
  }
  for (const digit of `u${unit.toString(16).padStart(4, "0")}`) bytes[size++] = digit.charCodeAt(0);
  return size;
}

function grow(sink: ByteSink, needed: number): void {
  const larger = Buffer.allocUnsafe(Math.max(sink.bytes.length * 2, sink.size + needed));
  larger.set(sink.bytes.subarray(0, sink.size));
  sink.bytes = larger;
}
