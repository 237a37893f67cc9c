/**
 * The journal's rules, written once over the rows of any store. See `ports/journal.ts` for what it promises; this file
 * owns how: judge an append against the rows, then write all of it, many appends to one transaction.
 */

import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import { parseTreeHead } from "../../base/note.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { type Appended, type Entry, FIRST_PREV, HOST_CHAIN } from "../../model/journal.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Append, AppendRefusal, Claim, Draft, Journal, Lease } from "../../ports/journal.ts";
import type { Timers } from "../../ports/timers.ts";
import {
  type BodyBytes,
  bodyBytes,
  decodeChain,
  decodeEntry,
  isRunEntry,
  leafBytes,
} from "./entry.ts";
import { leasesIn } from "./leases.ts";
import { openLog } from "./log.ts";
import { createQueue, type Work } from "./queue.ts";
import { remembered } from "./remembered.ts";
import { rowAfter, summaryOf } from "./summary.ts";
import type { JournalTables } from "./tables.ts";

export interface JournalOptions {
  readonly origin: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Who this process is, and whether another owner is known to be dead. */
  readonly owner: string;
  readonly isDead: (owner: string) => boolean;
  /**
   * Signs the text of a tree head as a note. Null for who may write and does not hold the journal's key: heads are then
   * left to the next one who does, and `seal` refuses.
   */
  readonly sign: ((text: string) => string) | null;
  /** Keeps a copy of each tree head outside the store; called after the commit. */
  readonly keepCopy: (note: string) => void;
  /** The last copies that were kept, if any. */
  readonly lastCopies: readonly string[];
  /** How long a lease lasts without an append. Default 10 s: longer than any pause of a healthy process. */
  readonly leaseMs?: number;
}

const LEASE_MS = 10_000;
/** Behind this many entries without a tree head comes one, at once. */
const HEAD_EVERY = 64;
/** Entries without a tree head get one when nothing was written for about this long. */
const IDLE_MS = 1_000;
/** A clock this far behind the log makes expiry meaningless. */
const CLOCK_TOLERANCE_MS = 60_000;

