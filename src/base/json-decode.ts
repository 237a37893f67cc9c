/** Bytes to text without loss: what is not UTF-8 is refused, never replaced. */
import { isUtf8 } from "node:buffer";
import type { JsonError } from "./json-error.ts";
import { placeOf } from "./json-text.ts";
import { err, ok, type Result } from "./result.ts";
import { hasLoneSurrogate } from "./text.ts";

const BYTE_ORDER_MARK = 0xfeff;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of a document within `maxBytes`; the size is looked at before anything else. */
export function decodeUtf8(
  source: Uint8Array | string,
  maxBytes: number,
): Result<string, JsonError> {
  const fits =
    typeof source === "string" ? textFits(source, maxBytes) : source.byteLength <= maxBytes;
  if (!fits) {
    return err({
      code: "document_too_large",
      pointer: "",
      offset: 0,
      line: 0,
      column: 0,
      excerpt: "",
      caret: 0,
      message: `larger than the ${maxBytes} bytes allowed`,
    });
  }
  if (typeof source !== "string" && !isUtf8(source)) {
    const before = decoder.decode(source.subarray(0, validPrefix(source)));
    return badEncoding(before, before.length, "the bytes from here on are not UTF-8");
  }
  const text = typeof source === "string" ? source : decoder.decode(source);
  if (typeof source === "string" && hasLoneSurrogate(text)) {
    const offset = text.search(/[\ud800-\udfff]/u);
    return badEncoding(text.slice(0, offset), offset, "a surrogate without its partner");
  }
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) {
    return badEncoding("", 0, "the document begins with a byte order mark; save it without");
  }
  return ok(text);
}

function badEncoding(before: string, offset: number, message: string): Result<never, JsonError> {
  const place = placeOf(before, offset);
  return err({ code: "bad_encoding", pointer: "", offset, ...place, message });
}

function textFits(text: string, maxBytes: number): boolean {
  // A UTF-16 unit takes one to three bytes, so most texts need no counting.
  if (text.length > maxBytes) return false;
  return text.length * 3 <= maxBytes || Buffer.byteLength(text, "utf8") <= maxBytes;
}

/** Length of the longest prefix that is UTF-8, found by halving since every prefix of a valid one but its last character is valid. */
function validPrefix(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.byteLength;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (isUtf8(bytes.subarray(0, boundary(bytes, middle, good)))) good = middle;
    else bad = middle;
  }
  return boundary(bytes, good, 0);
}

/** The last start of a character at or before `end`, so that a prefix is not cut inside one. */
function boundary(bytes: Uint8Array, end: number, floor: number): number {
  let at = end;
  while (at > floor && at > end - 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
