import type { Database } from "better-sqlite3";
import type { Format } from "./format.ts";

/**
 * Takes the database through the migrations it lacks, all or none. The version is read inside the transaction, since
 * another process may have been faster.
 */
export function migrate(database: Database, format: Format): void {
  const known = format.migrations.length;
  if (versionOf(database) >= known) return;
  database
    .transaction(() => {
      const version = versionOf(database);
      if (version >= known) return;
      for (const sql of format.migrations.slice(version)) database.exec(sql);
      database.pragma(`user_version = ${known}`);
    })
    .immediate();
}

export function versionOf(database: Database): number {
  return Number(database.pragma("user_version", { simple: true }));
}

/** Everything a schema defines, as one comparable text; SQLite's own tables (statistics, counters) left out. */
export function schemaOf(database: Database): string {
  const rows = database
    .prepare(
      `SELECT type, name, tbl_name, sql FROM sqlite_schema
       WHERE NOT (type IN ('table', 'index') AND substr(name, 1, 7) = 'sqlite_')
       ORDER BY type, name`,
    )
    .raw()
    .all();
  return JSON.stringify(rows);
}
