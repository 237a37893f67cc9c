/**
 * Reading bytes that must be the canonical text of their value: nothing else has the digest that it should have.
 *
 * Most bytes are canonical, and for most of these that is told by their length alone (`plain-length.ts`). Others are
 * written by the platform, and what it does not look at is looked at here. What is left goes the strict way, which decides
 * and says why.
 */
import { sameBytes } from "../base/bytes.ts";
import { canonicalBytes, canonicalText } from "../base/canonical.ts";
import { isJsonArray, type JsonValue, readJson } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { plainLength } from "./plain-length.ts";

/** As deep as what has a canonical form; how large is bounded by the bytes at hand. */
const MAX_DEPTH = 512;
const LIMITS = { numbers: "finite", maxDepth: MAX_DEPTH, maxNodes: 100_000_000 } as const;

export interface Unreadable {
  readonly kind: "not_json" | "not_canonical";
  readonly message: string;
  /** The value, where there is one. */
  readonly value?: JsonValue;
}

export function readCanonical(bytes: Uint8Array): Result<JsonValue, Unreadable> {
  const plain = readPlainly(bytes);
  if (plain !== undefined) return ok(plain);
  const read = readJson(bytes, { ...LIMITS, maxBytes: bytes.byteLength });
  if (!read.ok) {
    const { message, offset } = read.error;
    return err({ kind: "not_json", message: `${message} (at character ${offset})` });
  }
  const { value } = read;
  if (sameBytes(canonicalBytes(value), bytes)) return ok(value);
  return err({ kind: "not_canonical", message: "its canonical text has other bytes", value });
}

/** `canonicalText`, faster for a value that was read from canonical text. */
export function textOf(value: JsonValue): string {
  const text = JSON.stringify(value);
  // Members in order and whole characters: then the platform writes what RFC 8785 says.
  return text.includes("\\ud") || !isSorted(value, MAX_DEPTH) ? canonicalText(value) : text;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The value of bytes that are certainly canonical; undefined for any others, and for some that are. */
function readPlainly(bytes: Uint8Array): JsonValue | undefined {
  try {
    const text = decoder.decode(bytes);
    const value = JSON.parse(text) as JsonValue;
    return isCanonical(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for a text that the platform read as this value, when it is certainly the value's canonical text. */
function isCanonical(text: string, value: JsonValue): boolean {
  if (plainLength(value, MAX_DEPTH) === text.length) return true;
  // The writer escapes halves of surrogate pairs instead of refusing them.
  if (text.includes("\\ud")) return false;
  return JSON.stringify(value) === text && isSorted(value, MAX_DEPTH);
}

/** True when all members are in the order of their UTF-16 units, and nothing nests deeper than `levels`. */
function isSorted(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  if (isJsonArray(value)) {
    for (const element of value) {
      if (typeof element === "object" && !isSorted(element, levels - 1)) return false;
    }
    return true;
  }
  let before = "";
  let first = true;
  // What was just parsed has no members but its own.
  for (const member in value) {
    if (!first && before >= member) return false;
    first = false;
    before = member;
    const inner = value[member];
    if (typeof inner === "object" && inner !== null && !isSorted(inner, levels - 1)) return false;
  }
  return true;
}
