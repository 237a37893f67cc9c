/**
 * Rows that every write asks for and that only writes of this process change, as long as nobody else has written.
 *
 * Inside a transaction nobody else can write, and `version` tells at its beginning whether somebody has since the last
 * one: then everything is forgotten. Outside of transactions rows are read as they are. What a failed transaction has
 * put here is forgotten too.
 */
import type { ChainTail, JournalTables, LeaseRow, LogEnd, RunRow } from "./tables.ts";

/** Chains remembered at most, of each kind of row; beyond that they are read again. */
const MOST = 4_096;

export function remembered(tables: JournalTables): JournalTables {
  const tails = new Map<string, ChainTail | undefined>();
  const leases = new Map<string, LeaseRow | undefined>();
  const runs = new Map<string, RunRow | undefined>();
  const totals = new Map<string, bigint>();
  let end: LogEnd | undefined;
  let version: bigint | undefined;
  let writing = false;

  function forget(): void {
    for (const map of [tails, leases, runs, totals]) map.clear();
    end = undefined;
    version = undefined;
  }

  function begin(): void {
    // True already when an attempt before this one was given up half-way.
    if (writing) forget();
    writing = true;
    const now = tables.version();
    if (now !== version) forget();
    version = now;
    for (const map of [tails, leases, runs, totals]) if (map.size > MOST) map.clear();
  }

  function known<T>(map: Map<string, T>, key: string, read: () => T): T {
    if (!writing) return read();
    const found = map.get(key);
    if (found !== undefined || map.has(key)) return found as T;
    const value = read();
    map.set(key, value);
    return value;
  }

  return {
    ...tables,

    write<T>(work: () => T): T {
      try {
        return tables.write(() => {
          begin();
          return work();
        });
      } catch (error) {
        forget();
        throw error;
      } finally {
        writing = false;
      }
    },

    end: () => {
      if (!writing) return tables.end();
      end ??= tables.end();
      return end;
    },
    tail: (chain) => known(tails, chain, () => tables.tail(chain)),
    lease: (chain) => known(leases, chain, () => tables.lease(chain)),
    run: (run) => known(runs, run, () => tables.run(run)),
    total: (counter) => known(totals, counter, () => tables.total(counter)),

    putEntry(row) {
      tables.putEntry(row);
      tails.set(row.chain, { seq: row.seq, hash: row.hash });
      end = { size: row.index + 1, time: row.time };
    },
    putLease(chain, lease) {
      tables.putLease(chain, lease);
      leases.set(chain, lease);
    },
    putRun(row) {
      tables.putRun(row);
      runs.set(row.run, row);
    },
    putTotal(counter, total) {
      tables.putTotal(counter, total);
      totals.set(counter, total);
    },
  };
}
