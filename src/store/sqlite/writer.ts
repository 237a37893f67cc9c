/**
 * Transactions of one open database.
 *
 * - W1 A write begins as the writer it is going to be, so it waits for its turn instead of failing half-way; what
 *   remains busy is tried again, a bounded number of times.
 * - W2 After any other failure of SQLite in a write, the process has no business with this file any more: what was
 *   committed is there, what was not is not, and only opening it anew tells which. Every later call is refused.
 */
import { RoteError } from "../../base/error.ts";
import { refusePromise } from "../judged.ts";
import { isBusy, isSqlite, told } from "./failure.ts";
import type { Database } from "./open.ts";

const ATTEMPTS = 3;

export interface Writer {
  /** @throws RoteError `store_busy` `disk_full` `store_io_error` `store_damaged` `store_ended` `memory_closed` */
  write<T>(this: void, work: () => T): T;
  read<T>(this: void, work: () => T): T;
  /** Moves the log into the file and empties it, as far as other readers allow. */
  tidy(this: void): void;
  close(this: void): void;
}

export function writerOf(database: Database): Writer {
  let closed = false;
  let ended: RoteError | undefined;
  // Prepared once: making one costs more than many a write.
  const transaction = database.transaction((work: () => unknown) => refusePromise(work()));

  function refuseUse(): void {
    if (ended !== undefined) throw ended;
    if (closed) throw new RoteError("memory_closed", "this procedure memory was closed");
  }

  function end(error: unknown): void {
    const why = error instanceof RoteError ? error.code : "store_io_error";
    ended = new RoteError(
      "store_ended",
      `this memory is not used any more since a write failed (${why}); nothing that was acknowledged is lost`,
      { because: why, hint: "remove the cause and open the memory again" },
      error,
    );
    closeQuietly(database);
  }

  return {
    write<T>(work: () => T): T {
      refuseUse();
      for (let attempt = 1; ; attempt += 1) {
        try {
          return transaction.immediate(work) as T;
        } catch (error) {
          if (isBusy(error)) {
            if (attempt < ATTEMPTS) continue;
          } else if (isSqlite(error)) {
            end(told(error));
          }
          throw told(error);
        }
      }
    },

    read<T>(work: () => T): T {
      refuseUse();
      try {
        return work();
      } catch (error) {
        throw told(error);
      }
    },

    tidy() {
      refuseUse();
      try {
        database.pragma("wal_checkpoint(TRUNCATE)");
      } catch (error) {
        // The log is as good a place as the file; the next opening moves it.
        if (!isSqlite(error)) throw error;
      }
    },

    close() {
      if (closed) return;
      closed = true;
      if (ended === undefined) closeQuietly(database);
    },
  };
}

/** Closing tidies the log into the file; where that fails the log stays and is read at the next opening. */
function closeQuietly(database: Database): void {
  try {
    database.close();
  } catch (error) {
    if (!isSqlite(error)) throw error;
  }
}
