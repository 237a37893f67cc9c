import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import { ok } from "../../../src/base/result.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { openDatabase } from "../../../src/store/sqlite/open.ts";
import {
  createProcedures,
  openProcedures,
  proceduresIn,
} from "../../../src/store/sqlite/procedures.ts";
import { FILE, PROCEDURES } from "../../../src/store/sqlite/schema.ts";
import { childProgram } from "../../support/children.ts";
import { exchange, KEY, keyOfWord, NAME, observation } from "../../support/memory-evidence.ts";
import { canMount, smallDisk } from "../../support/small-disk.ts";

const CHILD = childProgram("memory");
const ROOT = process.getuid?.() === 0;
const MOUNTS = ROOT && canMount();

let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rote-failures-"));
  directory = join(root, "memory");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function add(store: ProcedureStore, word: string, size = 0, key = KEY) {
  const models = size === 0 ? [] : [exchange("n", "p", "x".repeat(size))];
  const given = observation(word, { models: models.map(({ source: _source, ...rest }) => rest) });
  return store.observe(key, NAME, () => ok({ observation: given, demotion: null }));
}

function runs(place: string): readonly string[] {
  const store = openProcedures(place, DEFAULT_MEMORY_LIMITS);
  try {
    return store.read(KEY)?.observations.map((one) => one.run) ?? [];
  } finally {
    store.close();
  }
}

function code(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("must fail");
}

function child(place: string, prefix: string, count: number): ChildProcess {
  return spawn(process.execPath, [CHILD, place, prefix, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The lines that a child prints, until it ends. */
async function linesOf(process_: ChildProcess, each: (line: string) => void = () => {}) {
  const lines: string[] = [];
  if (process_.stdout === null) throw new Error("no output");
  for await (const line of createInterface({ input: process_.stdout })) {
    lines.push(line);
    each(line);
  }
  return lines;
}

describe("integers", () => {
  it("a sequence number beyond what a double holds is exact by every way of reading (B112)", () => {
    createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
    const database = openDatabase(join(directory, FILE), PROCEDURES);
    database.exec("INSERT INTO sqlite_sequence VALUES ('observations', 9007199254740992)");
    const store = proceduresIn(database, DEFAULT_MEMORY_LIMITS);
    expect(add(store, "a")).toEqual({
      ok: true,
      value: { seq: 9_007_199_254_740_993n, evicted: 0 },
    });
    store.qualify(KEY, () => ({
      qualification: { id: "q", learned: [], clean_runs: 1, qualified_ms: 1 },
      answer: null,
    }));
    store.demote(KEY, { cause: "host", reason: "r", run: null, demoted_ms: 1 });
    const seen: bigint[] = [];
    store.observe(KEY, NAME, (record) => {
      seen.push(...(record?.observations.map((one) => one.seq) ?? []));
      return ok({ observation: observation("b"), demotion: null });
    });
    expect(seen).toEqual([9_007_199_254_740_993n]);
    const record = store.read(KEY);
    expect(record?.observations.map((one) => one.seq)).toEqual([
      9_007_199_254_740_993n,
      9_007_199_254_740_994n,
    ]);
    expect(record?.demotions.map((one) => one.barrier)).toEqual([9_007_199_254_740_993n]);
    store.close();
  });
});

describe("two processes", () => {
  it("each 200 times read the head and append, in one transaction: 400 rows and no busy error (B113)", async () => {
    createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
    const outputs = await Promise.all(
      ["left", "right"].map((prefix) => linesOf(child(directory, prefix, 200))),
    );
    expect(outputs.map((lines) => lines.at(-1))).toEqual(["done", "done"]);
    const seqs = outputs.flatMap((lines) => lines.slice(1, -1)).map(Number);
    expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 400 }, (_, n) => n + 1));
    const kept = runs(directory);
    // Each append saw the head that the one before it had left.
    expect(kept.map((run) => Number(run.split("-after-")[1]))).toEqual(
      Array.from({ length: 400 }, (_, n) => n),
    );
  });

  it("a lock that is kept is a clear error at the end of patience, and the store goes on", () => {
    createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
    const store = openProcedures(directory, DEFAULT_MEMORY_LIMITS, { busyTimeoutMs: 1 });
    const other = new Sqlite(join(directory, FILE));
    other.exec("BEGIN IMMEDIATE");
    expect(code(caught(() => add(store, "a")))).toBe("store_busy");
    // Reading never waits for a writer.
    expect(store.read(KEY)).toBeUndefined();
    expect(store.stands("q")).toBe(false);
    other.exec("ROLLBACK");
    other.close();
    expect(add(store, "a").ok).toBe(true);
    store.close();
  });

  it("one sees at once that the other demoted", () => {
    const ours = createProcedures(directory, DEFAULT_MEMORY_LIMITS);
    const theirs = openProcedures(directory, DEFAULT_MEMORY_LIMITS);
    add(ours, "a");
    ours.qualify(KEY, () => ({
      qualification: { id: "q", learned: [], clean_runs: 1, qualified_ms: 1 },
      answer: null,
    }));
    expect(ours.stands("q")).toBe(true);
    theirs.demote(KEY, { cause: "host", reason: "r", run: null, demoted_ms: 1 });
    expect(ours.stands("q")).toBe(false);
    ours.close();
    theirs.close();
  });

  it("killed in the middle of writing, one leaves a store that holds all it acknowledged", async () => {
    createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
    for (const [round, after] of [1, 7, 40].entries()) {
      const killed = child(directory, `round${round}`, 100_000);
      let seen = 0;
      const lines = await linesOf(killed, () => {
        seen += 1;
        if (seen === after + 1) killed.kill("SIGKILL");
      });
      const acknowledged = lines.filter((line) => /^\d+$/.test(line)).length;
      expect(acknowledged).toBeGreaterThanOrEqual(after);
      const kept = runs(directory).filter((run) => run.startsWith(`run-round${round}-`));
      expect(kept.length).toBeGreaterThanOrEqual(acknowledged);
      expect(kept.length).toBeLessThanOrEqual(acknowledged + 1);
    }
    const database = openDatabase(join(directory, FILE), PROCEDURES);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    database.close();
  });
});

