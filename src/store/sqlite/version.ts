import { connectMemory } from "./open.ts";

/**
 * Version of the SQLite inside the native module.
 *
 * @throws RoteError `sqlite_unavailable` when the module was built for another Node or machine.
 */
export function sqliteVersion(): string {
  const database = connectMemory();
  try {
    return String(database.prepare("SELECT sqlite_version()").pluck().get());
  } finally {
    database.close();
  }
}
