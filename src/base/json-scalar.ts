/** Texts, numbers and words of the strict reader. */
import { readFinite, readSafeInteger } from "./json-number.ts";
import {
  BACKSLASH,
  MINUS,
  NINE,
  PLUS,
  POINT,
  QUOTE,
  Refusal,
  type Scan,
  unexpected,
  ZERO,
} from "./json-scan.ts";
import type { JsonValue } from "./json-value.ts";

/** Reads a text; `scan.at` is at its opening quote. */
export function readText(scan: Scan): string {
  const { text } = scan;
  const open = scan.at;
  let at = open + 1;
  let escaped = false;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) break;
    if (unit === BACKSLASH) {
      escaped = true;
      at = skipEscape(scan, at);
    } else if (unit >= 0x20) {
      at += 1;
    } else {
      throw endOfText(scan, open, at);
    }
  }
  scan.at = at + 1;
  if (!escaped) return text.slice(open + 1, at);
  // The escapes were just checked, so the platform's reader can neither fail here nor read anything but a text.
  return String(JSON.parse(text.slice(open, at + 1)));
}

function endOfText(scan: Scan, open: number, at: number): Refusal {
  if (at >= scan.text.length) {
    const message = "the document ends inside this text, expected a closing double quote";
    return new Refusal(scan, "bad_json", open, message);
  }
  const unit = scan.text.charCodeAt(at);
  if (unit === 0x0a || unit === 0x0d) {
    const message = "the line ends inside a text: its closing double quote is missing";
    return new Refusal(scan, "bad_json", at, `${message} (a line break is written \\n)`);
  }
  const written = `\\u${unit.toString(16).padStart(4, "0")}`;
  return new Refusal(scan, "bad_json", at, `a control character in a text is written ${written}`);
}

/** The offset after the escape at `at`. */
function skipEscape(scan: Scan, at: number): number {
  const letter = scan.text[at + 1];
  if (letter !== "u") {
    if (letter !== undefined && '"\\/bfnrt'.includes(letter)) return at + 2;
    throw new Refusal(scan, "bad_json", at, 'a backslash is followed by one of "\\/bfnrtu only');
  }
  const unit = hexUnit(scan, at);
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  // The text around is well-formed, so the partner of an escaped surrogate can only be another escape.
  const leads = unit < 0xdc00 && scan.text.startsWith("\\u", at + 6);
  const partner = leads ? hexUnit(scan, at + 6) : 0;
  if (partner >= 0xdc00 && partner <= 0xdfff) return at + 12;
  const shown = scan.text.slice(at, at + 6);
  throw new Refusal(scan, "bad_encoding", at, `${shown} is a surrogate without its partner`);
}

const FOUR_HEX = /^[0-9a-fA-F]{4}$/;

function hexUnit(scan: Scan, at: number): number {
  const digits = scan.text.slice(at + 2, at + 6);
  if (FOUR_HEX.test(digits)) return Number.parseInt(digits, 16);
  throw new Refusal(scan, "bad_json", at, "\\u is followed by four hexadecimal digits");
}

export function readWord<T extends JsonValue>(scan: Scan, word: string, value: T): T {
  if (!scan.text.startsWith(word, scan.at)) throw unexpected(scan, "a value");
  scan.at += word.length;
  return value;
}

export function readNumber(scan: Scan): number {
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
  const whole = unit !== POINT && unit !== 0x65 && unit !== 0x45;
  // Fifteen digits are exact in a double. A first digit zero is right only in "0" itself, which has no sign.
  if (whole && digits > 0 && digits <= 15 && (!leadingZero || (digits === 1 && !negative))) {
    scan.at = at;
    return negative ? -value : value;
  }
  if (digits === 0) {
    scan.at = at;
    throw unexpected(scan, "a digit after the minus sign");
  }
  if (leadingZero && digits > 1) {
    throw new Refusal(scan, "bad_number", start, "a number does not begin with a zero");
  }
  at = skipFraction(scan, at);
  const word = text.slice(start, at);
  const reading = scan.finite ? readFinite(word) : readSafeInteger(word);
  if (typeof reading === "string") throw new Refusal(scan, "bad_number", start, reading);
  scan.at = at;
  return reading;
}

/** The offset after fraction and exponent, either of which may be absent. */
function skipFraction(scan: Scan, from: number): number {
  const { text } = scan;
  let at = from;
  if (text.charCodeAt(at) === POINT) at = skipDigits(scan, at + 1, "a digit after the point");
  const unit = text.charCodeAt(at);
  if (unit !== 0x65 && unit !== 0x45) return at;
  const sign = text.charCodeAt(at + 1);
  const signed = sign === PLUS || sign === MINUS;
  return skipDigits(scan, signed ? at + 2 : at + 1, "a digit in the exponent");
}

function skipDigits(scan: Scan, from: number, expected: string): number {
  let at = from;
  for (;;) {
    const unit = scan.text.charCodeAt(at);
    if (!(unit >= ZERO && unit <= NINE)) break;
    at += 1;
  }
  if (at > from) return at;
  scan.at = at;
  throw unexpected(scan, expected);
}
