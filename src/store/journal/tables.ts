import type { Frontier } from "../../base/merkle.ts";
import type { RunSummary } from "../../ports/journal.ts";

/**
 * The rows a journal keeps, and nothing of its rules: those are written once, in `journal.ts`, over this.
 *
 * `write` runs its work in one transaction that is durable when it returns; all other calls that change something are
 * made inside it. When it throws, nothing of the work remains, or it is unknown whether it does.
 */
export interface JournalTables {
  write<T>(work: () => T): T;

  tail(chain: string): ChainTail | undefined;
  putEntry(row: EntryRow): void;
  entries(chain: string, fromSeq: number): readonly StoredEntry[];
  scan(fromIndex: number, limit: number): readonly StoredEntry[];

  /** Number of entries in the log. */
  size(): number;
  /** Time of the last entry of the log in milliseconds, 0 for an empty log. */
  lastTime(): number;

  hasClaim(space: string, key: string): boolean;
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

  runs(limit: number): readonly RunSummary[];
  putRun(summary: RunSummary): void;
  run(run: string): RunSummary | undefined;

  /** The signed tree head of the largest size, with the frontier at that size. */
  lastHead(): HeadRow | undefined;
  headAt(size: bigint): HeadRow | undefined;
  heads(): readonly HeadRow[];
  putHead(head: HeadRow): void;

  close(): void;
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

export interface HeadRow {
  readonly frontier: Frontier;
  readonly note: string;
}
