/**
 * The strict reader: bytes from outside become values of the closed domain, or one error that says where.
 *
 * - J1 Nothing is repaired: no lossy decoding, no last-duplicate-wins, no rounding of numbers.
 * - J2 Objects have no prototype, so a member called `__proto__` is a member like any other.
 * - J3 Limits hold before the work they bound: bytes before decoding, depth before descending.
 *
 * One pass over the text with one growing path; the path becomes a pointer only when something is wrong.
 */
import { decodeUtf8 } from "./json-decode.ts";
import { type JsonError, type JsonLimits, resolveLimits } from "./json-error.ts";
import { readNumber, readText, readWord } from "./json-scalar.ts";
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  MINUS,
  NINE,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  Refusal,
  type Scan,
  skipBlank,
  unexpected,
  ZERO,
} from "./json-scan.ts";
import { placeOf } from "./json-text.ts";
import { emptyObject, type JsonValue } from "./json-value.ts";
import { pointer } from "./pointer.ts";
import { err, ok, type Result } from "./result.ts";

/**
 * Reads one JSON document strictly.
 *
 * Bytes must be UTF-8 without a byte order mark; a text is taken as already decoded. The result holds null-prototype
 * objects in document order and shares nothing that can change with the input.
 */
export function readJson(
  source: Uint8Array | string,
  limits: JsonLimits = {},
): Result<JsonValue, JsonError> {
  const { finite, maxBytes, maxDepth, maxNodes } = resolveLimits(limits);
  const decoded = decodeUtf8(source, maxBytes);
  if (!decoded.ok) return decoded;
  const text = decoded.value;
  const scan: Scan = {
    text,
    finite,
    maxDepth,
    at: 0,
    nodesLeft: maxNodes,
    depth: 0,
    path: [],
    opened: [],
  };
  try {
    skipBlank(scan);
    const value = readValue(scan);
    skipBlank(scan);
    if (scan.at < text.length) throw unexpected(scan, "nothing after the one value");
    return ok(value);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { code, path, offset, message } = refusal;
    return err({ code, pointer: pointer(...path), offset, ...placeOf(text, offset), message });
  }
}

function readValue(scan: Scan): JsonValue {
  scan.nodesLeft -= 1;
  if (scan.nodesLeft < 0) {
    throw new Refusal(scan, "document_too_large", scan.at, "more values than the limit allows");
  }
  const unit = scan.text.charCodeAt(scan.at);
  switch (unit) {
    case QUOTE:
      return readText(scan);
    case OPEN_OBJECT:
      return readObject(scan);
    case OPEN_LIST:
      return readList(scan);
    case 0x74:
      return readWord(scan, "true", true);
    case 0x66:
      return readWord(scan, "false", false);
    case 0x6e:
      return readWord(scan, "null", null);
    default:
      if (unit === MINUS || (unit >= ZERO && unit <= NINE)) return readNumber(scan);
      throw unexpected(scan, "a value");
  }
}

function readObject(scan: Scan): JsonValue {
  const { text, path } = scan;
  const level = open(scan);
  const record = emptyObject();
  skipBlank(scan);
  if (text.charCodeAt(scan.at) === CLOSE_OBJECT) return close(scan, record);
  for (;;) {
    const start = scan.at;
    if (text.charCodeAt(start) !== QUOTE) {
      throw unexpected(scan, "a member name in double quotes");
    }
    const name = readText(scan);
    path[level] = name;
    scan.depth = level + 1;
    // Without a prototype only own members are found, and no JSON value is undefined.
    if (record[name] !== undefined) {
      throw new Refusal(scan, "duplicate_key", start, `the member ${shownName(name)} is repeated`);
    }
    skipBlank(scan);
    if (text.charCodeAt(scan.at) !== COLON) throw unexpected(scan, "a colon after the name");
    scan.at += 1;
    skipBlank(scan);
    record[name] = readValue(scan);
    scan.depth = level;
    skipBlank(scan);
    const unit = text.charCodeAt(scan.at);
    if (unit === CLOSE_OBJECT) return close(scan, record);
    if (unit !== COMMA) throw unexpected(scan, "a comma or }");
    scan.at += 1;
    skipBlank(scan);
  }
}

function readList(scan: Scan): JsonValue {
  const { text, path } = scan;
  const level = open(scan);
  const list: JsonValue[] = [];
  skipBlank(scan);
  if (text.charCodeAt(scan.at) === CLOSE_LIST) return close(scan, list);
  for (;;) {
    path[level] = list.length;
    scan.depth = level + 1;
    list.push(readValue(scan));
    scan.depth = level;
    skipBlank(scan);
    const unit = text.charCodeAt(scan.at);
    if (unit === CLOSE_LIST) return close(scan, list);
    if (unit !== COMMA) throw unexpected(scan, "a comma or ]");
    scan.at += 1;
    skipBlank(scan);
  }
}

/** Steps over an opening bracket and returns its level, which is its place in the path. */
function open(scan: Scan): number {
  const level = scan.depth;
  if (level >= scan.maxDepth) {
    const message = `nested deeper than ${scan.maxDepth} levels`;
    throw new Refusal(scan, "document_too_deep", scan.at, message);
  }
  scan.opened.push(scan.at);
  scan.at += 1;
  return level;
}

function close<T extends JsonValue>(scan: Scan, value: T): T {
  scan.opened.pop();
  scan.at += 1;
  return value;
}

function shownName(name: string): string {
  return JSON.stringify(name.length <= 60 ? name : `${name.slice(0, 57)}...`);
}
