/**
 * The append-only record, and the only durable state of runs.
 *
 * J1 One way in: `append`. What it is given happens whole, is durable when the promise resolves, or nothing happened.
 * J2 Claims and counters are an index over the entries that took them; they change only together with entries.
 * J3 Each write to a run's chain carries the epoch of a lease. Who was overtaken writes nothing more, however late it
 *    wakes up.
 * J4 Appends that are queued when a commit returns share the next one, each judged by itself: one refusal does not
 *    touch its neighbours. There is never a timer.
 * J5 An error on commit ends the use of the store in this process: what was being written is uncertain.
 * J6 A store whose outside copy of tree heads is ahead of it is a restored backup and refuses to open.
 */

import type { JsonValue } from "../base/json.ts";
import type { TreeHead } from "../base/note.ts";
import type { Result } from "../base/result.ts";
import type { Appended, EntryType } from "../model/journal.ts";

/** Something that can be had once: a nonce with its operation, a natural key, an operation's place in a run. */
export interface Claim {
  readonly space: "run" | "operation" | "nonce" | "natural_key";
  readonly key: string;
}

/** A running total with a limit; amounts are in the unit of the counter. */
export interface Count {
  readonly counter: string;
  /** May be negative: settling gives back what was reserved too much. */
  readonly add: bigint;
  /** The total after adding may not exceed this; null checks nothing. */
  readonly limit: bigint | null;
}

export interface Draft {
  readonly chain: string;
  readonly type: EntryType;
  readonly body: JsonValue;
  /** Canonical bytes of objects in the body, where they were made before: they are not made again. */
  readonly known?: ReadonlyMap<object, Uint8Array>;
}

export interface Append {
  /** Needed for entries on run chains. */
  readonly lease: Lease | null;
  readonly entries: readonly Draft[];
  readonly take?: readonly Claim[];
  readonly free?: readonly Claim[];
  readonly count?: readonly Count[];
  /** Id of a qualification that must stand, read in the same transaction. */
  readonly qualification?: string;
  /** Bytes kept by their bare SHA-256 hex, for what is too large for an entry. */
  readonly blobs?: readonly Uint8Array[];
  /** Seals a tree head with this append, as at the end of a run. */
  readonly seal?: boolean;
  /** Gives the lease back with this append, as at the end of a run. */
  readonly release?: boolean;
  /** Refuses when the wall clock is far behind the log: what expires could not be judged. For admissions. */
  readonly needsClock?: boolean;
  /**
   * Refuses when the entries would bear this time (milliseconds since 1970 UTC) or a later one: until then holds what
   * was checked before. For admissions.
   */
  readonly before?: number;
  /** The lease lasts at least this many milliseconds longer than usual: for the wait for a tool that follows. */
  readonly holdMs?: number;
}

export type AppendRefusal =
  | { readonly code: "lease_lost"; readonly chain: string }
  /** `by` is the chain of the entry that took it; null when one request takes it twice. */
  | { readonly code: "taken"; readonly claim: Claim; readonly by: string | null }
  | {
      readonly code: "over_limit";
      readonly counter: string;
      readonly total: bigint;
      readonly limit: bigint;
    }
  | { readonly code: "not_qualified" }
  | { readonly code: "clock_behind"; readonly behindMs: number }
  | { readonly code: "too_late"; readonly before: number };

/** The right to write to one run's chain. */
export interface Lease {
  readonly chain: string;
  readonly owner: string;
  readonly epoch: number;
}

export interface LeaseHeld {
  readonly code: "held";
  readonly owner: string;
  readonly expiresMs: number;
}

/** One row of the list of runs, kept from their entries. */
export interface RunSummary {
  readonly run: string;
  readonly recipe: string;
  readonly plan: string;
  readonly mode: string;
  readonly startedMs: number;
  readonly updatedMs: number;
  /** Type of the last entry, and its body's `state` when the run has ended. */
  readonly last: EntryType;
  readonly state: string | null;
  readonly reason: string | null;
}

export interface Journal {
  /** The log's name: the audience of everything signed for this host. */
  readonly origin: string;

  append(request: Append): Promise<Result<readonly Appended[], AppendRefusal>>;

  /**
   * Takes the lease of a chain when it is free, expired, or its owner is known to be dead; the epoch counts up. A
   * lease is extended by each append under it.
   */
  claim(chain: string): Promise<Result<Lease, LeaseHeld>>;

  /** Gives a lease back; nothing happens when it was already lost. */
  release(lease: Lease): Promise<void>;

  /**
   * Entries of a chain in order, from `seq` on. Empty for a chain that does not exist.
   *
   * @throws RoteError `journal_damaged` when one does not follow from the one before it
   */
  read(chain: string, fromSeq?: number, limit?: number): readonly Appended[];

  /** Number of entries of a chain. */
  length(chain: string): number;

  /** Time of the last entry of the log in milliseconds since 1970 UTC, 0 for an empty one: no later one bears less. */
  time(): number;

  /** Entries of all chains in log order, in bounded portions. */
  scan(fromIndex: number, limit: number): readonly (Appended & { readonly bytes: Uint8Array })[];

  /** Bytes of entries in log order, as they are stored and unread: for whoever judges the store itself. */
  raw(fromIndex: number, limit: number): readonly Uint8Array[];

  blob(sha256: string): Uint8Array | undefined;

  /** The chain whose entry took a claim, null when that is not known; undefined when the claim is free. */
  takenBy(claim: Claim): string | null | undefined;

  total(counter: string): bigint;

  /** The most recently updated first, to the second; with `open` of those that have not ended. */
  runs(limit: number, open?: boolean): readonly RunSummary[];

  /** Size and root of the log as it is now. */
  head(): TreeHead;

  /** Signed tree heads, oldest first. */
  heads(): readonly string[];

  /** Signs the head as it is now unless that was just done; called at run ends, each 64 entries and when idle. */
  seal(): Promise<string>;

  /** Commits what is queued, seals, and closes. Idempotent. */
  close(): Promise<void>;
}
