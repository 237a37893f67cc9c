/**
 * An append-only workpaper as a spreadsheet that people open: one row for an entry, with the operation that wrote it.
 * Needs the package `write-excel-file`, which is loaded when a row is first written.
 *
 * - P1 An operation writes at most one row; asked again it answers with what it wrote before.
 * - P2 A probe that does not find an operation puts it on the sheet of void ones. From then on that operation cannot
 *   write, however late its process wakes up; so `absent` is final, and a reviewer may call the tool fenced.
 * - P3 The file is replaced as a whole (written beside it, synced, renamed) and only if it still is what was read, under
 *   a lock that ends with its process. After a crash it is the old one or the new one.
 * - P4 A file that is not ours, or that a spreadsheet program has saved since, is refused, not mended. Whoever owns the
 *   directory can put an older copy in its place: receipts show that, the file does not.
 */
import { canonicalText } from "../base/canonical.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { ProbeOutcome, Tool, ToolCall, ToolOutcome } from "../ports/tool.ts";
import { defineTool } from "./definition.ts";
import { faultOf, type Members, membersOf } from "./members.ts";
import { badArguments, broke, CANCELLED, done, nameOf, nothingDone, refused } from "./outcome.ts";
import {
  AfterRename,
  type Change,
  type LockOptions,
  openPaper,
  type Paper,
} from "./spreadsheet-paper.ts";
import {
  type Content,
  type Entry,
  fits,
  isRoomFor,
  MAX_ENTRIES,
  type Sheet,
} from "./spreadsheet-rows.ts";
import type { CellValue } from "./spreadsheet-seal.ts";
import {
  appendShape,
  isEntryKey,
  KEY_FAULT,
  MAX_COUNT,
  readShape,
  type Wanted,
  wantedOf,
} from "./workpaper-shape.ts";

export interface SpreadsheetWorkpaper {
  /** `spreadsheet_workpaper.read`: the entry of a key, or entries by position. */
  readonly read: Tool;
  /** `spreadsheet_workpaper.append`: one row under a new key. */
  readonly append: Tool;
  /** The spreadsheet, for people. Looking at a copy is safe; saving it in place makes it foreign. */
  readonly file: string;
  close(this: void): void;
}

export type { LockOptions };

export interface SpreadsheetWorkpaperOptions extends LockOptions {
  /** `create` needs a directory that does not exist or is empty. */
  readonly mode: "create" | "open";
  /** The columns of an entry's content, in their order; the same at every opening. At most 40. */
  readonly columns: readonly string[];
}

/** Digits that a spreadsheet keeps of a number. */
const MAX_NUMBER = 999_999_999_999_999;

/**
 * @throws RoteError `bad_tool` `package_missing` `workpaper_foreign` `workpaper_changed`; as `createDatabase` and
 * `openDatabase`
 */
export async function openSpreadsheetWorkpaper(
  directory: string,
  options: SpreadsheetWorkpaperOptions,
): Promise<SpreadsheetWorkpaper> {
  const { mode } = options;
  const columns = [...options.columns];
  const paper = await openPaper(directory, columns, mode, options);
  return {
    read: readTool(paper, columns),
    append: appendTool(paper, columns),
    file: paper.file,
    close: paper.close,
  };
}

function contentSchema(columns: readonly string[]): JsonValue {
  const value = { type: ["string", "integer", "boolean", "null"] };
  return {
    type: "object",
    properties: Object.fromEntries(columns.map((column) => [column, value])),
    required: [...columns],
    additionalProperties: false,
  };
}

function appendTool(paper: Paper, columns: readonly string[]): Tool {
  const definition = defineTool(
    {
      name: "spreadsheet_workpaper.append",
      description:
        "Writes one row into the spreadsheet workpaper under a key that no row has yet. Rows are never changed.",
    },
    appendShape(contentSchema(columns)),
  );

  function append(sheet: Sheet, entry: Entry): Change<ToolOutcome> {
    const before = positionOf(sheet, entry.operation);
    if (before > 0) return { outcome: again(sheet, before, entry) };
    if (sheet.void.includes(entry.operation)) {
      const message = "a probe did not find this operation and made it void";
      return { outcome: nothingDone("operation_void", message) };
    }
    if (sheet.entries.some(({ key }) => key === entry.key)) {
      return { outcome: refused("duplicate_key", "an entry has this key already") };
    }
    const entries = [...sheet.entries, entry];
    if (!isRoomFor(entries)) {
      return { outcome: refused("workpaper_full", "the workpaper takes no more entries") };
    }
    return { outcome: done(written(entry.key, entries.length)), sheet: { ...sheet, entries } };
  }

  function probe(sheet: Sheet, operation: string): Change<ProbeOutcome> {
    const before = positionOf(sheet, operation);
    const found = sheet.entries[before - 1];
    if (found !== undefined) {
      return { outcome: { kind: "done", result: written(found.key, before) } };
    }
    const absent = { kind: "absent" } as const;
    if (sheet.void.includes(operation)) return { outcome: absent };
    if (sheet.void.length >= MAX_ENTRIES) return { outcome: { kind: "unknown" } };
    return { outcome: absent, sheet: { ...sheet, void: [...sheet.void, operation] } };
  }

  return {
    definition,
    fault: (args) => faultOf(entryOf(args, columns)),
    async call(call) {
      const entry = entryOf(call.arguments, columns);
      if (typeof entry === "string") return badArguments(entry);
      return guarded(call, () =>
        paper.change((sheet) => append(sheet, { ...entry, operation: call.operationId })),
      );
    },
    async probe({ operationId }) {
      const { outcome } = await paper.change((sheet) => probe(sheet, operationId));
      return outcome;
    },
  };
}

