import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ok } from "../../../src/base/result.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import { openDatabase } from "../../../src/store/sqlite/open.ts";
import {
  createProcedures,
  openProcedures,
  proceduresIn,
} from "../../../src/store/sqlite/procedures.ts";
import { FILE, PROCEDURES } from "../../../src/store/sqlite/schema.ts";
import { childProgram } from "../../support/children.ts";
import { directories } from "../../support/directories.ts";
import { exchange, KEY, keyOfWord, NAME, observation } from "../../support/memory-evidence.ts";
import { add, caught, code, runs } from "./observations.ts";

const CHILD = childProgram("memory");

const places = directories();
afterEach(() => places.remove());

let directory: string;
beforeEach(() => {
  directory = places.fresh();
});

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
      const log = join(dirname(directory), "syncs");
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
