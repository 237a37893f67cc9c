/**
 * A system of record to act on: a real database in a file of its own. It counts every application, and it is not
 * idempotent, so whatever is dispatched twice is there twice.
 */
import Sqlite from "better-sqlite3";

export interface Applied {
  readonly operation: string;
  readonly what: string;
}

export interface Target {
  /** Applies once more, unless the operation was fenced off. */
  apply(operation: string, what: string): "applied" | "fenced";
  find(operation: string): string | undefined;
  /** From now on the operation is refused, unless it was applied before. */
  fence(operation: string): "applied" | "fenced";
  balance(): bigint;
  rows(): readonly Applied[];
  close(): void;
}

export function openTarget(file: string): Target {
  const database = new Sqlite(file, { timeout: 20_000 });
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(`
    CREATE TABLE IF NOT EXISTS applied (id INTEGER PRIMARY KEY, operation TEXT NOT NULL, what TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS fenced (operation TEXT PRIMARY KEY) STRICT;
  `);
  const add = database.prepare("INSERT INTO applied (operation, what) VALUES (?, ?)");
  const of = database.prepare("SELECT what FROM applied WHERE operation = ?").pluck();
  const isFenced = database.prepare("SELECT 1 FROM fenced WHERE operation = ?").pluck();
  const addFence = database.prepare("INSERT OR IGNORE INTO fenced VALUES (?)");
  const all = database.prepare("SELECT operation, what FROM applied ORDER BY id");
  const apply = database.transaction((operation: string, what: string) => {
    if (isFenced.get(operation) !== undefined) return "fenced" as const;
    add.run(operation, what);
    return "applied" as const;
  });
  const fence = database.transaction((operation: string) => {
    if (of.get(operation) !== undefined) return "applied" as const;
    addFence.run(operation);
    return "fenced" as const;
  });
  return {
    apply: (operation, what) => apply.immediate(operation, what),
    find: (operation) => of.get(operation) as string | undefined,
    fence: (operation) => fence.immediate(operation),
    balance: () => 1000n,
    rows: () => all.all() as Applied[],
    close: () => void database.close(),
  };
}