export function createJournal(stored: JournalTables, options: JournalOptions): Journal {
  const leaseMs = options.leaseMs ?? LEASE_MS;
  const tables = remembered(stored);
  const log = openLog(tables, options.origin, options.sign ?? refuseToSign);
  const signs = options.sign !== null;
  const leases = leasesIn(tables, { ...options, leaseMs });
  const queue = createQueue(options.timers, commit);
  let broken: unknown;
  let closed = false;
  let sealWanted = false;
  let lastWriteMs = 0;
  let stopIdle: (() => void) | undefined;

  refuseBackup(tables, options.lastCopies);

  function guard(): void {
    if (closed) throw new RoteError("journal_closed", "The journal is closed.");
    if (broken !== undefined) {
      throw new RoteError(
        "journal_failed",
        "The journal failed while writing; this process must not go on using it. Start it again.",
        {},
        broken,
      );
    }
  }

  /**
   * One durable transaction, with tree heads where they are due: not at its end but right behind what makes them due, so
   * that a reader of the log can say where one must stand.
   */
  function commit(batch: readonly Work[]): readonly (() => void)[] {
    guard();
    const reset = log.mark();
    let notes: string[] = [];
    let answers: readonly (() => void)[];
    try {
      answers = tables.write(() => {
        // A busy store may run this again: each attempt starts from what is committed.
        reset();
        notes = [];
        log.catchUp();
        return batch.map((work) => {
          sealWanted = false;
          const answer = work();
          if (signs && (sealWanted || log.unsealed() >= HEAD_EVERY)) {
            const { note, fresh } = log.seal();
            if (fresh) notes.push(note);
          }
          return answer;
        });
      });
    } catch (error) {
      // Whether anything was written is unknown, so neither is the log and what the caller may assume.
      broken = error;
      throw error instanceof RoteError && error.code === "journal_damaged"
        ? error
        : new RoteError("journal_failed", "The journal could not be written.", {}, error);
    }
    for (const note of notes) copyOut(note);
    lastWriteMs = options.clock.monotonicMs();
    if (signs && log.unsealed() > 0) stopIdle ??= sealLater(IDLE_MS);
    return answers;
  }

  function sealLater(ms: number): () => void {
    return options.timers.after(ms, () => {
      stopIdle = undefined;
      const restMs = IDLE_MS - (options.clock.monotonicMs() - lastWriteMs);
      if (closed || broken !== undefined || log.unsealed() === 0) return;
      if (restMs > 0) stopIdle = sealLater(restMs);
      // A failure shows itself to whoever writes next.
      else seal().catch(() => undefined);
    });
  }

  function copyOut(note: string): void {
    try {
      options.keepCopy(note);
    } catch (error) {
      broken = error;
    }
  }

  function appendOne(
    request: Append,
    bodies: readonly BodyBytes[],
  ): Result<readonly Appended[], AppendRefusal> {
    const { lease } = request;
    const now = options.clock.wallMs();
    const refusal = judge(request, now);
    if (refusal !== undefined) return err(refusal);
    const first = log.size();
    const time = Math.max(now, tables.end().time);
    const appended = request.entries.map((draft, at) => write(draft, bodies[at], lease, time));
    for (const { space, key } of request.free ?? []) tables.dropClaim(space, key);
    for (const { space, key } of request.take ?? []) tables.putClaim(space, key, first);
    for (const { counter, add } of request.count ?? []) {
      // What is only compared is not written.
      if (add !== 0n) tables.putTotal(counter, tables.total(counter) + add);
    }
    for (const bytes of request.blobs ?? []) tables.putBlob(sha256Hex(bytes), bytes);
    if (request.seal === true) sealWanted = true;
    if (lease !== null && request.release === true) leases.release(lease);
    else if (lease !== null) leases.extend(lease, now, request.holdMs ?? 0);
    return ok(appended);
  }

  function judge(request: Append, now: number): AppendRefusal | undefined {
    const { lease } = request;
    if (lease !== null && !leases.holds(lease)) return { code: "lease_lost", chain: lease.chain };
    const behindMs = tables.end().time - now;
    if (request.needsClock === true && behindMs > CLOCK_TOLERANCE_MS) {
      return { code: "clock_behind", behindMs };
    }
    // By the time that the entry will bear: the log may be ahead of the clock, and readers see only the log.
    if (request.before !== undefined && now + Math.max(0, behindMs) >= request.before) {
      return { code: "too_late", before: request.before };
    }
    if (request.qualification !== undefined && !tables.stands(request.qualification)) {
      return { code: "not_qualified" };
    }
    const freed = new Set((request.free ?? []).map(textOf));
    const taking = new Set<string>();
    for (const claim of request.take ?? []) {
      const text = textOf(claim);
      if (taking.has(text)) return { code: "taken", claim, by: null };
      const at = freed.has(text) ? undefined : tables.claimedAt(claim.space, claim.key);
      if (at !== undefined) return { code: "taken", claim, by: chainOf(at) };
      taking.add(text);
    }
    const totals = new Map<string, bigint>();
    for (const { counter, add, limit } of request.count ?? []) {
      if (limit === null) continue;
      const total = (totals.get(counter) ?? tables.total(counter)) + add;
      totals.set(counter, total);
      if (total > limit) return { code: "over_limit", counter, total, limit };
    }
    return undefined;
  }

  function chainOf(index: number): string | null {
    const [stored] = tables.scan(index, 1);
    return stored === undefined ? null : decodeEntry(stored.bytes, stored.index).entry.chain;
  }

  function write(
    { chain, type, body }: Draft,
    made: BodyBytes | undefined,
    lease: Lease | null,
    time: number,
  ): Appended {
    if (made === undefined) throw new TypeError("an entry without its bytes");
    const tail = tables.tail(chain);
    const frame = {
      v: 1 as const,
      chain,
      seq: tail === undefined ? 0 : tail.seq + 1,
      prev: tail?.hash ?? FIRST_PREV,
      epoch: isRunEntry(type) ? (lease?.epoch ?? 0) : 0,
      time,
      type,
    };
    const leaf = leafBytes(frame, made.bytes);
    const bytes = leaf.subarray(1);
    const hash = sha256Hex(bytes);
    const index = log.size();
    tables.putEntry({ index, chain, seq: frame.seq, time, hash, bytes });
    log.add(leaf);
    const entry: Entry = { ...frame, body };
    const row = chain === HOST_CHAIN ? undefined : rowAfter(tables.run(chain), entry);
    if (row !== undefined) tables.putRun(row);
    return { entry, hash, index };
  }

  async function seal(): Promise<string> {
    guard();
    if (!signs) refuseToSign();
    return queue.put((answer) => {
      const { note, fresh } = log.seal();
      return () => {
        if (fresh) copyOut(note);
        answer(note);
      };
    });
  }

  return {
    origin: options.origin,

    async append(request) {
      guard();
      // What cannot be written is the caller's fault, not the store's: found before anything is queued.
      const bodies = request.entries.map((draft) => bytesOfDraft(draft, request.lease));
      return queue.put((answer) => {
        const result = appendOne(request, bodies);
        return () => answer(result);
      });
    },

    async claim(chain) {
      guard();
      return queue.put((answer) => {
        const claimed = leases.claim(chain, options.clock.wallMs());
        return () => answer(claimed);
      });
    },

    async release(lease) {
      guard();
      return queue.put((answer) => {
        leases.release(lease);
        return () => answer(undefined);
      });
    },

    read: (chain, fromSeq = 0, limit) =>
      decodeChain(chain, fromSeq, tables.entries(chain, fromSeq, limit)),

    length(chain) {
      const tail = tables.tail(chain);
      return tail === undefined ? 0 : tail.seq + 1;
    },

    time: () => tables.end().time,

    scan: (fromIndex, limit) =>
      tables
        .scan(fromIndex, limit)
        .map(({ bytes, index }) => ({ ...decodeEntry(bytes, index), bytes })),

    raw: (fromIndex, limit) => tables.scan(fromIndex, limit).map(({ bytes }) => bytes),

    blob: (sha256) => tables.blob(sha256),

    takenBy({ space, key }) {
      const at = tables.claimedAt(space, key);
      return at === undefined ? undefined : chainOf(at);
    },

    total: (counter) => tables.total(counter),
    runs: (limit, open = false) =>
      tables
        .runs(limit, open)
        .map(({ row, last }) => summaryOf(row, decodeEntry(last.bytes, last.index))),

    head() {
      guard();
      log.catchUp();
      return log.head();
    },

    heads: () => tables.heads().map(({ note }) => note),
    seal,

    async close() {
      if (closed) return;
      try {
        queue.flush();
        if (signs && broken === undefined && log.unsealed() > 0) {
          const sealed = seal();
          queue.flush();
          await sealed;
        }
      } finally {
        closed = true;
        stopIdle?.();
        tables.close();
      }
    },
  };
}

