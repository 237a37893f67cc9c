/**
 * A host's record as somebody reads it who writes nothing: no key, no migration, no tree head, no file that stays
 * behind. All that is read is from one moment, also while the host goes on writing.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { RoteError } from "../../base/error.ts";
import type { RecordView } from "../../ports/bundle.ts";
import type { OpenOptions } from "./format.ts";
import { sqliteJournalTables } from "./journal-tables.ts";
import { readDatabase } from "./open.ts";
import { FILE, PROCEDURES } from "./schema.ts";
import { HEADS_FILE } from "./store.ts";
import { writerOf } from "./writer.ts";

export interface RecordReader extends RecordView {
  /** Where the host keeps the copy of tree heads if it names no better place; it need not exist. */
  readonly headsFile: string;
  close(): void;
}

/** True for a directory in which a host keeps its store. */
export function isStore(directory: string): boolean {
  return existsSync(path.join(directory, FILE));
}

/** @throws RoteError as `readDatabase` */
export function readSqliteRecord(directory: string, options: OpenOptions = {}): RecordReader {
  const file = path.join(path.resolve(directory), FILE);
  const database = readDatabase(file, PROCEDURES, options);
  const writer = writerOf(database);
  try {
    // Held until it is closed: every later reading sees the record as it is now.
    database.exec("BEGIN");
    const tables = sqliteJournalTables(database, writer);
    const { size } = tables.end();
    const heads = tables.heads().map(({ note }) => note);
    return {
      headsFile: path.join(path.dirname(file), HEADS_FILE),
      head: () => ({ size: BigInt(size) }),
      heads: () => heads,
      blob: (sha256) => tables.blob(sha256),
      raw: (fromIndex, limit) => filled(tables.scan(fromIndex, limit), fromIndex, limit, size),
      close: writer.close,
    };
  } catch (error) {
    writer.close();
    throw error instanceof RoteError ? error : damaged(file, error);
  }
}

/** Where an entry is missing stands nothing, so that those behind it keep their places. */
function filled(
  rows: readonly { readonly index: number; readonly bytes: Uint8Array }[],
  from: number,
  limit: number,
  size: number,
): readonly Uint8Array[] {
  const found = new Map(rows.map(({ index, bytes }) => [index, bytes]));
  const length = Math.max(0, Math.min(limit, size - from));
  return Array.from({ length }, (_, at) => found.get(from + at) ?? new Uint8Array(0));
}

function damaged(file: string, cause: unknown): RoteError {
  return new RoteError("store_damaged", `${file} cannot be read as a journal`, { file }, cause);
}
