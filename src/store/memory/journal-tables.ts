import type {
  ChainTail,
  EntryRow,
  HeadRow,
  JournalTables,
  LeaseRow,
  RunRow,
} from "../journal/tables.ts";

/** Rows in this process's memory: for tests and for runs whose record need not outlive the process. */
export function memoryJournalTables(stands: (qualification: string) => boolean): JournalTables {
  const log: EntryRow[] = [];
  const chains = new Map<string, EntryRow[]>();
  const claims = new Map<string, number>();
  const totals = new Map<string, bigint>();
  const leases = new Map<string, LeaseRow>();
  const blobs = new Map<string, Uint8Array>();
  const runs = new Map<string, RunRow>();
  const heads: HeadRow[] = [];
  const claimKey = (space: string, key: string) => `${space}\n${key}`;
  return {
    write: (work) => work(),
    // There is nobody else.
    version: () => 0n,
    tail: (chain): ChainTail | undefined => chains.get(chain)?.at(-1),
    putEntry(row) {
      log.push(row);
      const chain = chains.get(row.chain);
      if (chain === undefined) chains.set(row.chain, [row]);
      else chain.push(row);
    },
    entries: (chain, fromSeq, limit = Number.POSITIVE_INFINITY) =>
      (chains.get(chain) ?? []).slice(fromSeq, fromSeq + limit),
    scan: (fromIndex, limit) => log.slice(fromIndex, fromIndex + limit),
    end: () => ({ size: log.length, time: log.at(-1)?.time ?? 0 }),
    claimedAt: (space, key) => claims.get(claimKey(space, key)),
    putClaim: (space, key, index) => void claims.set(claimKey(space, key), index),
    dropClaim: (space, key) => void claims.delete(claimKey(space, key)),
    total: (counter) => totals.get(counter) ?? 0n,
    putTotal: (counter, total) => void totals.set(counter, total),
    lease: (chain) => leases.get(chain),
    putLease: (chain, lease) => void leases.set(chain, lease),
    blob: (sha256) => blobs.get(sha256),
    putBlob: (sha256, bytes) => void blobs.set(sha256, Uint8Array.from(bytes)),
    stands,
    run: (run) => runs.get(run),
    putRun: (row) => void runs.set(row.run, row),
    runs: (limit, open) =>
      [...runs.values()]
        .filter(({ state }) => !open || state === null)
        .sort((a, b) => b.touchedMs - a.touchedMs)
        .slice(0, limit)
        .flatMap((row) => {
          const last = chains.get(row.run)?.at(-1);
          return last === undefined ? [] : [{ row, last }];
        }),
    lastHead: () => heads.at(-1),
    headAt: (size) => heads.find(({ frontier }) => frontier.size === size),
    heads: () => heads,
    putHead: (head) => void heads.push(head),
    close: () => undefined,
  };
}
