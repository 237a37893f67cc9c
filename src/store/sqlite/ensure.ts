/**
 * Opening a database that may not be there yet, by any number of processes at once, each of which may be killed.
 *
 * - N1 A database appears under its name whole, and once: whoever comes second takes what is there.
 * - N2 What a process left that was killed while making one is no obstacle, and is removed when it is certainly old.
 */
import { existsSync, linkSync, lstatSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import type { Clock } from "../../ports/clock.ts";
import { told } from "./failure.ts";
import type { Format, OpenOptions } from "./format.ts";
import { type Database, draftDatabase, openDatabase, removeDraft } from "./open.ts";
import { checkPrivateDirectory, makePrivateDirectory, syncDirectory } from "./private-files.ts";

const MARK = ".new-";
/** Making a database takes milliseconds. */
const OLD_MS = 3_600_000;

export interface EnsureOptions extends OpenOptions {
  /** Who this process is: no two have one name. */
  readonly owner: string;
  readonly clock: Clock;
}

/**
 * @throws RoteError as `openDatabase`; `store_exists` for a directory that holds something else
 */
export function ensureDatabase(file: string, format: Format, options: EnsureOptions): Database {
  const directory = path.dirname(file);
  if (existsSync(directory)) checkPrivateDirectory(directory);
  else makeDirectory(directory);
  if (!existsSync(file)) {
    refuseOthers(file);
    makeOnce(file, format, options);
  }
  removeDrafts(file, options.clock);
  return openDatabase(file, format, options);
}

function makeDirectory(directory: string): void {
  try {
    makePrivateDirectory(directory);
  } catch (error) {
    // Another process may have been faster, and have begun to fill it.
    if (!(error instanceof RoteError && error.code === "store_exists")) throw error;
    checkPrivateDirectory(directory);
  }
}

function makeOnce(file: string, format: Format, options: EnsureOptions): void {
  const draft = `${file}${MARK}${sha256Hex(Buffer.from(options.owner)).slice(0, 16)}`;
  try {
    draftDatabase(draft, format, options);
    // A second name, unlike a new one, never takes the place of what is there.
    linkSync(draft, file);
    syncDirectory(path.dirname(file));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw told(error);
  } finally {
    removeDraft(draft);
  }
}

function refuseOthers(file: string): void {
  const directory = path.dirname(file);
  const own = path.basename(file);
  const [found] = readdirSync(directory).filter((name) => !name.startsWith(own));
  if (found === undefined || existsSync(file)) return;
  throw new RoteError(
    "store_exists",
    `${directory} is not empty (it has ${found}) and holds no store; a new one needs a directory of its own`,
    { directory, hint: "name another directory" },
  );
}

/** Drafts of processes that were killed: those that became the database, and old ones. */
function removeDrafts(file: string, clock: Clock): void {
  const directory = path.dirname(file);
  const made = lstatSync(file);
  const drafts = readdirSync(directory).filter((name) =>
    name.startsWith(path.basename(file) + MARK),
  );
  for (const draft of drafts.map((name) => path.join(directory, name))) {
    const found = lstatSync(draft, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (found.ino === made.ino || clock.wallMs() - found.mtimeMs > OLD_MS)
      rmSync(draft, { force: true });
  }
}
