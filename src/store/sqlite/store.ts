/** One private directory with everything a host keeps: procedure memory and journal in one file, tree heads beside it. */
import path from "node:path";
import type { MemoryLimits } from "../../model/memory.ts";
import type { Journal } from "../../ports/journal.ts";
import type { ProcedureStore } from "../../ports/procedures.ts";
import { createJournal, type JournalOptions } from "../journal/journal.ts";
import type { JournalTables } from "../journal/tables.ts";
import { ensureDatabase } from "./ensure.ts";
import type { OpenOptions } from "./format.ts";
import { openHeadsFile } from "./heads-file.ts";
import { sqliteJournalTables } from "./journal-tables.ts";
import { proceduresIn } from "./procedures.ts";
import { FILE, PROCEDURES } from "./schema.ts";
import { writerOf } from "./writer.ts";

/** Copy of the tree heads, where the host names no better place for it. */
export const HEADS_FILE = "heads.txt";

export interface SqliteStore {
  readonly procedures: ProcedureStore;
  readonly journal: Journal;
}

export interface SqliteStoreOptions extends OpenOptions {
  readonly journal: Omit<JournalOptions, "keepCopy" | "lastCopies">;
  readonly limits: MemoryLimits;
  /** What to put around the journal's rows, as tests do that count or break calls. Default: nothing. */
  readonly around?: (tables: JournalTables) => JournalTables;
  /** File of the tree heads' copy. Default `heads.txt` in the directory; better on another disk or machine. */
  readonly heads?: string;
}

/**
 * Opens the store in the directory, or makes one where the directory does not exist or is empty.
 *
 * @throws RoteError as `createDatabase` and `openDatabase`; `restored_backup` when the heads' copy is ahead
 */
export function openSqliteStore(directory: string, options: SqliteStoreOptions): SqliteStore {
  const file = path.join(path.resolve(directory), FILE);
  const database = ensureDatabase(file, PROCEDURES, { ...options, ...options.journal });
  const heads = openHeadsFile(options.heads ?? path.join(path.dirname(file), HEADS_FILE));
  try {
    const rows = sqliteJournalTables(database, writerOf(database));
    const tables = {
      ...rows,
      close() {
        rows.close();
        heads.close();
      },
    };
    const journal = createJournal(options.around?.(tables) ?? tables, {
      ...options.journal,
      keepCopy: heads.append,
      lastCopies: heads.last,
    });
    return { procedures: proceduresIn(database, options.limits), journal };
  } catch (error) {
    database.close();
    heads.close();
    throw error;
  }
}