describe("a commit", () => {
  const strace = spawnSync("strace", ["-V"], { stdio: "ignore" }).status === 0;
  it.skipIf(!strace)(
    "reaches the disk before it is acknowledged: strace counts at least one sync each (strace is not here if skipped)",
    () => {
      createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
      const log = join(root, "syncs");
      const traced = spawnSync(
        "strace",
        ["-f", "-e", "trace=fsync,fdatasync,write", "-o", log, process.execPath].concat([
          CHILD,
          directory,
          "traced",
          "20",
        ]),
        { encoding: "utf8" },
      );
      expect(traced.stdout.trim().split("\n").at(-1)).toBe("done");
      // Between one acknowledgement and the next there is a sync.
      const story = readFileSync(log, "utf8")
        .split("\n")
        .flatMap((line) =>
          /f(data)?sync\(/.test(line) ? "s" : /write\(1, "(open|\d+)\\n"/.test(line) ? "a" : [],
        )
        .join("");
      const acknowledged = story.split("a").slice(1, -1);
      expect(acknowledged).toHaveLength(20);
      expect(acknowledged.filter((syncs) => syncs === "")).toEqual([]);
    },
  );
});

describe("a full disk", () => {
  function fill(store: ProcedureStore): {
    readonly kept: readonly string[];
    readonly error: unknown;
  } {
    const kept: string[] = [];
    for (let index = 0; index < 10_000; index += 1) {
      try {
        add(store, `${index}`, 4000);
      } catch (error) {
        return { kept, error };
      }
      kept.push(`run-${index}`);
    }
    throw new Error("the disk never filled");
  }

  /** What has to be true however the space ran out. */
  function endsCleanly(store: ProcedureStore, error: unknown): void {
    expect(code(error)).toBe("disk_full");
    for (const call of [
      () => store.read(KEY),
      () => store.stands("q"),
      () => add(store, "later"),
      () => store.demote(KEY, { cause: "host", reason: "r", run: null, demoted_ms: 1 }),
    ]) {
      expect(caught(call)).toMatchObject({
        code: "store_ended",
        data: { because: "disk_full" },
        message: expect.stringContaining("nothing that was acknowledged is lost"),
      });
    }
    store.close();
  }

  it.skipIf(!MOUNTS)(
    "ends the use of the store by a clear code and loses nothing (a tmpfs of 1 MiB, as root; skipped where nothing can be mounted)",
    () => {
      const disk = smallDisk(1024);
      if (disk === undefined) throw new Error("cannot mount any more");
      try {
        const place = join(disk.directory, "memory");
        writeFileSync(join(disk.directory, "ballast"), Buffer.alloc(200_000));
        const store = createProcedures(place, DEFAULT_MEMORY_LIMITS);
        const { kept, error } = fill(store);
        expect(kept.length).toBeGreaterThan(10);
        endsCleanly(store, error);
        expect(runs(place)).toEqual(kept);
        unlinkSync(join(disk.directory, "ballast"));
        const again = openProcedures(place, DEFAULT_MEMORY_LIMITS);
        expect(add(again, "after").ok).toBe(true);
        again.close();
        expect(runs(place)).toEqual([...kept, "run-after"]);
      } finally {
        disk.remove();
      }
    },
  );

  it.skipIf(!MOUNTS)(
    "makes creating fail with nothing left behind (a tmpfs of 64 KiB, as root; skipped where nothing can be mounted)",
    () => {
      const disk = smallDisk(64);
      if (disk === undefined) throw new Error("cannot mount any more");
      try {
        writeFileSync(join(disk.directory, "ballast"), Buffer.alloc(60_000));
        const place = join(disk.directory, "memory");
        expect(code(caught(() => createProcedures(place, DEFAULT_MEMORY_LIMITS)))).toBe(
          "disk_full",
        );
        expect(existsSync(join(place, FILE))).toBe(false);
        unlinkSync(join(disk.directory, "ballast"));
      } finally {
        disk.remove();
      }
    },
  );

  it("ends the use of the store by a clear code and loses nothing (simulated everywhere by PRAGMA max_page_count)", () => {
    createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
    const database = openDatabase(join(directory, FILE), PROCEDURES);
    database.pragma("max_page_count = 120");
    const store = proceduresIn(database, DEFAULT_MEMORY_LIMITS);
    const { kept, error } = fill(store);
    expect(kept.length).toBeGreaterThan(10);
    endsCleanly(store, error);
    expect(runs(directory)).toEqual(kept);
  });
});

describe("a memory that cannot be written", () => {
  const bytes = () => sha256Hex(readFileSync(join(directory, FILE)));

  it.skipIf(!MOUNTS)(
    "is refused unchanged on a read-only file system (a tmpfs remounted read-only, as root; skipped where nothing can be mounted)",
    () => {
      const disk = smallDisk(1024);
      if (disk === undefined) throw new Error("cannot mount any more");
      try {
        directory = join(disk.directory, "memory");
        createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
        const before = bytes();
        disk.readOnly();
        expect(caught(() => openProcedures(directory, DEFAULT_MEMORY_LIMITS))).toMatchObject({
          code: "store_read_only",
          message: expect.stringContaining("cannot record a demotion"),
        });
        expect(
          code(caught(() => createProcedures(join(disk.directory, "new"), DEFAULT_MEMORY_LIMITS))),
        ).toBe("store_read_only");
        expect(bytes()).toBe(before);
        disk.writable();
        openProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
      } finally {
        disk.remove();
      }
    },
  );

  const immutable = ROOT && canBeImmutable();

  it.skipIf(!immutable)(
    "is refused unchanged when the file is immutable (chattr +i, as root; skipped where the file system has no such flag)",
    () => {
      createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
      const before = bytes();
      spawnSync("chattr", ["+i", join(directory, FILE)]);
      try {
        expect(code(caught(() => openProcedures(directory, DEFAULT_MEMORY_LIMITS)))).toBe(
          "store_read_only",
        );
        expect(bytes()).toBe(before);
      } finally {
        spawnSync("chattr", ["-i", join(directory, FILE)]);
      }
    },
  );

  it.skipIf(ROOT)(
    "is refused unchanged when modes forbid it (skipped for root, whom modes do not bind)",
    () => {
      createProcedures(directory, DEFAULT_MEMORY_LIMITS).close();
      const before = bytes();
      for (const [place, mode, back] of [
        [join(directory, FILE), 0o400, 0o600],
        [directory, 0o500, 0o700],
      ] as const) {
        chmodSync(place, mode);
        expect(code(caught(() => openProcedures(directory, DEFAULT_MEMORY_LIMITS)))).toBe(
          "store_read_only",
        );
        chmodSync(place, back);
      }
      expect(bytes()).toBe(before);
    },
  );

  function canBeImmutable(): boolean {
    const trial = mkdtempSync(join(tmpdir(), "rote-immutable-"));
    const file = join(trial, "file");
    writeFileSync(file, "");
    const set = spawnSync("chattr", ["+i", file], { stdio: "ignore" }).status === 0;
    if (set) spawnSync("chattr", ["-i", file]);
    rmSync(trial, { recursive: true });
    return set;
  }
});

describe("forgetting", () => {
  it("overwrites what was kept, in the file and in the log", () => {
    const store = createProcedures(directory, DEFAULT_MEMORY_LIMITS);
    const secret = "a-model-answer-that-nobody-should-find";
    const { source: _source, ...model } = exchange("n", "p", secret);
    store.observe(KEY, NAME, () =>
      ok({ observation: observation("a", { models: [model] }), demotion: null }),
    );
    add(store, "b", 0, keyOfWord("b"));
    const anywhere = () =>
      [FILE, `${FILE}-wal`].some((file) => readFileSync(join(directory, file)).includes(secret));
    expect(anywhere()).toBe(true);
    store.forget(KEY);
    expect(anywhere()).toBe(false);
    store.close();
  });
});

describe("rows that were changed by hand", () => {
  it.each([
    ["a body that is no JSON", "UPDATE observations SET body = '{'"],
    ["a body of another shape", "UPDATE observations SET body = '[]'"],
    ["inputs that are no digest", "UPDATE observations SET inputs = 'x'"],
    ["a time out of range", "UPDATE observations SET observed_ms = 9223372036854775807"],
    ["an environment that is no environment", "UPDATE procedures SET environment_parts = '{}'"],
  ])("%s are told as damage, not misread", (_name, sql) => {
    const store = createProcedures(directory, DEFAULT_MEMORY_LIMITS);
    add(store, "a");
    const database = new Sqlite(join(directory, FILE));
    database.exec(sql);
    database.close();
    expect(
      code(
        caught(() => {
          store.read(KEY)?.observations.map((one) => one.models);
          store.find(KEY);
        }),
      ),
    ).toBe("memory_damaged");
    store.close();
  });
});