function refuseToSign(): never {
  throw new RoteError("journal_key_missing", "Without the journal's key no tree head can be made.");
}

/** A tree head that was given away and is not in the store means that the store is older than what it promised. */
function refuseBackup(tables: JournalTables, copies: readonly string[]): void {
  for (const copy of copies) {
    const size = parseTreeHead(copy.slice(0, copy.lastIndexOf("\n\n") + 1))?.size;
    if (size !== undefined && tables.headAt(size)?.note === copy) continue;
    throw new RoteError(
      "restored_backup",
      `A tree head of ${size ?? "unknown"} entries was kept outside this journal, which has ${tables.end().size} ` +
        "and does not know it. The journal was restored from a backup or replaced: operations may have happened that " +
        "it does not record. Reconcile with the targets before a new journal is begun.",
      { kept: String(size ?? "unknown"), entries: tables.end().size },
    );
  }
}

function textOf({ space, key }: Claim): string {
  return `${space}\n${key}`;
}

function bytesOfDraft({ chain, type, body, known }: Draft, lease: Lease | null): BodyBytes {
  if (isRunEntry(type) ? lease?.chain !== chain : chain !== HOST_CHAIN) {
    throw new TypeError(`a ${type} entry cannot be written to chain ${chain} under this lease`);
  }
  return bodyBytes(type, body, known);
}
