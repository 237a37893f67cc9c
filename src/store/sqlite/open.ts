/**
 * The one way in which Rote opens a database.
 *
 * - F1 A file is looked at before anything is written: another program's, a newer Rote's, a damaged or a read-only
 *   file is refused with its bytes unchanged.
 * - F2 A commit is on disk when it returns: write-ahead log with `synchronous = FULL`, read back, or no opening. The
 *   driver's own default in that mode syncs only at checkpoints.
 * - F3 Integers come as bigint, so that none is ever rounded.
 * - F4 Files have mode 0600 in a directory of mode 0700; the schema is exactly the one our migrations make, so no
 *   trigger or view of somebody else's ever runs.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import type Driver from "better-sqlite3";
import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import { Sqlite } from "./driver.ts";
import { isSqlite, told } from "./failure.ts";
import type { Format, OpenOptions } from "./format.ts";
import { damaged, readHeader } from "./header.ts";
import { migrate, schemaOf } from "./migrate.ts";
import {
  checkPrivate,
  checkWritable,
  makePrivateDirectory,
  makePrivateFile,
  syncDirectory,
} from "./private-files.ts";

export type Database = Driver.Database;

/**
 * A new database in a directory that does not exist or is empty.
 *
 * @throws RoteError `store_exists` `store_not_private` `store_not_a_directory` `store_read_only` `disk_full`
 */
export function createDatabase(file: string, format: Format, options: OpenOptions = {}): Database {
  const directory = path.dirname(file);
  makePrivateDirectory(directory);
  // Made whole under another name: a crash leaves no half a database where one is looked for.
  const draft = `${file}.new`;
  try {
    draftDatabase(draft, format, options);
    renameSync(draft, file);
    syncDirectory(directory);
  } catch (error) {
    removeDraft(draft);
    throw told(error);
  }
  return openDatabase(file, format, options);
}

/** A whole new database under a name that nothing stood for before. */
export function draftDatabase(draft: string, format: Format, options: OpenOptions): void {
  makePrivateFile(draft);
  const database = connect(draft, options);
  try {
    database.pragma("synchronous = FULL");
    database.pragma(`application_id = ${format.applicationId}`);
    migrate(database, format);
    database.pragma("journal_mode = WAL");
  } finally {
    database.close();
  }
}

export function removeDraft(draft: string): void {
  for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(draft + end, { force: true });
}

/**
 * A database that exists, brought to the present version.
 *
 * @throws RoteError `store_missing` `store_not_private` `store_not_a_directory` `store_not_a_file` `store_foreign`
 * `store_damaged` `store_newer` `store_read_only` `store_not_durable` `store_busy`
 */
export function openDatabase(file: string, format: Format, options: OpenOptions = {}): Database {
  checkPrivate(file);
  inspectHeader(file, format);
  checkWritable(file);
  let database: Database | undefined;
  try {
    inspect(file, format, options);
    database = connect(file, options);
    makeDurable(database, file);
    migrate(database, format);
    return database;
  } catch (error) {
    database?.close();
    throw told(error);
  }
}

/**
 * A database that exists, for reading alone: nothing is brought up to date, and every write is refused.
 *
 * @throws RoteError as `openDatabase`; `store_older` where reading would take a migration first
 */
export function readDatabase(file: string, format: Format, options: OpenOptions = {}): Database {
  checkPrivate(file);
  inspectHeader(file, format);
  // A connection for reading alone leaves an empty log where none was, and any other takes that away again. A log that
  // is there stays as it is, since moving it into the file would be writing.
  const logged = existsSync(`${file}-wal`);
  let database: Database | undefined;
  try {
    database = connect(file, options, logged);
    database.pragma("query_only = ON");
    const version = inspectContent(database, file, format);
    if (version < format.migrations.length) throw older(file, format, version);
    return database;
  } catch (error) {
    database?.close();
    throw told(error);
  }
}

