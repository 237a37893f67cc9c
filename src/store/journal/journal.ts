/**
 * The journal's rules, written once over the rows of any store. See `ports/journal.ts` for what it promises; this file
 * owns how: judge an append against the rows, then write all of it, many appends to one transaction.
 */

import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import { append, EMPTY_FRONTIER, leafHash, rootOf } from "../../base/merkle.ts";
import { formatTreeHead, parseTreeHead, type TreeHead } from "../../base/note.ts";
import { err, ok, type Result } from "../../base/result.ts";
import { type Appended, type Entry, FIRST_PREV, HOST_CHAIN } from "../../model/journal.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  Append,
  AppendRefusal,
  Claim,
  Draft,
  Journal,
  Lease,
  LeaseHeld,
} from "../../ports/journal.ts";
import { type BodyText, bodyText, decodeEntry, entryBytes, isRunEntry } from "./entry.ts";
import { summaryAfter } from "./summary.ts";
import type { JournalTables } from "./tables.ts";

export interface JournalOptions {
  readonly origin: string;
  readonly clock: Clock;
  /** Who this process is, and whether another owner is known to be dead. */
  readonly owner: string;
  readonly isDead: (owner: string) => boolean;
  /** Signs the text of a tree head as a note. */
  readonly sign: (text: string) => string;
  /** Keeps a copy of each tree head outside the store; called after the commit. */
  readonly keepCopy: (note: string) => void;
  /** The last copy that was kept, if any. */
  readonly lastCopy: string | undefined;
  /** How long a lease lasts without an append. Default 10 s: longer than any pause of a healthy process. */
  readonly leaseMs?: number;
}

const LEASE_MS = 10_000;
/** Entries between two tree heads at most. */
const HEAD_EVERY = 64;
/** A clock this far behind the log makes expiry meaningless. */
const CLOCK_TOLERANCE_MS = 60_000;
const SCAN = 1_000;

interface Queued {
  readonly request: Append;
  readonly bodies: readonly BodyText[];
  readonly resolve: (result: Result<readonly Appended[], AppendRefusal>) => void;
  readonly reject: (error: unknown) => void;
}

