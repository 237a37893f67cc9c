import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toHex } from "../../src/base/bytes.ts";
import { sha256Hex } from "../../src/base/digest.ts";
import { EMPTY_FRONTIER, append as extend, leafHash, rootOf } from "../../src/base/merkle.ts";
import { openNote, parseTreeHead } from "../../src/base/note.ts";
import { FIRST_PREV, HOST_CHAIN } from "../../src/model/journal.ts";
import { systemTimers } from "../../src/os/timers.ts";
import type { Journal } from "../../src/ports/journal.ts";
import type { ProcedureStore } from "../../src/ports/procedures.ts";
import type { Timers } from "../../src/ports/timers.ts";
import { openMemoryStore } from "../../src/store/memory/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { KEY, leaseOn, ManualClock, note, type Opening, ORIGIN, optionsOf } from "./journals.ts";

const KNOWN = [{ name: ORIGIN, key: KEY.publicKey }];

interface Opened {
  readonly journal: Journal;
  readonly procedures: ProcedureStore;
}

const ADAPTERS: readonly {
  readonly name: string;
  readonly durable: boolean;
  open(directory: string, opening: Opening): Opened;
}[] = [
  { name: "in process", durable: false, open: (_, opening) => openMemoryStore(optionsOf(opening)) },
  {
    name: "sqlite",
    durable: true,
    open: (directory, opening) => openSqliteStore(join(directory, "store"), optionsOf(opening)),
  },
];

