import Sqlite from "better-sqlite3";

/**
 * Version of the SQLite inside the native module.
 *
 * @throws whatever Node says when the module was built for another Node or machine.
 */
export function sqliteVersion(): string {
  const database = new Sqlite(":memory:");
  try {
    return String(database.prepare("select sqlite_version()").pluck().get());
  } finally {
    database.close();
  }
}
