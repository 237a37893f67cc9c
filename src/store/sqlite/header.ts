/** Looks at a database file without SQLite: what is not ours is refused with its bytes unread by any SQL. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { RoteError } from "../../base/error.ts";

export interface Header {
  readonly applicationId: number;
  /** May be behind what the write-ahead log holds. */
  readonly version: number;
}

const MAGIC = "SQLite format 3\0";
const VERSION_AT = 60;
const APPLICATION_AT = 68;
const LENGTH = 100;

/** @throws RoteError `store_damaged` for a file that is empty, cut off or not a database. */
export function readHeader(file: string): Header {
  const bytes = Buffer.alloc(LENGTH);
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const size = fstatSync(handle).size;
    if (size === 0) throw damaged(file, "it is empty");
    const count = readSync(handle, bytes, 0, LENGTH, 0);
    if (count < LENGTH || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) {
      throw damaged(file, "it is not an SQLite database");
    }
  } finally {
    closeSync(handle);
  }
  return {
    applicationId: bytes.readUInt32BE(APPLICATION_AT),
    version: bytes.readUInt32BE(VERSION_AT),
  };
}

export function damaged(file: string, what: string, cause?: unknown): RoteError {
  return new RoteError("store_damaged", `${file} is damaged: ${what}`, { file }, cause);
}