function positionOf(sheet: Sheet, operation: string): number {
  return sheet.entries.findIndex((entry) => entry.operation === operation) + 1;
}

function again(sheet: Sheet, position: number, { key, content }: Entry): ToolOutcome {
  const before = sheet.entries[position - 1];
  if (before?.key === key && canonicalText(before.content) === canonicalText(content)) {
    return done(written(key, position));
  }
  return refused("operation_reused", "another entry was written under this operation");
}

function written(key: string, position: number): JsonValue {
  return { key, position };
}

function readTool(paper: Paper, columns: readonly string[]): Tool {
  const definition = defineTool(
    {
      name: "spreadsheet_workpaper.read",
      description: `Reads the spreadsheet workpaper's entry with a key, or up to ${MAX_COUNT} entries from a position on.`,
    },
    readShape(contentSchema(columns)),
  );

  function read(sheet: Sheet, wanted: Wanted): ToolOutcome {
    const all = sheet.entries.map((entry, index) => ({ position: index + 1, ...entry }));
    const end = all.length;
    if (!("key" in wanted)) {
      const { from, count } = wanted;
      return done({ entries: all.slice(from - 1, from - 1 + count), end });
    }
    const entries = all.filter(({ key }) => key === wanted.key);
    if (entries.length === 0) return refused("entry_absent", "no entry has this key");
    return done({ entries, end });
  }

  return {
    definition,
    fault: (args) => faultOf(wantedOf(args, isKey)),
    async call(call) {
      const wanted = wantedOf(call.arguments, isKey);
      if (typeof wanted === "string") return badArguments(wanted);
      return guarded(call, async () => ({ outcome: read(await paper.load(), wanted) }));
    },
  };
}

/** Until the file is renamed nothing has happened, whatever breaks. */
async function guarded(
  call: ToolCall,
  work: () => Promise<Change<ToolOutcome>>,
): Promise<ToolOutcome> {
  if (call.signal.aborted) return CANCELLED;
  try {
    const { outcome } = await work();
    return outcome;
  } catch (error) {
    if (error instanceof AfterRename) {
      throw broke("workpaper_failed", "the workpaper cannot be used", error.cause);
    }
    const code = error instanceof RoteError ? error.code : "workpaper_failed";
    return nothingDone(code, `the workpaper cannot be used (${nameOf(error)})`);
  }
}

type Asked = Pick<Entry, "key" | "content">;

function entryOf(args: JsonValue, columns: readonly string[]): Asked | string {
  const members = membersOf(args, ["key", "content"]);
  if (typeof members === "string") return members;
  const { key, content } = members;
  if (!isKey(key)) return KEY_FAULT;
  if (content === undefined) return "/content: missing";
  const values = membersOf(content, columns);
  if (typeof values === "string") return `/content: ${values}`;
  const bad = columns.find((column) => !isCell(values, column));
  if (bad !== undefined) {
    return `/content/${bad}: a text that a cell can hold and is not empty, an integer of 15 digits, true, false or null`;
  }
  return { key, content: contentOf(values, columns) };
}

function contentOf(values: Members, columns: readonly string[]): Content {
  return Object.fromEntries(columns.map((column) => [column, cellOf(values[column])]));
}

function cellOf(value: JsonValue | undefined): CellValue {
  return value === undefined || (typeof value === "object" && value !== null) ? null : value;
}

/** An empty text is refused, since a cell without content is what null is. */
function isCell(values: Members, column: string): boolean {
  const value = values[column];
  if (value === null || typeof value === "boolean") return true;
  if (typeof value === "string") return value !== "" && fits(value);
  return Number.isSafeInteger(value) && Math.abs(Number(value)) <= MAX_NUMBER;
}

function isKey(value: JsonValue | undefined): value is string {
  return isEntryKey(value) && fits(value);
}
