/**
 * The driver of SQLite, which is CommonJS and is required as such: imported, it would be read twice, since Node looks
 * for the names that it exports before it runs it.
 */
import { createRequire } from "node:module";
import type Driver from "better-sqlite3";

const driver: unknown = createRequire(import.meta.url)("better-sqlite3");

export const Sqlite = driver as typeof Driver;
