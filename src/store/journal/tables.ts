import type { Frontier } from "../../base/merkle.ts";

/**
 * The rows a journal keeps, and nothing of its rules: those are written once, in `journal.ts`, over this.
 *
 * `write` runs its work in one transaction that is durable when it returns; all other calls that change something are
 * made inside it. When it throws, nothing of the work remains, or it is unknown whether it does.
 */
export interface JournalTables {
  write<T>(work: () => T): T;

  /** Another value after somebody else has written; asked inside of `write`. */
  version(): bigint;

  tail(chain: string): ChainTail | undefined;
  putEntry(row: EntryRow): void;
  entries(chain: string, fromSeq: number, limit?: number): readonly StoredEntry[];
  scan(fromIndex: number, limit: number): readonly StoredEntry[];
  /** Where the log ends. */
  end(): LogEnd;

  /** Log index of the entry that took it; undefined when it can be had. */
  claimedAt(space: string, key: string): number | undefined;
  /** `index` is the log index of the entry that took it. */
  putClaim(space: string, key: string, index: number): void;
  dropClaim(space: string, key: string): void;

  total(counter: string): bigint;
  putTotal(counter: string, total: bigint): void;

  lease(chain: string): LeaseRow | undefined;
  putLease(chain: string, lease: LeaseRow): void;

  blob(sha256: string): Uint8Array | undefined;
  putBlob(sha256: string, bytes: Uint8Array): void;

  stands(qualification: string): boolean;

  run(run: string): RunRow | undefined;
  putRun(row: RunRow): void;
  /** The most recently touched first, each with the last entry of its chain. */
  runs(
    limit: number,
    open: boolean,
  ): readonly { readonly row: RunRow; readonly last: StoredEntry }[];

  /** The signed tree head of the largest size, with the frontier at that size. */
  lastHead(): HeadRow | undefined;
  headAt(size: bigint): HeadRow | undefined;
  heads(): readonly HeadRow[];
  putHead(head: HeadRow): void;

  close(): void;
}

export interface LogEnd {
  /** Number of entries. */
  readonly size: number;
  /** Time of the last entry in milliseconds, 0 for an empty log. */
  readonly time: number;
}

export interface ChainTail {
  readonly seq: number;
  readonly hash: string;
}

export interface EntryRow {
  readonly index: number;
  readonly chain: string;
  readonly seq: number;
  readonly time: number;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

export interface StoredEntry {
  readonly index: number;
  readonly bytes: Uint8Array;
}

export interface LeaseRow {
  readonly owner: string;
  readonly epoch: number;
  /** Milliseconds since 1970 UTC; 0 when it was given back. */
  readonly expiresMs: number;
}

/** What the list of runs keeps of a run, besides the last entry of its chain. */
export interface RunRow {
  readonly run: string;
  readonly recipe: string;
  readonly plan: string;
  readonly mode: string;
  readonly startedMs: number;
  /** Orders the list. Not later than the last entry's time, and earlier than it by a second at most. */
  readonly touchedMs: number;
  readonly state: string | null;
  readonly reason: string | null;
}

export interface HeadRow {
  readonly frontier: Frontier;
  readonly note: string;
}
