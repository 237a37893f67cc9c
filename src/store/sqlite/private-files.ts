/**
 * Directories and files that only their owner may use. Checked by what is on disk, before SQLite sees a path; nothing
 * is ever repaired, since whoever opened a directory to others had a reason or a fault, and both are for people.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
} from "node:fs";
import path from "node:path";
import { RoteError } from "../../base/error.ts";
import { quoted } from "../../base/quoted.ts";

/** SQLite's companions of a database file. */
const COMPANIONS = ["-wal", "-shm", "-journal"] as const;

/**
 * Makes the directory with mode 0700, or accepts one that is empty and already private.
 *
 * @throws RoteError `store_exists` `store_not_private` `store_not_a_directory` `store_read_only`
 */
export function makePrivateDirectory(directory: string): void {
  if (statsOf(directory) === undefined) {
    systemCall(directory, () => {
      // Asked first, since a recursive mkdir hides the reason.
      accessSync(nearestThatExists(directory), constants.W_OK);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      // A mask may have taken the owner's own rights.
      chmodSync(directory, 0o700);
    });
    syncDirectory(path.dirname(directory));
  }
  checkPrivateDirectory(directory);
  const [found] = systemCall(directory, () => readdirSync(directory));
  if (found !== undefined) {
    throw new RoteError(
      "store_exists",
      `${directory} is not empty (it has ${found}); a new memory needs a directory of its own`,
      { directory, hint: "open the memory that is there, or name another directory" },
    );
  }
}

/** @throws RoteError `store_missing` `store_not_a_directory` `store_not_private` */
export function checkPrivateDirectory(directory: string): void {
  const found = statsOf(directory);
  if (found === undefined) {
    throw new RoteError("store_missing", `${directory} does not exist`, {
      directory,
      hint: "create a memory there first",
    });
  }
  if (!found.isDirectory()) {
    const what = found.isSymbolicLink() ? "a symbolic link" : "not a directory";
    throw new RoteError("store_not_a_directory", `${directory} is ${what}`, {
      directory,
      hint: "name the directory itself",
    });
  }
  checkOwned(directory, found, "700");
}

/**
 * Directory and file of a store. That there is none comes first: what is wrong with a directory of something else is
 * nobody's business here, and making it private would be wrong advice.
 *
 * @throws RoteError as `checkPrivateDirectory`, and `store_not_a_file`; also for the file's companions
 */
export function checkPrivate(file: string): void {
  const directory = path.dirname(file);
  const found = statsOf(file);
  if (found !== undefined || statsOf(directory)?.isDirectory() !== true) {
    checkPrivateDirectory(directory);
  }
  if (found === undefined) {
    throw new RoteError("store_missing", `there is no memory and no journal in ${directory}`, {
      directory,
      hint: "create one there first",
    });
  }
  checkRegular(file, found);
  for (const companion of COMPANIONS) {
    const beside = statsOf(file + companion);
    if (beside !== undefined) checkRegular(file + companion, beside);
  }
}

/**
 * Asks the system whether both may be written. Unlike modes this is answered truly for root too: a read-only mount or
 * an immutable file refuses everybody.
 *
 * @throws RoteError `store_read_only`
 */
export function checkWritable(file: string): void {
  for (const place of [path.dirname(file), file]) {
    try {
      accessSync(place, constants.R_OK | constants.W_OK);
    } catch (cause) {
      throw readOnly(place, cause);
    }
  }
}

/** An empty file with mode 0600, which no name or link may have stood for before. */
export function makePrivateFile(file: string): void {
  systemCall(path.dirname(file), () => {
    const handle = openSync(file, "wx", 0o600);
    closeSync(handle);
    chmodSync(file, 0o600);
  });
}

/** Makes a new name in the directory survive a power cut. */
export function syncDirectory(directory: string): void {
  // Windows has no handles on directories; its file system keeps names by itself.
  if (process.platform === "win32") return;
  systemCall(directory, () => {
    const handle = openSync(directory, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  });
}

function checkRegular(file: string, found: Stats): void {
  if (!found.isFile() || found.nlink > 1) {
    const what = found.isSymbolicLink()
      ? "a symbolic link"
      : found.isFile()
        ? "known under a second name (a hard link)"
        : "not a regular file";
    throw new RoteError("store_not_a_file", `${file} is ${what}`, { file });
  }
  checkOwned(file, found, "600");
}

function checkOwned(place: string, found: Stats, mode: string): void {
  if (process.platform === "win32") return;
  const user = process.getuid?.();
  if (user !== undefined && found.uid !== user) {
    throw new RoteError(
      "store_not_private",
      `${place} belongs to user ${found.uid}, and this process runs as user ${user}`,
      { place },
    );
  }
  if ((found.mode & 0o077) === 0) return;
  const shown = (found.mode & 0o777).toString(8).padStart(4, "0");
  throw new RoteError("store_not_private", `${place} is open to others (mode ${shown})`, {
    place,
    hint: `chmod ${mode} ${quoted(place)}`,
  });
}

function nearestThatExists(place: string): string {
  const above = path.dirname(place);
  return above === place || statsOf(above) !== undefined ? above : nearestThatExists(above);
}

function statsOf(place: string): Stats | undefined {
  return systemCall(place, () => lstatSync(place, { throwIfNoEntry: false }));
}

function systemCall<T>(place: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    if (code === "EROFS" || code === "EACCES" || code === "EPERM") throw readOnly(place, cause);
    if (code === "ENOSPC" || code === "EDQUOT") {
      throw new RoteError("disk_full", `there is no space left for ${place}`, { place }, cause);
    }
    throw new RoteError("store_io_error", `${place} cannot be used (${code})`, { place }, cause);
  }
}

function readOnly(place: string, cause: unknown): RoteError {
  return new RoteError(
    "store_read_only",
    `${place} cannot be written by this process, and a memory that cannot be written cannot record a demotion`,
    { place },
    cause,
  );
}
