/**
 * A host's journal as somebody opens it who is not the host: reads all of it, files what anybody may file, and signs
 * nothing. It makes no store and no copy of tree heads.
 */
import path from "node:path";
import type { Journal } from "../../ports/journal.ts";
import { createJournal, type JournalOptions } from "../journal/journal.ts";
import type { OpenOptions } from "./format.ts";
import { lastHeadsIn } from "./heads-file.ts";
import { sqliteJournalTables } from "./journal-tables.ts";
import { openDatabase } from "./open.ts";
import { FILE, PROCEDURES } from "./schema.ts";
import { HEADS_FILE } from "./store.ts";
import { writerOf } from "./writer.ts";

export interface VisitorOptions extends OpenOptions {
  readonly journal: Omit<JournalOptions, "keepCopy" | "lastCopies" | "sign">;
  /** File of the tree heads' copy, to tell a restored backup by. Default `heads.txt` in the directory. */
  readonly heads?: string;
}

/** @throws RoteError as `openDatabase`; `restored_backup` when the heads' copy is ahead */
export function visitSqliteJournal(directory: string, options: VisitorOptions): Journal {
  const file = path.join(path.resolve(directory), FILE);
  const database = openDatabase(file, PROCEDURES, options);
  try {
    return createJournal(sqliteJournalTables(database, writerOf(database)), {
      ...options.journal,
      sign: null,
      keepCopy: () => undefined,
      lastCopies: lastHeadsIn(options.heads ?? path.join(path.dirname(file), HEADS_FILE)),
    });
  } catch (error) {
    database.close();
    throw error;
  }
}
