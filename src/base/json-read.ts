/**
 * The strict reader: bytes from outside become values of the closed domain, or one error that says where.
 *
 * - J1 Nothing is repaired: no lossy decoding, no last-duplicate-wins, no rounding of numbers.
 * - J2 Objects have no prototype, so a member called `__proto__` is a member like any other.
 * - J3 Limits hold before the work they bound: bytes before decoding, depth before descending.
 * - J4 Text from `readJson` is well-formed, so only an escape can bring a lone surrogate in.
 *
 * One pass over the text with one growing path; the path becomes a pointer only when something is wrong.
 */
import { decodeUtf8 } from "./json-decode.ts";
import {
  type JsonError,
  type JsonErrorCode,
  type JsonLimits,
  resolveLimits,
} from "./json-error.ts";
import { readFinite, readSafeInteger } from "./json-number.ts";
import { placeOf } from "./json-text.ts";
import type { JsonValue } from "./json-value.ts";
import { pointer } from "./pointer.ts";
import { err, ok, type Result } from "./result.ts";

type Member = { [key: string]: JsonValue };

interface Scan {
  readonly text: string;
  readonly finite: boolean;
  readonly maxDepth: number;
  at: number;
  nodesLeft: number;
  depth: number;
  /** Member names and indexes from the root; valid up to `depth`. */
  readonly path: (string | number)[];
  /** Offsets of the open brackets; valid up to `depth`. */
  readonly opened: number[];
}

/** Thrown inside this file only, and caught by `readJson`. */
class Refusal extends Error {
  readonly code: JsonErrorCode;
  readonly offset: number;
  /** How many tokens of the path lead to the value at fault. */
  readonly tokens: number;

  constructor(scan: Scan, code: JsonErrorCode, offset: number, message: string) {
    super(message);
    this.code = code;
    this.offset = offset;
    this.tokens = scan.depth;
  }
}

/**
 * Reads one JSON document strictly.
 *
 * Bytes must be UTF-8 without a byte order mark; a text is taken as already decoded. The result holds null-prototype
 * objects in document order and shares nothing with the input.
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
    if (scan.at < text.length) throw unexpected(scan, "the end, after the one value");
    return ok(value);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return err({
      code: refusal.code,
      pointer: pointer(...scan.path.slice(0, refusal.tokens)),
      offset: refusal.offset,
      ...placeOf(text, refusal.offset),
      message: refusal.message,
    });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

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
  open(scan);
  // Unlike Object.create(null) this keeps the fast layout of ordinary objects.
  const record: Member = Object.setPrototypeOf({}, null);
  const level = scan.depth - 1;
  skipBlank(scan);
  if (scan.text.charCodeAt(scan.at) === CLOSE_OBJECT) return close(scan, record);
  for (;;) {
    const start = scan.at;
    if (scan.text.charCodeAt(start) !== QUOTE) {
      scan.depth = level;
      throw unexpected(scan, "a member name in double quotes", level);
    }
    scan.path[level] = "";
    const name = readText(scan);
    scan.path[level] = name;
    if (record[name] !== undefined) {
      throw new Refusal(scan, "duplicate_key", start, `the member ${shownName(name)} is repeated`);
    }
    skipBlank(scan);
    if (scan.text.charCodeAt(scan.at) !== COLON)
      throw unexpected(scan, "a colon after the name", level);
    scan.at += 1;
    skipBlank(scan);
    record[name] = readValue(scan);
    skipBlank(scan);
    const unit = scan.text.charCodeAt(scan.at);
    if (unit === CLOSE_OBJECT) return close(scan, record);
    if (unit !== COMMA) {
      scan.depth = level;
      throw unexpected(scan, "a comma or }", level);
    }
    scan.at += 1;
    skipBlank(scan);
  }
}

function readList(scan: Scan): JsonValue {
  open(scan);
  const list: JsonValue[] = [];
  const level = scan.depth - 1;
  skipBlank(scan);
  if (scan.text.charCodeAt(scan.at) === CLOSE_LIST) return close(scan, list);
  for (;;) {
    scan.path[level] = list.length;
    list.push(readValue(scan));
    skipBlank(scan);
    const unit = scan.text.charCodeAt(scan.at);
    if (unit === CLOSE_LIST) return close(scan, list);
    if (unit !== COMMA) {
      scan.depth = level;
      throw unexpected(scan, "a comma or ]", level);
    }
    scan.at += 1;
    skipBlank(scan);
  }
}

function open(scan: Scan): void {
  if (scan.depth >= scan.maxDepth) {
    throw new Refusal(
      scan,
      "document_too_deep",
      scan.at,
      `nested deeper than ${scan.maxDepth} levels`,
    );
  }
  scan.opened[scan.depth] = scan.at;
  scan.depth += 1;
  scan.at += 1;
}

function close<T extends JsonValue>(scan: Scan, value: T): T {
  scan.depth -= 1;
  scan.at += 1;
  return value;
}

function skipBlank(scan: Scan): void {
  const { text } = scan;
  let at = scan.at;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
    at += 1;
  }
  scan.at = at;
}

/** Reads a string; `scan.at` is at its opening quote. */
function readText(scan: Scan): string {
  const { text } = scan;
  const start = scan.at + 1;
  let at = start;
  let escaped = false;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) break;
    if (unit === BACKSLASH) {
      escaped = true;
      at = skipEscape(scan, at);
    } else if (unit < 0x20) {
      scan.at = at;
      throw new Refusal(scan, "bad_json", at, `a control character must be written as an escape`);
    } else if (at >= text.length) {
      scan.at = at;
      throw new Refusal(
        scan,
        "bad_json",
        start - 1,
        "this text has no closing double quote; the document ends inside it",
      );
    } else {
      at += 1;
    }
  }
  scan.at = at + 1;
  // The escapes were just checked, so the platform's reader cannot fail or change anything here.
  return escaped ? JSON.parse(text.slice(start - 1, at + 1)) : text.slice(start, at);
}