describe.each(ADAPTERS)("journal $name", ({ open }) => {
  let directory: string;
  let clock: ManualClock;
  let opened: Opened;
  let journal: Journal;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "rote-journal-"));
    clock = new ManualClock();
    opened = open(directory, { clock });
    journal = opened.journal;
  });

  afterEach(async () => {
    await journal.close();
    opened.procedures.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("keeps a dense chain in which each entry names the hash of the one before it", async () => {
    const lease = await leaseOn(journal, "run-a");
    for (let n = 0; n < 5; n++) await journal.append(note(lease, { n }));
    const entries = journal.read("run-a");
    expect(entries.map(({ entry }) => entry.seq)).toEqual([0, 1, 2, 3, 4]);
    expect(entries.map(({ entry }) => entry.body)).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })));
    const prevs = [FIRST_PREV, ...entries.slice(0, 4).map(({ hash }) => hash)];
    expect(entries.map(({ entry }) => entry.prev)).toEqual(prevs);
    const bytes = journal.scan(0, 10).map((one) => sha256Hex(one.bytes));
    expect(bytes).toEqual(entries.map(({ hash }) => hash));
    expect(journal.read("run-a", 3).map(({ entry }) => entry.seq)).toEqual([3, 4]);
    expect(journal.length("run-a")).toBe(5);
    expect(journal.read("nobody")).toEqual([]);
  });

  it("writes exactly the canonical bytes", async () => {
    const lease = await leaseOn(journal, "run-a");
    await journal.append(note(lease, { b: [1, "é\u2028"], a: null }));
    const [entry] = journal.scan(0, 1);
    expect(Buffer.from(entry?.bytes ?? []).toString()).toBe(
      `{"body":{"a":null,"b":[1,"é\u2028"]},"chain":"run-a","epoch":1,"prev":"${FIRST_PREV}","seq":0,"time":1700000000000,"type":"model_answered","v":1}`,
    );
  });

  it("numbers the entries of all chains in one log, in the order of the appends", async () => {
    const a = await leaseOn(journal, "run-a");
    const b = await leaseOn(journal, "run-b");
    await Promise.all([
      journal.append(note(a, 1)),
      journal.append(note(b, 2)),
      journal.append({
        lease: null,
        entries: [{ chain: HOST_CHAIN, type: "reconciled", body: 3 }],
      }),
      journal.append(note(a, 4)),
    ]);
    const all = journal.scan(0, 10);
    expect(all.map(({ index, entry }) => [index, entry.chain, entry.seq, entry.body])).toEqual([
      [0, "run-a", 0, 1],
      [1, "run-b", 0, 2],
      [2, "host", 0, 3],
      [3, "run-a", 1, 4],
    ]);
    expect(journal.scan(1, 2).map(({ index }) => index)).toEqual([1, 2]);
  });

  it("takes a claim once, whether in later appends, in the same batch or twice in one append", async () => {
    const lease = await leaseOn(journal, "run-a");
    const claim = { space: "nonce", key: "n1" } as const;
    const [first, second] = await Promise.all([
      journal.append(note(lease, 1, { take: [claim] })),
      journal.append(note(lease, 2, { take: [claim] })),
    ]);
    expect(first.ok).toBe(true);
    expect(second).toEqual({ ok: false, error: { code: "taken", claim, by: "run-a" } });
    expect(await journal.append(note(lease, 3, { take: [claim] }))).toEqual({
      ok: false,
      error: { code: "taken", claim, by: "run-a" },
    });
    const other = { space: "nonce", key: "n2" } as const;
    const twice = await journal.append(note(lease, 4, { take: [other, other] }));
    expect(twice).toEqual({ ok: false, error: { code: "taken", claim: other, by: null } });
    expect(journal.takenBy(claim)).toBe("run-a");
    expect(journal.takenBy(other)).toBeUndefined();
    expect(journal.takenBy({ space: "natural_key", key: "n1" })).toBeUndefined();
    expect(journal.read("run-a").map(({ entry }) => entry.body)).toEqual([1]);
  });

  it("frees a claim with the entry that says so", async () => {
    const lease = await leaseOn(journal, "run-a");
    const claim = { space: "natural_key", key: "asset-1/2024-05" } as const;
    await journal.append(note(lease, 1, { take: [claim] }));
    await journal.append(note(lease, 2, { free: [claim] }));
    expect((await journal.append(note(lease, 3, { take: [claim] }))).ok).toBe(true);
  });

  it("counts up to a limit and no further, also when four ask at the same time (B054)", async () => {
    const lease = await leaseOn(journal, "run-a");
    await journal.append(
      note(lease, 0, { count: [{ counter: "tokens", add: 900n, limit: 1000n }] }),
    );
    const asked = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        journal.append(note(lease, n, { count: [{ counter: "tokens", add: 60n, limit: 1000n }] })),
      ),
    );
    expect(asked.map(({ ok }) => ok)).toEqual([true, false, false, false]);
    expect(asked[1]).toEqual({
      ok: false,
      error: { code: "over_limit", counter: "tokens", total: 1020n, limit: 1000n },
    });
    expect(journal.total("tokens")).toBe(960n);
    await journal.append(
      note(lease, 5, { count: [{ counter: "tokens", add: -60n, limit: null }] }),
    );
    expect(journal.total("tokens")).toBe(900n);
  });

  it("counts beyond 64 bits exactly (B112)", async () => {
    const lease = await leaseOn(journal, "run-a");
    const add = 9_007_199_254_740_993n * 10n ** 12n;
    await journal.append(note(lease, 1, { count: [{ counter: "amount", add, limit: null }] }));
    expect(journal.total("amount")).toBe(9007199254740993000000000000n);
  });

  it("refuses one append of a batch without touching its neighbours", async () => {
    const lease = await leaseOn(journal, "run-a");
    const results = await Promise.all([
      journal.append(note(lease, "before")),
      journal.append(
        note(lease, "refused", {
          take: [{ space: "nonce", key: "x" }],
          count: [{ counter: "c", add: 2n, limit: 1n }],
        }),
      ),
      journal.append(note(lease, "after")),
    ]);
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(journal.read("run-a").map(({ entry }) => entry.body)).toEqual(["before", "after"]);
    expect(journal.takenBy({ space: "nonce", key: "x" })).toBeUndefined();
    expect(journal.total("c")).toBe(0n);
  });

  it("lets one owner write a chain at a time, and says who holds it", async () => {
    await leaseOn(journal, "run-a");
    expect(await journal.claim("run-a")).toEqual({
      ok: false,
      error: { code: "held", owner: "one", expiresMs: clock.now + 10_000 },
    });
    expect((await journal.claim("run-b")).ok).toBe(true);
  });

  it("refuses every write of an owner that was overtaken, however late, also under the same name (B052)", async () => {
    const old = await leaseOn(journal, "run-a");
    await journal.append(note(old, 1));
    clock.now += 10_001;
    const fresh = await leaseOn(journal, "run-a");
    expect(fresh.epoch).toBe(old.epoch + 1);
    await journal.append(note(fresh, 2));
    expect(await journal.append(note(old, 3))).toEqual({
      ok: false,
      error: { code: "lease_lost", chain: "run-a" },
    });
    await journal.release(old);
    expect((await journal.append(note(fresh, 4))).ok).toBe(true);
    expect(journal.read("run-a").map(({ entry }) => [entry.epoch, entry.body])).toEqual([
      [1, 1],
      [2, 2],
      [2, 4],
    ]);
  });

  it("extends a lease by writing under it, and gives it back at once when released", async () => {
    const lease = await leaseOn(journal, "run-a");
    for (let n = 0; n < 5; n++) {
      clock.now += 6_000;
      expect((await journal.append(note(lease, n))).ok).toBe(true);
    }
    expect((await journal.claim("run-a")).ok).toBe(false);
    await journal.release(lease);
    const next = await leaseOn(journal, "run-a");
    expect(next.epoch).toBe(2);
  });

  it("keeps an expired lease good as long as nobody took it", async () => {
    const lease = await leaseOn(journal, "run-a");
    clock.now += 3_600_000;
    expect((await journal.append(note(lease, 1))).ok).toBe(true);
  });

  it("never lets time go back, and refuses admissions when the clock is far behind", async () => {
    const lease = await leaseOn(journal, "run-a");
    expect(journal.time()).toBe(0);
    await journal.append(note(lease, 1));
    clock.now -= 30_000;
    expect((await journal.append(note(lease, 2, { needsClock: true }))).ok).toBe(true);
    clock.now -= 40_000;
    expect(await journal.append(note(lease, 3, { needsClock: true }))).toEqual({
      ok: false,
      error: { code: "clock_behind", behindMs: 70_000 },
    });
    await journal.append(note(lease, 4));
    const times = journal.read("run-a").map(({ entry }) => entry.time);
    expect(times).toEqual([1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000]);
    expect(journal.time()).toBe(1_700_000_000_000);
  });

  it("admits under a qualification only while it stands", async () => {
    const lease = await leaseOn(journal, "run-a");
    expect(await journal.append(note(lease, 1, { qualification: "qualification-none" }))).toEqual({
      ok: false,
      error: { code: "not_qualified" },
    });
  });

  it("refuses bodies that have no canonical form or are too large, before anything is queued", async () => {
    const lease = await leaseOn(journal, "run-a");
    const refused = (body: unknown) => journal.append(note(lease, body as never));
    await expect(refused({ x: Number.NaN })).rejects.toMatchObject({ code: "not_canonical" });
    await expect(refused({ x: "\ud800" })).rejects.toMatchObject({ code: "not_canonical" });
    await expect(refused("x".repeat(65_536))).rejects.toMatchObject({ code: "entry_too_large" });
    expect(journal.read("run-a")).toEqual([]);
    expect((await journal.append(note(lease, "fine"))).ok).toBe(true);
  });

  it("refuses entries on another chain than the lease's, and run entries without a lease", async () => {
    const lease = await leaseOn(journal, "run-a");
    const entries = [{ chain: "run-b", type: "receipt", body: 1 }] as const;
    await expect(journal.append({ lease, entries })).rejects.toThrow(TypeError);
    await expect(journal.append({ lease: null, entries })).rejects.toThrow(TypeError);
    const host = [{ chain: HOST_CHAIN, type: "receipt", body: 1 }] as const;
    await expect(journal.append({ lease, entries: host })).rejects.toThrow(TypeError);
  });

  it("signs the head at least every 64 entries, on request and when it is closed", async () => {
    const lease = await leaseOn(journal, "run-a");
    for (let n = 0; n < 70; n++) await journal.append(note(lease, n));
    await journal.append(note(lease, "end", { seal: true }));
    await journal.append(note(lease, "more"));
    const last = await journal.seal();
    expect(await journal.seal()).toBe(last);
    const sizes = journal.heads().map((head) => {
      const opened = openNote(head, KNOWN);
      return opened.ok ? Number(parseTreeHead(opened.value.text)?.size) : -1;
    });
    expect(sizes).toEqual([64, 71, 72]);
  });

  it("signs the head when nothing was written for a second, and not before", async () => {
    const alarms: { readonly ms: number; readonly ring: () => void }[] = [];
    const after: Timers["after"] = (ms, ring) => {
      alarms.push({ ms, ring });
      return () => undefined;
    };
    const own = mkdtempSync(join(tmpdir(), "rote-journal-"));
    const idle = open(own, { clock, timers: { ...systemTimers, after } });
    const lease = await leaseOn(idle.journal, "run-a");
    await idle.journal.append(note(lease, 1));
    clock.now += 600;
    await idle.journal.append(note(lease, 2));
    clock.now += 400;
    alarms.shift()?.ring();
    expect([idle.journal.heads(), alarms.map(({ ms }) => ms)]).toEqual([[], [600]]);
    clock.now += 600;
    alarms.shift()?.ring();
    // Behind what the alarm has asked for.
    await idle.journal.claim("run-b");
    expect([idle.journal.heads().length, alarms.length]).toEqual([1, 0]);
    await idle.journal.close();
    idle.procedures.close();
    rmSync(own, { recursive: true, force: true });
  });

  it("has in each head the root of the entries that anybody can recompute", async () => {
    const lease = await leaseOn(journal, "run-a");
    for (let n = 0; n < 65; n++) await journal.append(note(lease, { n }));
    await journal.seal();
    let frontier = EMPTY_FRONTIER;
    const roots = new Map<number, string>();
    for (const { bytes, index } of journal.scan(0, 1000)) {
      frontier = extend(frontier, leafHash(bytes));
      roots.set(index + 1, toHex(rootOf(frontier)));
    }
    for (const head of journal.heads()) {
      const opened = openNote(head, KNOWN);
      const tree = opened.ok ? parseTreeHead(opened.value.text) : undefined;
      expect(toHex(tree?.root ?? new Uint8Array())).toBe(roots.get(Number(tree?.size)));
    }
    expect(toHex(journal.head().root)).toBe(roots.get(65));
  });

  it("keeps blobs by their hash, and lists runs by their last entry", async () => {
    const bytes = Buffer.from("large content");
    const lease = await leaseOn(journal, "run-a");
    await journal.append({
      lease,
      entries: [
        { chain: "run-a", type: "run_started", body: { recipe: "r", plan: "p", mode: "guided" } },
      ],
      blobs: [bytes],
    });
    clock.now += 5;
    await journal.append({
      lease,
      entries: [
        { chain: "run-a", type: "run_ended", body: { state: "verified", reason: "completed" } },
      ],
    });
    expect(Buffer.from(journal.blob(sha256Hex(bytes)) ?? []).toString()).toBe("large content");
    expect(journal.blob("00")).toBeUndefined();
    expect(journal.runs(10)).toEqual([
      {
        run: "run-a",
        recipe: "r",
        plan: "p",
        mode: "guided",
        startedMs: 1_700_000_000_000,
        updatedMs: 1_700_000_000_005,
        last: "run_ended",
        state: "verified",
        reason: "completed",
      },
    ]);
  });

  it("finds a run that has not ended behind any number of runs that have", async () => {
    const body = { recipe: "r", plan: "p", mode: "guided" };
    const start = async (chain: string) => {
      const lease = await leaseOn(journal, chain);
      await journal.append({ lease, entries: [{ chain, type: "run_started", body }] });
      clock.now += 2_000;
      return lease;
    };
    await start("run-a");
    for (const chain of ["run-b", "run-c"]) {
      const lease = await start(chain);
      const ended = { state: "verified", reason: "completed" };
      await journal.append({ lease, entries: [{ chain, type: "run_ended", body: ended }] });
    }
    expect(journal.runs(1).map(({ run }) => run)).toEqual(["run-c"]);
    expect(journal.runs(1, true).map(({ run, state }) => [run, state])).toEqual([["run-a", null]]);
  });

  it("is closed once and then refuses everything", async () => {
    const lease = await leaseOn(journal, "run-a");
    await journal.close();
    await journal.close();
    await expect(journal.append(note(lease, 1))).rejects.toMatchObject({ code: "journal_closed" });
  });
});
