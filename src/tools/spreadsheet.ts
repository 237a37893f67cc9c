/**
 * Cells of a registered spreadsheet (`.xlsx`) as a read. Numbers come as decimal text, dates in ISO form, a formula as
 * the value that was kept of it; nothing is calculated.
 *
 * Read with Node's own inflate and a reader of ours, so there is no package to install. What may be unpacked, and how
 * many cells one answer holds, is bounded; a bomb costs the bound and no more.
 */
import type { JsonValue } from "../base/json.ts";
import type { Tool } from "../ports/tool.ts";
import { defineTool, type ToolWords, wordsOf } from "./definition.ts";
import { committedRead, isWantedContent, WANTED_CONTENT } from "./documents.ts";
import { type FileSources, SPREADSHEET_TYPE } from "./file-sources.ts";
import { faultOf, isInteger, membersOf } from "./members.ts";
import { done, refused } from "./outcome.ts";
import { openBook } from "./spreadsheet-book.ts";
import { cellsOf } from "./spreadsheet-cells.ts";

export interface SpreadsheetToolOptions extends Partial<ToolWords> {
  /** Cells that one answer may hold. Default 10,000. */
  readonly maxCells?: number;
  /** Bytes that may be unpacked for one answer. Default 32 MiB, which takes a second or so, in one go. */
  readonly maxUnpacked?: number;
}

interface Request {
  readonly source: string;
  readonly sha256: string | undefined;
  readonly sheet: string | number;
  readonly from: number;
  readonly count: number;
}

const MAX_ROWS = 10_000;

const DESCRIPTION = `Reads the cells of up to ${MAX_ROWS} rows of one sheet of a registered spreadsheet, by the sheet's name or its number from 1. Cells without content are left out. A number is text in decimal digits, and a formula is the value that was kept of it.`;

const INPUT: JsonValue = {
  type: "object",
  properties: {
    source: { type: "string" },
    sha256: WANTED_CONTENT,
    sheet: { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] },
    from: { type: "integer", minimum: 1, description: "the first row" },
    count: { type: "integer", minimum: 1, maximum: MAX_ROWS },
  },
  required: ["source", "sheet", "from", "count"],
  additionalProperties: false,
};

const CELL: JsonValue = {
  type: "object",
  properties: {
    column: { type: "string", description: "letters" },
    kind: { enum: ["text", "number", "date", "time", "boolean", "error", "none"] },
    value: { type: "string" },
    stored: { type: "string", description: "what the file holds for a number, date or time" },
    formula: { type: "boolean" },
  },
  required: ["column", "kind", "value", "stored", "formula"],
  additionalProperties: false,
};

const OUTPUT: JsonValue = {
  type: "object",
  properties: {
    source: { type: "string" },
    sha256: { type: "string", description: "of the whole source" },
    media_type: { type: "string" },
    sheets: { type: "array", items: { type: "string" } },
    sheet: { type: "string" },
    from: { type: "integer", minimum: 1 },
    count: { type: "integer", minimum: 1 },
    end: { type: "integer", minimum: 0, description: "the last row with content" },
    rows: {
      type: "array",
      items: {
        type: "object",
        properties: {
          row: { type: "integer", minimum: 1 },
          cells: { type: "array", items: CELL },
        },
        required: ["row", "cells"],
        additionalProperties: false,
      },
    },
  },
  required: ["source", "sha256", "media_type", "sheets", "sheet", "from", "count", "end", "rows"],
  additionalProperties: false,
};

/** @throws RoteError `bad_tool` */
export function spreadsheetTool(sources: FileSources, options: SpreadsheetToolOptions = {}): Tool {
  const maxCells = options.maxCells ?? 10_000;
  const maxUnpacked = options.maxUnpacked ?? 32 * 1024 * 1024;
  const definition = defineTool(
    wordsOf(options, { name: "spreadsheet.read", description: DESCRIPTION }),
    {
      server: "file",
      input: INPUT,
      output: OUTPUT,
      annotations: { max_cells: maxCells, max_unpacked: maxUnpacked },
    },
  );
  return {
    definition,
    fault: (args) => faultOf(requestOf(args)),
    call: committedRead(sources, SPREADSHEET_TYPE, requestOf, async ({ request, bytes, about }) => {
      const book = await openBook(bytes, maxUnpacked);
      const { sheet: wanted, from, count } = request;
      const sheet =
        typeof wanted === "number"
          ? book.sheets[wanted - 1]
          : book.sheets.find(({ name }) => name === wanted);
      if (sheet === undefined) return refused("sheet_absent", "the spreadsheet has no such sheet");
      const { rows, end } = cellsOf(book, await book.part(sheet.part), { from, count }, maxCells);
      const sheets = book.sheets.map(({ name }) => name);
      const found = { sheets, sheet: sheet.name, from, count, end };
      return done({ ...about, ...found, rows });
    }),
  };
}

/** The request, or why it is none. */
function requestOf(args: JsonValue): Request | string {
  const members = membersOf(args, ["source", "sha256", "sheet", "from", "count"]);
  if (typeof members === "string") return members;
  const { source, sha256, sheet, from, count } = members;
  if (typeof source !== "string") return "/source: a text names the source";
  if (!isWantedContent(sha256)) return "/sha256: 64 hexadecimal digits";
  if (typeof sheet !== "string" && !isInteger(sheet, 1)) {
    return "/sheet: a name, or a number from 1";
  }
  if (!isInteger(from, 1)) return "/from: an integer from 1";
  if (!isInteger(count, 1) || count > MAX_ROWS) return `/count: an integer from 1 to ${MAX_ROWS}`;
  return { source, sha256, sheet, from, count };
}
