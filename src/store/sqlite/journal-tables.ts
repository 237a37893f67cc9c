/** The journal's rows in SQLite. Its rules are in `store/journal/`; here is only how rows are read and written. */
import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import type { Frontier } from "../../base/merkle.ts";
import { storedInteger, storedNumber, storedText } from "../decode.ts";
import type { HeadRow, JournalTables, RunRow, StoredEntry } from "../journal/tables.ts";
import type { Database } from "./open.ts";
import { type Row, rowOf } from "./read-rows.ts";
import type { Writer } from "./writer.ts";

/** SQLite's own word for it. */
const NO_LIMIT = -1;

export function sqliteJournalTables(database: Database, writer: Writer): JournalTables {
  const sql = statementsOf(database);
  const { read } = writer;
  const ids = new Map<string, bigint>();

  function chainId(name: string): bigint | undefined {
    const known = ids.get(name);
    if (known !== undefined) return known;
    const row = sql.chain.get(name);
    if (row === undefined) return undefined;
    const id = BigInt(storedNumber(rowOf(row)["id"], "a chain"));
    ids.set(name, id);
    return id;
  }

  return {
    write: (work) => writer.write(work),

    version: () => read(() => storedInteger(rowOf(sql.version.get())["data_version"], "a version")),

    tail: (chain) =>
      read(() => {
        const row = sql.tail.get(chain);
        if (row === undefined) return undefined;
        const { seq, bytes } = rowOf(row);
        return { seq: storedNumber(seq, "a position"), hash: sha256Hex(storedBytes(bytes)) };
      }),

    putEntry({ index, chain, seq, time, bytes }) {
      if (seq === 0) sql.addChain.run(chain);
      sql.addEntry.run(index, chainId(chain) ?? null, seq, time, bytes);
    },

    entries: (chain, fromSeq, limit = NO_LIMIT) =>
      read(() => {
        const id = chainId(chain);
        return id === undefined ? [] : sql.entries.all(id, fromSeq, limit).map(readEntry);
      }),

    scan: (fromIndex, limit) => read(() => sql.scan.all(fromIndex, limit).map(readEntry)),

    end: () =>
      read(() => {
        const row = sql.end.get();
        if (row === undefined) return { size: 0, time: 0 };
        const { position, time } = rowOf(row);
        return {
          size: storedNumber(position, "a position") + 1,
          time: storedNumber(time, "a time"),
        };
      }),

    claimedAt: (space, key) =>
      read(() => {
        const row = sql.claim.get(space, key);
        return row === undefined ? undefined : storedNumber(rowOf(row)["position"], "a position");
      }),
    putClaim: (space, key, index) => void sql.addClaim.run(space, key, index),
    dropClaim: (space, key) => void sql.dropClaim.run(space, key),

    total: (counter) =>
      read(() => {
        const total = sql.counter.get(counter);
        return total === undefined ? 0n : BigInt(storedText(total, "a total"));
      }),
    putTotal: (counter, total) => void sql.putCounter.run(counter, String(total)),

    lease: (chain) =>
      read(() => {
        const found = sql.lease.get(chain);
        if (found === undefined) return undefined;
        const row = rowOf(found);
        return {
          owner: storedText(row["owner"], "an owner"),
          epoch: storedNumber(row["epoch"], "an epoch"),
          expiresMs: storedNumber(row["expires_ms"], "a time"),
        };
      }),
    putLease: (chain, { owner, epoch, expiresMs }) =>
      void sql.putLease.run({ chain, owner, epoch, expires_ms: expiresMs }),

    blob: (sha256) =>
      read(() => {
        const row = sql.blob.get(sha256);
        return row === undefined ? undefined : storedBytes(rowOf(row)["bytes"]);
      }),
    putBlob: (sha256, bytes) => void sql.putBlob.run(sha256, bytes),

    stands: (qualification) => read(() => sql.stands.get(qualification) !== undefined),

    run: (run) =>
      read(() => {
        const row = sql.run.get(run);
        return row === undefined ? undefined : readRun(row);
      }),
    putRun: ({ startedMs, touchedMs, ...row }) =>
      void sql.putRun.run({ ...row, started_ms: startedMs, touched_ms: touchedMs }),
    runs: (limit, open) =>
      read(() =>
        sql.runs
          .all({ limit, open: open ? 1 : 0 })
          .map((row) => ({ row: readRun(row), last: readEntry(row) })),
      ),

    lastHead: () => read(() => headOf(sql.lastHead.get())),
    headAt: (size) => read(() => headOf(sql.headAt.get(size))),
    heads: () => read(() => sql.heads.all().map(readHead)),
    putHead: ({ frontier, note }) =>
      void sql.putHead.run({ size: frontier.size, note, roots: Buffer.concat(frontier.roots) }),

    close: () => writer.close(),
  };
}

