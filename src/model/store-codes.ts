/** Codes of errors about the directory and the database in which a memory and a journal are kept. */
import type { Explanation } from "./stop.ts";

export const STORE_CODES = {
  store_busy: {
    meaning: "Another process kept the memory locked for too long.",
    todo: "Try again; look for a process that holds it.",
  },
  store_damaged: {
    meaning: "The memory's file is damaged.",
    todo: "Restore it from a backup, or start a new one.",
  },
  store_ended: {
    meaning: "A write failed, so this process does not use the memory any more.",
    todo: "Repair the cause and open the memory again; nothing acknowledged is lost.",
  },
  store_exists: {
    meaning: "The directory for a new memory is not empty.",
    todo: "Name a new directory, or open the memory that is there.",
  },
  store_foreign: {
    meaning: "The file is a database, but not a memory of Rote.",
    todo: "Check the directory.",
  },
  store_io_error: {
    meaning: "The operating system refused a file operation on the memory.",
    todo: "The message names the operation and the system's reason.",
  },
  store_missing: {
    meaning: "There is no memory in the directory.",
    todo: "Check the directory, or create a memory there.",
  },
  store_newer: {
    meaning: "The memory was written by a newer Rote; it is left untouched.",
    todo: "Use the newer version.",
  },
  store_not_a_directory: { meaning: "The path is no directory.", todo: "Check the path." },
  store_not_a_file: {
    meaning: "What should be the memory's file is something else.",
    todo: "Check the directory.",
  },
  store_not_durable: {
    meaning: "The database cannot promise that what it acknowledges survives.",
    todo: "Use a local file system with working locks and syncs.",
  },
  store_not_private: {
    meaning:
      "Others may read the memory or write where a host is made, or it belongs to someone else.",
    todo: "Correct owner and mode as the message says.",
  },
  store_older: {
    meaning:
      "The store was written by an older Rote, and reading alone may not bring it up to date.",
    todo: "Open a copy of it once with a host of this version, or use the older one.",
  },
  store_read_only: {
    meaning: "The memory cannot be written, so a demotion could not be recorded.",
    todo: "Make directory and file writable for this process.",
  },
  workpaper_changed: {
    meaning: "A spreadsheet workpaper was saved by something else than its host.",
    todo: "Put back the file as it was; receipts say what was written into it.",
  },
  workpaper_foreign: {
    meaning: "A spreadsheet is no workpaper of Rote, or has other columns.",
    todo: "Check the directory and the columns that it is opened with.",
  },
} as const satisfies { readonly [code: string]: Explanation };