export function createJournal(tables: JournalTables, options: JournalOptions): Journal {
  const leaseMs = options.leaseMs ?? LEASE_MS;
  let frontier = EMPTY_FRONTIER;
  let sealed = 0;
  let queue: Queued[] = [];
  let scheduled = false;
  let broken: unknown;
  let closed = false;

  refuseBackup(tables, options.lastCopy);

  /** Entries that other processes committed since we looked last. */
  function catchUp(): void {
    const size = tables.size();
    if (Number(frontier.size) > size) {
      throw new RoteError("journal_damaged", "The log is shorter than it was: entries are gone.");
    }
    if (Number(frontier.size) === size) return;
    const last = tables.lastHead();
    if (last !== undefined && last.frontier.size > frontier.size) frontier = last.frontier;
    sealed = Math.max(sealed, Number(last?.frontier.size ?? 0n));
    while (Number(frontier.size) < size) {
      for (const { bytes } of tables.scan(Number(frontier.size), SCAN)) {
        frontier = append(frontier, leafHash(bytes));
      }
    }
  }

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

  function transact<T>(work: () => T): T {
    guard();
    const before = { frontier, sealed };
    try {
      return tables.write(() => {
        // A busy store may run this again: each attempt starts from what is committed.
        ({ frontier, sealed } = before);
        catchUp();
        return work();
      });
    } catch (error) {
      // Whether anything was written is unknown, so neither are the frontier and what the caller may assume.
      broken = error;
      throw error instanceof RoteError && error.code === "journal_damaged"
        ? error
        : new RoteError("journal_failed", "The journal could not be written.", {}, error);
    }
  }

  function flush(): void {
    scheduled = false;
    const batch = queue;
    queue = [];
    if (batch.length === 0) return;
    const notes: string[] = [];
    let results: Result<readonly Appended[], AppendRefusal>[];
    try {
      results = transact(() => {
        const made = batch.map(appendOne);
        const asked = batch.some(({ request }, at) => request.seal === true && made[at]?.ok);
        if (asked || Number(frontier.size) - sealed >= HEAD_EVERY) notes.push(sealNow());
        return made;
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const note of notes) copyOut(note);
    batch.forEach(({ resolve, reject }, at) => {
      const result = results[at];
      if (result === undefined) reject(new RoteError("journal_failed", "An append got no answer."));
      else resolve(result);
    });
  }

  function copyOut(note: string): void {
    try {
      options.keepCopy(note);
    } catch (error) {
      broken = error;
    }
  }

  function appendOne({ request, bodies }: Queued): Result<readonly Appended[], AppendRefusal> {
    const now = options.clock.wallMs();
    const refusal = judge(request, now);
    if (refusal !== undefined) return err(refusal);
    const first = Number(frontier.size);
    const time = Math.max(now, tables.lastTime());
    const appended = request.entries.map((draft, at) =>
      write(draft, bodies[at], request.lease, time),
    );
    for (const { space, key } of request.free ?? []) tables.dropClaim(space, key);
    for (const { space, key } of request.take ?? []) tables.putClaim(space, key, first);
    for (const { counter, add } of request.count ?? []) {
      tables.putTotal(counter, tables.total(counter) + add);
    }
    for (const bytes of request.blobs ?? []) tables.putBlob(sha256Hex(bytes), bytes);
    if (request.lease !== null) extend(request.lease, now, request.holdMs ?? 0);
    return ok(appended);
  }

  function judge(request: Append, now: number): AppendRefusal | undefined {
    const { lease } = request;
    if (lease !== null && !holds(lease)) return { code: "lease_lost", chain: lease.chain };
    const behindMs = tables.lastTime() - now;
    if (request.needsClock === true && behindMs > CLOCK_TOLERANCE_MS) {
      return { code: "clock_behind", behindMs };
    }
    if (request.before !== undefined && now >= request.before) {
      return { code: "too_late", before: request.before };
    }
    if (request.qualification !== undefined && !tables.stands(request.qualification)) {
      return { code: "not_qualified" };
    }
    const freed = new Set((request.free ?? []).map(textOf));
    const taking = new Set<string>();
    for (const claim of request.take ?? []) {
      const text = textOf(claim);
      const free = !tables.hasClaim(claim.space, claim.key) || freed.has(text);
      if (!free || taking.has(text)) return { code: "taken", claim };
      taking.add(text);
    }
    const totals = new Map<string, bigint>();
    for (const { counter, add, limit } of request.count ?? []) {
      const total = (totals.get(counter) ?? tables.total(counter)) + add;
      totals.set(counter, total);
      if (limit !== null && total > limit) return { code: "over_limit", counter, total, limit };
    }
    return undefined;
  }

  function write(
    { chain, type, body }: Draft,
    text: BodyText | undefined,
    lease: Lease | null,
    time: number,
  ): Appended {
    if (text === undefined) throw new TypeError("an entry without its text");
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
    const bytes = entryBytes(frame, text.text);
    const hash = sha256Hex(bytes);
    const index = Number(frontier.size);
    tables.putEntry({ index, chain, seq: frame.seq, time, hash, bytes });
    frontier = append(frontier, leafHash(bytes));
    const entry: Entry = { ...frame, body };
    const summary = summaryAfter(tables.run(chain), entry);
    if (summary !== undefined) tables.putRun(summary);
    return { entry, hash, index };
  }

  function sealNow(): string {
    const head: TreeHead = { origin: options.origin, size: frontier.size, root: rootOf(frontier) };
    const note = options.sign(formatTreeHead(head));
    tables.putHead({ frontier, note });
    sealed = Number(frontier.size);
    return note;
  }

  function holds(lease: Lease): boolean {
    const row = tables.lease(lease.chain);
    return row?.epoch === lease.epoch && row.owner === lease.owner;
  }

  /** Rewritten only in the second half of its life, so that most appends change no lease row. */
  function extend(lease: Lease, now: number, holdMs: number): void {
    const row = tables.lease(lease.chain);
    if (row !== undefined && row.expiresMs - now < holdMs + leaseMs / 2) {
      tables.putLease(lease.chain, { ...row, expiresMs: now + holdMs + leaseMs });
    }
  }

  return {
    origin: options.origin,

    append(request) {
      return new Promise((resolve, reject) => {
        guard();
        // What cannot be written is the caller's fault, not the store's: found before anything is queued.
        const bodies = request.entries.map((draft) => textOfDraft(draft, request.lease));
        queue.push({ request, bodies, resolve, reject });
        if (!scheduled) {
          scheduled = true;
          setImmediate(flush);
        }
      });
    },

    async claim(chain): Promise<Result<Lease, LeaseHeld>> {
      return transact(() => {
        const now = options.clock.wallMs();
        const row = tables.lease(chain);
        const free = row === undefined || row.expiresMs <= now || options.isDead(row.owner);
        if (!free) return err({ code: "held", owner: row.owner, expiresMs: row.expiresMs });
        const epoch = (row?.epoch ?? 0) + 1;
        tables.putLease(chain, { owner: options.owner, epoch, expiresMs: now + leaseMs });
        return ok({ chain, owner: options.owner, epoch });
      });
    },

    async release(lease) {
      transact(() => {
        const row = tables.lease(lease.chain);
        if (row !== undefined && holds(lease)) {
          tables.putLease(lease.chain, { ...row, expiresMs: 0 });
        }
      });
    },

    read: (chain, fromSeq = 0) =>
      tables.entries(chain, fromSeq).map(({ bytes, index }) => decodeEntry(bytes, index)),

    length(chain) {
      const tail = tables.tail(chain);
      return tail === undefined ? 0 : tail.seq + 1;
    },

    scan: (fromIndex, limit) =>
      tables
        .scan(fromIndex, limit)
        .map(({ bytes, index }) => ({ ...decodeEntry(bytes, index), bytes })),

    blob: (sha256) => tables.blob(sha256),
    taken: ({ space, key }) => tables.hasClaim(space, key),
    total: (counter) => tables.total(counter),
    runs: (limit) => tables.runs(limit),

    head() {
      guard();
      catchUp();
      return { origin: options.origin, size: frontier.size, root: rootOf(frontier) };
    },

    heads: () => tables.heads().map(({ note }) => note),

    async seal() {
      const last = tables.lastHead();
      const note = transact(() =>
        last !== undefined && last.frontier.size === frontier.size ? last.note : sealNow(),
      );
      if (note !== last?.note) copyOut(note);
      return note;
    },

    async close() {
      if (closed) return;
      flush();
      if (broken === undefined && Number(frontier.size) > sealed) await this.seal();
      closed = true;
      tables.close();
    },
  };
}

/** A tree head that was given away and is not in the store means that the store is older than what it promised. */
function refuseBackup(tables: JournalTables, lastCopy: string | undefined): void {
  if (lastCopy === undefined) return;
  const size = parseTreeHead(lastCopy.slice(0, lastCopy.lastIndexOf("\n\n") + 1))?.size;
  if (size !== undefined && tables.headAt(size)?.note === lastCopy) return;
  throw new RoteError(
    "restored_backup",
    `A tree head of ${size ?? "unknown"} entries was kept outside this journal, which has ${tables.size()} ` +
      "and does not know it. The journal was restored from a backup or replaced: operations may have happened that " +
      "it does not record. Reconcile with the targets before a new journal is begun.",
    { kept: String(size ?? "unknown"), entries: tables.size() },
  );
}

function textOf({ space, key }: Claim): string {
  return `${space}\n${key}`;
}

function textOfDraft({ chain, type, body }: Draft, lease: Lease | null): BodyText {
  if (isRunEntry(type) ? lease?.chain !== chain : chain !== HOST_CHAIN) {
    throw new TypeError(`a ${type} entry cannot be written to chain ${chain} under this lease`);
  }
  return bodyText(type, body);
}