function statementsOf(database: Database) {
  const prepare = (sql: string) => database.prepare<unknown[], unknown>(sql);
  return {
    version: prepare("PRAGMA data_version"),
    chain: prepare("SELECT id FROM chains WHERE name = ?"),
    addChain: prepare("INSERT INTO chains (name) VALUES (?)"),
    tail: prepare(
      `SELECT seq, bytes FROM entries WHERE chain = (SELECT id FROM chains WHERE name = ?)
       ORDER BY seq DESC LIMIT 1`,
    ),
    addEntry: prepare("INSERT INTO entries VALUES (?, ?, ?, ?, ?)"),
    entries: prepare(
      "SELECT position, bytes FROM entries WHERE chain = ? AND seq >= ? ORDER BY seq LIMIT ?",
    ),
    scan: prepare(
      "SELECT position, bytes FROM entries WHERE position >= ? ORDER BY position LIMIT ?",
    ),
    end: prepare("SELECT position, time FROM entries ORDER BY position DESC LIMIT 1"),
    claim: prepare("SELECT position FROM claims WHERE space = ? AND key = ?"),
    addClaim: prepare("INSERT INTO claims (space, key, position) VALUES (?, ?, ?)"),
    dropClaim: prepare("DELETE FROM claims WHERE space = ? AND key = ?"),
    counter: prepare("SELECT total FROM counters WHERE name = ?").pluck(),
    putCounter: prepare(
      "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET total = excluded.total",
    ),
    lease: prepare("SELECT owner, epoch, expires_ms FROM leases WHERE chain = ?"),
    putLease: prepare(
      `INSERT INTO leases VALUES (@chain, @owner, @epoch, @expires_ms)
       ON CONFLICT (chain) DO UPDATE SET owner = @owner, epoch = @epoch, expires_ms = @expires_ms`,
    ),
    blob: prepare("SELECT bytes FROM blobs WHERE sha256 = ?"),
    putBlob: prepare("INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING"),
    stands: prepare("SELECT 1 FROM qualifications WHERE id = ?"),
    run: prepare("SELECT * FROM runs WHERE run = ?"),
    putRun: prepare(
      `INSERT INTO runs VALUES
       (@run, @recipe, @plan, @mode, @started_ms, @touched_ms, @state, @reason)
       ON CONFLICT (run) DO UPDATE SET touched_ms = @touched_ms, state = @state, reason = @reason`,
    ),
    runs: prepare(
      `SELECT r.*, e.position, e.bytes FROM runs r
       JOIN chains c ON c.name = r.run
       JOIN entries e ON e.chain = c.id
        AND e.seq = (SELECT max(seq) FROM entries WHERE chain = c.id)
       WHERE @open = 0 OR r.state IS NULL
       ORDER BY r.touched_ms DESC, r.run LIMIT @limit`,
    ),
    lastHead: prepare("SELECT * FROM heads ORDER BY size DESC LIMIT 1"),
    headAt: prepare("SELECT * FROM heads WHERE size = ?"),
    heads: prepare("SELECT * FROM heads ORDER BY size"),
    putHead: prepare("INSERT INTO heads VALUES (@size, @note, @roots)"),
  };
}

function readEntry(stored: unknown): StoredEntry {
  const row = rowOf(stored);
  return { index: storedNumber(row["position"], "a position"), bytes: storedBytes(row["bytes"]) };
}

function readRun(stored: unknown): RunRow {
  const row = rowOf(stored);
  return {
    run: storedText(row["run"], "a run"),
    recipe: storedText(row["recipe"], "a recipe"),
    plan: storedText(row["plan"], "a plan"),
    mode: storedText(row["mode"], "a mode"),
    startedMs: storedNumber(row["started_ms"], "a time"),
    touchedMs: storedNumber(row["touched_ms"], "a time"),
    state: orNull(row, "state"),
    reason: orNull(row, "reason"),
  };
}

function orNull(row: Row, column: string): string | null {
  const value = row[column];
  return value === null ? null : storedText(value, column);
}

function headOf(stored: unknown): HeadRow | undefined {
  return stored === undefined ? undefined : readHead(stored);
}

function readHead(stored: unknown): HeadRow {
  const row = rowOf(stored);
  const size = BigInt(storedNumber(row["size"], "a size"));
  const bytes = storedBytes(row["roots"]);
  const roots: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; at += 32) roots.push(bytes.subarray(at, at + 32));
  const frontier: Frontier = { size, roots };
  return { frontier, note: storedText(row["note"], "a tree head") };
}

function storedBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw damaged("bytes are missing");
}

function damaged(what: string): RoteError {
  return new RoteError("journal_damaged", `The journal is damaged: ${what}.`);
}
