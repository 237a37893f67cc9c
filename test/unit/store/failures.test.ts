import { spawnSync } from "node:child_process";
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
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { openDatabase } from "../../../src/store/sqlite/open.ts";
import {
  createProcedures,
  openProcedures,
  proceduresIn,
} from "../../../src/store/sqlite/procedures.ts";
import { FILE, PROCEDURES } from "../../../src/store/sqlite/schema.ts";
import { directories } from "../../support/directories.ts";
import { KEY } from "../../support/memory-evidence.ts";
import { canMount, smallDisk } from "../../support/small-disk.ts";
import { add, caught, code, runs } from "./observations.ts";

const ROOT = process.getuid?.() === 0;
const MOUNTS = ROOT && canMount();

const places = directories();
afterEach(() => places.remove());

let directory: string;
beforeEach(() => {
  directory = places.fresh();
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
