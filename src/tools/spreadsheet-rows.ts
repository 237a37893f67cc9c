/** A workpaper's rows, between its spreadsheet and JSON. What is written and read again is the same, value by value. */
import { RoteError } from "../base/error.ts";
import { Declared } from "./outcome.ts";
import { type Book, openBook } from "./spreadsheet-book.ts";
import { type Cell, cellsOf, lettersOf } from "./spreadsheet-cells.ts";
import { type CellValue, type SheetRows, sealOf } from "./spreadsheet-seal.ts";

export type Content = { readonly [column: string]: CellValue };

export interface Entry {
  readonly key: string;
  readonly operation: string;
  readonly content: Content;
}

export interface Sheet {
  /** By position, from 1. */
  readonly entries: readonly Entry[];
  readonly void: readonly string[];
}

export const EMPTY: Sheet = { entries: [], void: [] };
export const MAX_ENTRIES = 5_000;
export const MAX_COLUMNS = 40;
const FIXED = ["position", "key", "operation"] as const;
const ENTRIES = "Workpaper";
const VOID = "Void operations";
const MAX_UNPACKED = 64 * 1024 * 1024;
/** Of a sheet that is full: more cells than it can have. */
const MAX_CELLS = (MAX_ENTRIES + 1) * (FIXED.length + MAX_COLUMNS);

/** @throws RoteError `bad_tool` */
export function checkColumns(columns: readonly string[]): void {
  const all = [...FIXED, ...columns];
  const good = columns.every((column) => column.length >= 1 && column.length <= 60 && fits(column));
  if (
    good &&
    columns.length >= 1 &&
    columns.length <= MAX_COLUMNS &&
    new Set(all).size === all.length
  ) {
    return;
  }
  throw new RoteError(
    "bad_tool",
    `a workpaper has 1 to ${MAX_COLUMNS} columns, each with a name of its own that is none of ${FIXED.join(", ")}`,
  );
}

/** Whether a cell can hold a text: no character that XML has not, and no more than programs show. */
export function fits(text: string): boolean {
  const shown = text.replaceAll(/[\t\n\r]/g, "");
  return text.length <= 32_767 && !/[\p{Cc}\ufffe\uffff]/u.test(shown);
}

/** Characters of all entries: in the worst case XML takes five bytes for one, and what is written must be readable. */
const MAX_TEXT = 8 * 1024 * 1024;

export function isRoomFor(entries: readonly Entry[]): boolean {
  if (entries.length > MAX_ENTRIES) return false;
  let text = 0;
  for (const { key, operation, content } of entries) {
    text += key.length + operation.length;
    for (const value of Object.values(content)) text += String(value).length;
  }
  return text <= MAX_TEXT;
}

export function sheetRows(sheet: Sheet, columns: readonly string[]): readonly SheetRows[] {
  const entries = sheet.entries.map(({ key, operation, content }, index) => [
    index + 1,
    key,
    operation,
    ...columns.map((column) => content[column] ?? null),
  ]);
  return [
    { name: ENTRIES, rows: [[...FIXED, ...columns], ...entries] },
    { name: VOID, rows: [["operation"], ...sheet.void.map((operation) => [operation])] },
  ];
}

/** @throws RoteError `workpaper_foreign` `workpaper_changed` */
export async function readSheet(bytes: Uint8Array, columns: readonly string[]): Promise<Sheet> {
  const seal = sealOf(bytes);
  if (seal === "foreign") throw foreign("is no workpaper that rote wrote");
  if (seal === "changed") {
    throw new RoteError("workpaper_changed", "the workpaper was changed by something else", {
      hint: "put back the file as it was; the receipts of its entries say what it held",
    });
  }
  try {
    const book = await openBook(bytes, MAX_UNPACKED);
    // One more than there should be, so that a column which is left out is seen.
    const expected = [...FIXED, ...columns, null];
    const [head = [], ...entries] = await rowsOf(book, 0, expected.length);
    if (expected.some((column, at) => head[at] !== column)) throw foreign("has other columns");
    const [, ...voids] = await rowsOf(book, 1, 1);
    return {
      entries: entries.map(([, key, operation, ...values]) => ({
        key: String(key),
        operation: String(operation),
        content: Object.fromEntries(columns.map((column, at) => [column, values[at] ?? null])),
      })),
      void: voids.map(([operation]) => String(operation)),
    };
  } catch (error) {
    if (error instanceof Declared) throw foreign("cannot be read");
    throw error;
  }
}

async function rowsOf(
  book: Book,
  index: number,
  width: number,
): Promise<readonly (readonly CellValue[])[]> {
  const sheet = book.sheets[index];
  if (sheet === undefined) throw foreign("lacks a sheet");
  const range = { from: 1, count: MAX_ENTRIES + 1 };
  const { rows } = cellsOf(book, await book.part(sheet.part), range, MAX_CELLS);
  return rows.map(({ cells }) => {
    const values = new Map(cells.map((cell) => [cell.column, asValue(cell)]));
    return Array.from({ length: width }, (_, at) => values.get(lettersOf(at + 1)) ?? null);
  });
}

function asValue({ kind, value }: Cell): CellValue {
  if (kind === "number") return Number(value);
  return kind === "boolean" ? value === "true" : value;
}

export function foreign(what: string): RoteError {
  return new RoteError("workpaper_foreign", `the workpaper's file ${what}`);
}
