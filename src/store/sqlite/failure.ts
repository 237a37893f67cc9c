/** Failures of SQLite in our own words. */
import { RoteError } from "../../base/error.ts";
import { Sqlite } from "./driver.ts";

interface Told {
  readonly code: string;
  readonly message: string;
}

const TOLD: readonly (readonly [prefix: string, told: Told])[] = [
  ["SQLITE_BUSY", { code: "store_busy", message: "another process keeps the memory locked" }],
  ["SQLITE_LOCKED", { code: "store_busy", message: "another statement keeps the memory locked" }],
  ["SQLITE_FULL", { code: "disk_full", message: "there is no space left for the memory" }],
  ["SQLITE_READONLY", { code: "store_read_only", message: "the memory cannot be written" }],
  ["SQLITE_CORRUPT", { code: "store_damaged", message: "the memory is damaged" }],
  ["SQLITE_NOTADB", { code: "store_damaged", message: "the memory is not a database any more" }],
  ["SQLITE_CANTOPEN", { code: "store_io_error", message: "the memory cannot be opened" }],
  ["SQLITE_IOERR", { code: "store_io_error", message: "the memory cannot be read or written" }],
];

/** The error to throw for `error`; anything that is not SQLite's stays as it is. */
export function told(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  const [, found] = TOLD.find(([prefix]) => error.code.startsWith(prefix)) ?? [];
  const { code, message } = found ?? { code: "store_io_error", message: "the memory failed" };
  return new RoteError(code, `${message} (${error.code})`, { sqlite: error.code }, error);
}

export function isSqlite(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError;
}

export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY");
}
