/** The spreadsheet file of a workpaper: read whole, replaced whole, and never from something that is not there any more. */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { Format, OpenOptions } from "../store/sqlite/format.ts";
import { createDatabase, openDatabase } from "../store/sqlite/open.ts";
import { type Writer, writerOf } from "../store/sqlite/writer.ts";
import {
  checkColumns,
  EMPTY,
  foreign,
  readSheet,
  type Sheet,
  sheetRows,
} from "./spreadsheet-rows.ts";
import { writeSealed } from "./spreadsheet-seal.ts";

const FILE = "workpaper.xlsx";
const LOCK_FILE = "workpaper.lock";
/** Attempts at a file that others keep changing. */
const ATTEMPTS = 8;

export type LockOptions = OpenOptions;

/** A database without content: what is wanted of it is the lock, which the system takes from a process that ends. */
const LOCK: Format = {
  name: "lock of a workpaper",
  // "Rwx1" in ASCII.
  applicationId: 0x52777831,
  migrations: ["CREATE TABLE lock (held INTEGER) STRICT;"],
};

/** @throws RoteError as `openSpreadsheetWorkpaper` */
export async function openPaper(
  directory: string,
  columns: readonly string[],
  mode: "create" | "open",
  options: LockOptions,
): Promise<Paper> {
  checkColumns(columns);
  const folder = path.resolve(directory);
  const file = path.join(folder, FILE);
  const empty = mode === "create" ? await writeSealed(sheetRows(EMPTY, columns)) : undefined;
  const connect = mode === "create" ? createDatabase : openDatabase;
  const writer = writerOf(connect(path.join(folder, LOCK_FILE), LOCK, options));
  const paper = paperOf(file, columns, writer);
  try {
    if (empty !== undefined) writer.write(() => replace(file, empty));
    // Lost, or never written: whoever made it died between the lock and the file.
    if (!existsSync(file)) throw foreign("is not there");
    await paper.load();
    return paper;
  } catch (error) {
    writer.close();
    throw error;
  }
}

export interface Paper {
  readonly file: string;
  load(this: void): Promise<Sheet>;
  /** Takes what `work` makes of the sheet; undefined leaves it as it is. One change of this process at a time. */
  change<T>(this: void, work: (sheet: Sheet) => Change<T>): Promise<Change<T>>;
  close(this: void): void;
}

export interface Change<T> {
  readonly outcome: T;
  readonly sheet?: Sheet;
}

/** From here on the new file may be in place. */
export class AfterRename extends Error {}

function paperOf(file: string, columns: readonly string[], writer: Writer): Paper {
  let turn: Promise<unknown> = Promise.resolve();

  /** False when the file is not any more what the new one was made from. */
  function replaceIf(digest: string, bytes: Uint8Array): boolean {
    let replaced = false;
    try {
      return writer.write(() => {
        if (sha256Hex(readFileSync(file)) !== digest) return false;
        replace(file, bytes);
        replaced = true;
        return true;
      });
    } catch (error) {
      throw replaced ? new AfterRename("the lock failed", { cause: error }) : error;
    }
  }

  async function attempt<T>(work: (sheet: Sheet) => Change<T>): Promise<Change<T>> {
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      writer.read(() => undefined);
      const before = readFileSync(file);
      const change = work(await readSheet(before, columns));
      if (change.sheet === undefined) return change;
      const bytes = await writeSealed(sheetRows(change.sheet, columns));
      if (replaceIf(sha256Hex(before), bytes)) return change;
    }
    throw new RoteError("store_busy", "the workpaper is being written by others");
  }

  return {
    async load() {
      writer.read(() => undefined);
      return readSheet(readFileSync(file), columns);
    },
    file,
    close: writer.close,
    change(work) {
      const mine = turn.then(() => attempt(work));
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function replace(file: string, bytes: Uint8Array): void {
  const draft = `${file}.new`;
  const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW } = constants;
  const handle = openSync(draft, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(handle, bytes);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    renameSync(draft, file);
    syncFolder(path.dirname(file));
  } catch (error) {
    throw new AfterRename("the new workpaper may or may not be in place", { cause: error });
  }
}