function older(file: string, format: Format, version: number): RoteError {
  return new RoteError(
    "store_older",
    `${file} has version ${version} of the ${format.name}, and this rote reads version ${format.migrations.length}`,
    {
      file,
      version,
      hint: "read a copy of it that the host has opened once, or use the rote that wrote it",
    },
  );
}

function connect(file: string, options: OpenOptions, readonly = false): Database {
  const database = loaded(
    () =>
      new Sqlite(file, {
        fileMustExist: file !== MEMORY,
        readonly,
        timeout: options.busyTimeoutMs ?? 5_000,
      }),
  );
  database.defaultSafeIntegers(true);
  database.pragma("trusted_schema = OFF");
  database.pragma("cell_size_check = ON");
  database.pragma("foreign_keys = ON");
  return database;
}

const MEMORY = ":memory:";

/** A database that is gone when it is closed, for what has to be asked of SQLite itself. */
export function connectMemory(): Database {
  return connect(MEMORY, {});
}

/** The driver loads its native module at the first opening. */
function loaded<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (isSqlite(error)) throw error;
    const [line = ""] = String(error instanceof Error ? error.message : error).split("\n");
    throw new RoteError(
      "sqlite_unavailable",
      `the native module of better-sqlite3 does not load: ${line}`,
      { hint: "run npm rebuild better-sqlite3 with this Node; it may need a C++ compiler" },
      error,
    );
  }
}

/** @throws RoteError `store_not_durable` where a commit would not be on disk when it returns */
export function makeDurable(database: Database, file: string): void {
  const mode = database.pragma("journal_mode = WAL", { simple: true });
  database.pragma("synchronous = FULL");
  if (process.platform === "darwin") {
    database.pragma("fullfsync = ON");
    database.pragma("checkpoint_fullfsync = ON");
  }
  // What is forgotten is overwritten, not only unlinked.
  database.pragma("secure_delete = ON");
  const synchronous = Number(database.pragma("synchronous", { simple: true }));
  if (mode === "wal" && synchronous >= 2) return;
  throw new RoteError(
    "store_not_durable",
    `${file} cannot be written durably here (journal mode ${String(mode)}, synchronous ${synchronous})`,
    { file, hint: "put the memory on a local file system" },
  );
}

function inspectHeader(file: string, format: Format): void {
  const { applicationId, version } = readHeader(file);
  if (applicationId !== format.applicationId) {
    throw new RoteError(
      "store_foreign",
      `${file} is an SQLite database, but not a ${format.name} of rote`,
      { file, application_id: applicationId },
    );
  }
  refuseVersion(file, format, version);
}

/** Opened for reading only, file and log stay as they are; what the log holds of a newer version is seen too. */
function inspect(file: string, format: Format, options: OpenOptions): void {
  const database = connect(file, options, true);
  try {
    inspectContent(database, file, format);
  } finally {
    database.close();
  }
}

/** The version of what is there, whose tables are exactly those of that version. */
function inspectContent(database: Database, file: string, format: Format): number {
  const version = Number(database.pragma("user_version", { simple: true }));
  refuseVersion(file, format, version);
  const schema = schemaOf(database);
  const stated = format.schemas?.[version - 1];
  const same =
    stated === undefined
      ? schema === madeSchema(format, version)
      : sha256Hex(Buffer.from(schema)) === stated;
  if (same) return version;
  throw damaged(file, `its tables are not those of version ${version}`);
}

/** The tables of a version as its migrations make them. */
function madeSchema(format: Format, version: number): string {
  const reference = connectMemory();
  try {
    migrate(reference, { ...format, migrations: format.migrations.slice(0, version) });
    return schemaOf(reference);
  } finally {
    reference.close();
  }
}

function refuseVersion(file: string, format: Format, version: number): void {
  const known = format.migrations.length;
  // A file gets its tables and its version in one transaction, before it gets its name.
  if (version === 0) throw damaged(file, "it states no version");
  if (version <= known) return;
  throw new RoteError(
    "store_newer",
    `${file} has version ${version} of the ${format.name}, and this rote knows versions up to ${known}`,
    { file, version, known, hint: "use the newer rote that wrote it; this one changed nothing" },
  );
}
