/**
 * The driver of SQLite, which is CommonJS and is required as such: importing it costs as much again, since Node then reads
 * it beforehand for the names that it exports.
 */
import { createRequire } from "node:module";
import type Driver from "better-sqlite3";

const driver: unknown = createRequire(import.meta.url)("better-sqlite3");

export const Sqlite = driver as typeof Driver;
