/** The state of one reading, and how the reader refuses. */
import type { JsonErrorCode } from "./json-error.ts";
import { placeOf } from "./json-text.ts";

export interface Scan {
  readonly text: string;
  readonly finite: boolean;
  readonly maxDepth: number;
  /** UTF-16 units read so far. */
  at: number;
  nodesLeft: number;
  /** How many tokens of `path` lead to what is being read. */
  depth: number;
  /** Member names and indexes from the root; what lies beyond `depth` is stale. */
  readonly path: (string | number)[];
  /** Offsets of the brackets that are open, by level. */
  readonly opened: number[];
}

/** UTF-16 units of the JSON grammar. */
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const MINUS = 0x2d;
export const PLUS = 0x2b;
export const POINT = 0x2e;
export const ZERO = 0x30;
export const NINE = 0x39;

/** Thrown within the reader and caught by `readJson`; its place is that of the scan when it was made. */
export class Refusal extends Error {
  readonly code: JsonErrorCode;
  readonly offset: number;
  readonly path: readonly (string | number)[];

  constructor(scan: Scan, code: JsonErrorCode, offset: number, message: string) {
    super(message);
    this.code = code;
    this.offset = offset;
    this.path = scan.path.slice(0, scan.depth);
  }
}

export function skipBlank(scan: Scan): void {
  const { text } = scan;
  let at = scan.at;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
    at += 1;
  }
  scan.at = at;
}

/** What stands at `scan.at` is not what must stand there. */
export function unexpected(scan: Scan, expected: string): Refusal {
  const { text, at } = scan;
  const message =
    at < text.length
      ? `found ${shownUnit(text, at)}, expected ${expected}${advice(text, at)}`
      : `the document ends here, expected ${expected}${whereOpened(scan)}`;
  return new Refusal(scan, "bad_json", at, message);
}

/** What people who meet this character here most often meant. */
function advice(text: string, at: number): string {
  switch (text[at]) {
    case "/":
    case "#":
      return " (JSON has no comments)";
    case "'":
      return " (names and texts take double quotes)";
    case "}":
    case "]":
      return /,\s*$/.test(text.slice(Math.max(0, at - 100), at)) ? " (no comma before it)" : "";
    default:
      return "";
  }
}

function whereOpened({ text, opened }: Scan): string {
  const offset = opened.at(-1);
  if (offset === undefined) return "";
  const { line, column } = placeOf(text, offset);
  const what = text.charCodeAt(offset) === OPEN_LIST ? "list" : "object";
  return `, in the ${what} that begins at line ${line}, column ${column}`;
}

function shownUnit(text: string, at: number): string {
  const word = /^[\w.+-]{2,20}/.exec(text.slice(at, at + 20))?.[0];
  if (word !== undefined) return word;
  const point = text.codePointAt(at) ?? 0;
  if (point > 0x20 && point < 0x7f) return String.fromCodePoint(point);
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
