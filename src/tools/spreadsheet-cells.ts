/** The cells of a sheet, row by row: what each shows as text, and whether a formula made it. */

import { wellFormed } from "./documents.ts";
import { refusal } from "./outcome.ts";
import { type Book, unescaped } from "./spreadsheet-book.ts";
import { momentOf, numberText } from "./spreadsheet-numbers.ts";
import { readXml } from "./spreadsheet-xml.ts";
import { malformed } from "./spreadsheet-zip.ts";

export type CellKind = "text" | "number" | "date" | "time" | "boolean" | "error" | "none";

export type Cell = {
  /** Letters, `A` to `XFD`. */
  readonly column: string;
  readonly kind: CellKind;
  /**
   * Text as it is; a number in plain decimal digits; a date or time in ISO form; `true` or `false`; an error's name.
   * Empty for a formula whose value was never kept.
   */
  readonly value: string;
  /** What the file holds for it, for numbers, dates and times; else the same as `value`. */
  readonly stored: string;
  readonly formula: boolean;
};

export type Row = {
  /** From 1. */
  readonly row: number;
  readonly cells: readonly Cell[];
};

export interface Range {
  readonly from: number;
  readonly count: number;
}

/** A range of cells that one formula fills, of which only the first cell says so. */
interface Filled {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const MAX_ROW = 1_048_576;
const MAX_COLUMN = 16_384;
const MAX_FILLED = 1_000;

interface Draft {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  formula: boolean;
  value: string | undefined;
  inline: string | undefined;
}

/**
 * The rows of a range that have cells, and the last row in use.
 *
 * @throws Declared `document_malformed` `document_too_costly` `answer_too_large`
 */
export function cellsOf(
  book: Book,
  bytes: Uint8Array,
  { from, count }: Range,
  maxCells: number,
): { readonly rows: readonly Row[]; readonly end: number } {
  const rows: Row[] = [];
  const filled: Filled[] = [];
  let cells: Cell[] = [];
  let row = 0;
  let end = 0;
  let column = 0;
  let taken = 0;
  let draft: Draft | undefined;

  function finish({ type, style, formula, value, inline, column: at }: Draft): void {
    const shown = shownOf(book, type, style, type === "inlineStr" ? (inline ?? "") : value);
    if (shown === undefined && !formula) return;
    end = row;
    if (row < from || row >= from + count) return;
    taken += 1;
    if (taken > maxCells) {
      throw refusal("answer_too_large", `one answer holds ${maxCells} cells at most`);
    }
    const made =
      formula ||
      filled.some(
        ({ left, right, top, bottom }) => at >= left && at <= right && row >= top && row <= bottom,
      );
    const none = { kind: "none", value: "", stored: "" } as const;
    cells.push({ column: lettersOf(at), ...(shown ?? none), formula: made });
  }

  /** Only what reaches into the rows that are wanted. */
  function fill(range: string): void {
    const found = filledBy(range);
    const one = found.left === found.right && found.top === found.bottom;
    if (one || found.bottom < from || found.top >= from + count) return;
    filled.push(found);
    if (filled.length > MAX_FILLED) {
      throw refusal("document_too_costly", `more than ${MAX_FILLED} formulas fill ranges of cells`);
    }
  }

  readXml(bytes, {
    open(path, attributes) {
      if (path === "worksheet/sheetData/row") {
        row = next(row, attributes.get("r"), MAX_ROW);
        cells = [];
        column = 0;
      } else if (path === "worksheet/sheetData/row/c") {
        column = columnOf(attributes.get("r"), row, column);
        const type = attributes.get("t") ?? "n";
        const style = Number(attributes.get("s") ?? "0");
        draft = { column, type, style, formula: false, value: undefined, inline: undefined };
      } else if (path === "worksheet/sheetData/row/c/is" && draft !== undefined) {
        if (draft.inline !== undefined) throw malformed("a cell has two texts");
        draft.inline = "";
      } else if (path === "worksheet/sheetData/row/c/f" && draft !== undefined) {
        draft.formula = true;
        const range = attributes.get("ref");
        if (range !== undefined && attributes.get("t") !== "shared") fill(range);
      }
    },
    close(path, text) {
      switch (path) {
        case "worksheet/sheetData/row/c/v":
          if (draft?.value !== undefined) throw malformed("a cell has two values");
          if (draft !== undefined) draft.value = text;
          break;
        case "worksheet/sheetData/row/c/is/t":
        case "worksheet/sheetData/row/c/is/r/t":
          if (draft !== undefined) draft.inline = `${draft.inline ?? ""}${unescaped(text)}`;
          break;
        case "worksheet/sheetData/row/c":
          if (draft !== undefined) finish(draft);
          draft = undefined;
          break;
        case "worksheet/sheetData/row":
          if (cells.length > 0) rows.push({ row, cells });
          break;
        default:
      }
    },
  });
  return { rows, end };
}

type Shown = Pick<Cell, "kind" | "value" | "stored">;

/** Undefined for a cell that has a place and nothing in it. */
function shownOf(
  book: Book,
  type: string,
  style: number,
  value: string | undefined,
): Shown | undefined {
  if (value === undefined || (value === "" && type !== "str" && type !== "inlineStr")) {
    return undefined;
  }
  switch (type) {
    case "s": {
      const text = /^\d{1,10}$/.test(value) ? book.texts[Number(value)] : undefined;
      if (text === undefined) throw malformed("a cell names a text that is not there");
      return asText("text", text);
    }
    case "str":
      return asText("text", unescaped(value));
    case "inlineStr":
      return asText("text", value);
    case "b":
      if (value !== "0" && value !== "1") throw malformed("a cell is neither true nor false");
      return asText("boolean", value === "1" ? "true" : "false");
    case "e":
      return asText("error", value);
    case "d":
      if (!ISO.test(value)) throw malformed("a cell has a date that is none");
      return asText("date", value);
    case "n":
      return numberOf(book, style, value);
    default:
      throw malformed("a cell has a type that is not known");
  }
}

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z?)?$/;

function numberOf(book: Book, style: number, stored: string): Shown {
  const value = numberText(stored);
  if (value === undefined) throw malformed("a cell has a number that is none");
  const moment = book.dates[style] === true ? momentOf(stored, book.from1904) : undefined;
  return { kind: "number", value, ...moment, stored };
}

function asText(kind: CellKind, value: string): Shown {
  const whole = wellFormed(value);
  return { kind, value: whole, stored: whole };
}

/** Rows and cells may leave out where they stand, and then follow the one before; they never go back. */
function next(before: number, given: string | undefined, most: number): number {
  const at = given === undefined ? before + 1 : Number(given);
  if (!Number.isInteger(at) || at <= before || at > most)
    throw malformed("its rows are in disorder");
  return at;
}

function columnOf(given: string | undefined, row: number, before: number): number {
  if (given === undefined) return next(before, undefined, MAX_COLUMN);
  const place = placeOf(given);
  if (place.row !== row) throw malformed("a cell stands in another row than it says");
  return next(before, String(place.column), MAX_COLUMN);
}

function placeOf(address: string): { readonly column: number; readonly row: number } {
  const [, letters = "", row = ""] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(address) ?? [];
  if (letters === "") throw malformed("a cell has an address that is none");
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { column, row: Number(row) };
}

function filledBy(range: string): Filled {
  const [first = "", last = first] = range.split(":");
  const from = placeOf(first);
  const to = placeOf(last);
  return { left: from.column, right: to.column, top: from.row, bottom: to.row };
}

/** Of a column from 1. */
export function lettersOf(column: number): string {
  let letters = "";
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}