/** The offset after the escape at `at`. */
function skipEscape(scan: Scan, at: number): number {
  switch (scan.text.charCodeAt(at + 1)) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 2;
    case 0x75: {
      const unit = hexUnit(scan, at);
      if (unit < 0xd800 || unit > 0xdfff) return at + 6;
      const paired =
        unit < 0xdc00 && scan.text.startsWith("\\u", at + 6) ? hexUnit(scan, at + 6) : 0;
      if (paired >= 0xdc00 && paired <= 0xdfff) return at + 12;
      throw new Refusal(
        scan,
        "bad_encoding",
        at,
        `${scan.text.slice(at, at + 6)} is a surrogate without its partner`,
      );
    }
    default:
      throw new Refusal(scan, "bad_json", at, "unknown escape in a text");
  }
}

const FOUR_HEX = /^[0-9a-fA-F]{4}$/;

function hexUnit(scan: Scan, at: number): number {
  const digits = scan.text.slice(at + 2, at + 6);
  if (!FOUR_HEX.test(digits)) {
    throw new Refusal(scan, "bad_json", at, "\\u must be followed by four hexadecimal digits");
  }
  return Number.parseInt(digits, 16);
}

function readWord<T extends JsonValue>(scan: Scan, word: string, value: T): T {
  if (!scan.text.startsWith(word, scan.at)) throw unexpected(scan, "a value");
  scan.at += word.length;
  return value;
}

function readNumber(scan: Scan): number {
  const { text } = scan;
  const start = scan.at;
  const negative = text.charCodeAt(start) === MINUS;
  const first = negative ? start + 1 : start;
  let at = first;
  let value = 0;
  let unit = text.charCodeAt(at);
  while (unit >= ZERO && unit <= NINE) {
    value = value * 10 + (unit - ZERO);
    at += 1;
    unit = text.charCodeAt(at);
  }
  const digits = at - first;
  const leadingZero = text.charCodeAt(first) === ZERO;
  const plain = unit !== 0x2e && unit !== 0x65 && unit !== 0x45;
  // Fifteen digits are exact in a double; zero alone may start with a zero, and has no sign.
  if (plain && digits > 0 && digits <= 15 && (!leadingZero || (digits === 1 && !negative))) {
    scan.at = at;
    return negative ? -value : value;
  }
  if (digits === 0) {
    scan.at = at;
    throw unexpected(scan, "a digit after the minus sign");
  }
  if (leadingZero && digits > 1) {
    throw new Refusal(scan, "bad_number", start, "a number must not begin with a zero");
  }
  at = skipFraction(scan, at);
  scan.at = at;
  const word = text.slice(start, at);
  const reading = scan.finite ? readFinite(word) : readSafeInteger(word);
  if (typeof reading === "string") throw new Refusal(scan, "bad_number", start, reading);
  return reading;
}

/** The offset after fraction and exponent, either of which may be absent. */
function skipFraction(scan: Scan, from: number): number {
  const { text } = scan;
  let at = from;
  if (text.charCodeAt(at) === 0x2e)
    at = skipDigits(scan, at + 1, "a digit after the decimal point");
  const unit = text.charCodeAt(at);
  if (unit !== 0x65 && unit !== 0x45) return at;
  const sign = text.charCodeAt(at + 1);
  return skipDigits(
    scan,
    sign === 0x2b || sign === MINUS ? at + 2 : at + 1,
    "a digit in the exponent",
  );
}

function skipDigits(scan: Scan, from: number, expected: string): number {
  let at = from;
  for (;;) {
    const unit = scan.text.charCodeAt(at);
    if (!(unit >= ZERO && unit <= NINE)) break;
    at += 1;
  }
  scan.at = at;
  if (at === from) throw unexpected(scan, expected);
  return at;
}

/** What stands at `scan.at` is not what must stand there. `inside` names the open bracket that is not closed yet. */
function unexpected(scan: Scan, expected: string, inside?: number): Refusal {
  const { text, at } = scan;
  if (at < text.length) {
    return new Refusal(scan, "bad_json", at, `found ${shownUnit(text, at)}, expected ${expected}`);
  }
  const level = inside ?? scan.depth - 1;
  const opened = level >= 0 ? scan.opened[level] : undefined;
  let where = "";
  if (opened !== undefined) {
    const place = placeOf(text, opened);
    const what = text.charCodeAt(opened) === OPEN_LIST ? "list" : "object";
    where = `, in the ${what} that begins at line ${place.line}, column ${place.column}`;
  }
  return new Refusal(scan, "bad_json", at, `the document ends here, expected ${expected}${where}`);
}

function shownUnit(text: string, at: number): string {
  const point = text.codePointAt(at) ?? 0;
  const visible = point > 0x20 && point < 0x7f;
  return visible
    ? String.fromCodePoint(point)
    : `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

function shownName(name: string): string {
  return JSON.stringify(name.length <= 60 ? name : `${name.slice(0, 57)}...`);
}
