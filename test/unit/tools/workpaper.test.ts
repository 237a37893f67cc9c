import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openWorkpaper, type Workpaper } from "../../../src/tools/workpaper.ts";
import { aborted, callOf, outcome, short } from "../../support/tool-calls.ts";

let root: string;
let directory: string;
let workpaper: Workpaper;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rote-workpaper-"));
  directory = join(root, "w");
  workpaper = openWorkpaper(directory, { mode: "create" });
});
afterEach(() => {
  workpaper.close();
  rmSync(root, { recursive: true, force: true });
});

const append = (key: string, content: unknown, operationId: string) =>
  short(workpaper.append, { key, content }, { operationId });
const all = () => short(workpaper.read, { from: 1, count: 100 });

/** A connection past everything that the adapter does. */
function raw<T>(work: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(join(directory, "workpaper.sqlite"));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

describe("the workpaper", () => {
  it("keeps entries by key and in order, with the operation that wrote them", async () => {
    expect(await append("inv-7", { total: "7.50", ok: true }, "op-1")).toEqual({
      key: "inv-7",
      position: 1,
    });
    expect(await append("inv-8", ["x"], "op-2")).toEqual({ key: "inv-8", position: 2 });
    expect(await short(workpaper.read, { key: "inv-7" })).toEqual({
      entries: [
        { position: 1, key: "inv-7", operation: "op-1", content: { ok: true, total: "7.50" } },
      ],
      end: 2,
    });
    expect(await short(workpaper.read, { from: 2, count: 1 })).toMatchObject({
      entries: [{ key: "inv-8" }],
      end: 2,
    });
    expect(await short(workpaper.read, { from: 3, count: 1 })).toEqual({ entries: [], end: 2 });
    expect(await short(workpaper.read, { key: "inv-9" })).toBe("refused entry_absent");
  });

  it("survives being closed, in private files", async () => {
    await append("a", 1, "op-1");
    workpaper.close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, "workpaper.sqlite")).mode & 0o777).toBe(0o600);
    workpaper = openWorkpaper(directory, { mode: "open" });
    expect(await all()).toMatchObject({ entries: [{ key: "a", content: 1 }] });
  });

  it("is not opened in a directory that others may read", () => {
    workpaper.close();
    chmodSync(directory, 0o755);
    expect(() => openWorkpaper(directory, { mode: "open" })).toThrow(
      expect.objectContaining({ code: "store_not_private" }),
    );
  });

  it("writes an operation's entry once, and answers with it again", async () => {
    const first = await append("a", { n: 1 }, "op-1");
    expect(await append("a", { n: 1 }, "op-1")).toEqual(first);
    expect(await all()).toMatchObject({ end: 1 });
  });

  it("writes nothing else under an operation that wrote", async () => {
    await append("a", 1, "op-1");
    expect(await append("a", 2, "op-1")).toBe("refused operation_reused");
    expect(await append("b", 1, "op-1")).toBe("refused operation_reused");
    expect(await all()).toMatchObject({ end: 1, entries: [{ key: "a", content: 1 }] });
  });

  it("has one entry for a key, whoever asks", async () => {
    await append("a", 1, "op-1");
    expect(await append("a", 1, "op-2")).toBe("refused duplicate_key");
    expect(await all()).toMatchObject({ end: 1 });
  });

  it.each([
    ["no key", { content: 1 }],
    ["an empty key", { key: "", content: 1 }],
    ["a long key", { key: "x".repeat(201), content: 1 }],
    ["no content", { key: "a" }],
    ["content over the limit", { key: "a", content: "x".repeat(65_536) }],
    ["another member", { key: "a", content: 1, overwrite: true }],
    ["no object", "a"],
  ])("takes no entry with %s", async (_, args) => {
    expect(workpaper.append.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await short(workpaper.append, args)).toBe("not_applied tool_arguments_invalid");
    expect(await all()).toEqual({ entries: [], end: 0 });
  });

  it.each([
    ["nothing", {}],
    ["both ways at once", { key: "a", from: 1, count: 1 }],
    ["half a range", { from: 1 }],
    ["position 0", { from: 0, count: 1 }],
    ["too many at once", { from: 1, count: 101 }],
  ])("reads nothing for %s", async (_, args) => {
    expect(workpaper.read.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await short(workpaper.read, args)).toBe("not_applied tool_arguments_invalid");
  });

  it("writes nothing once the call is cancelled", async () => {
    const args = { key: "a", content: 1 };
    const signal = aborted();
    expect(await short(workpaper.append, args, { signal })).toBe("not_applied cancelled");
    expect(await all()).toEqual({ entries: [], end: 0 });
  });

  const changes = [
    "UPDATE records SET content = '2'",
    "DELETE FROM records",
    "INSERT OR REPLACE INTO records (operation, key, content) VALUES ('op-1', 'a', '2')",
    "INSERT OR REPLACE INTO records (operation, key, content) VALUES ('op-9', 'a', '2')",
    "REPLACE INTO records (position, operation, key, content) VALUES (1, 'op-9', 'z', '2')",
    "INSERT INTO records (operation, key, content) VALUES ('op-1', 'a', '2') ON CONFLICT DO UPDATE SET content = '2'",
  ];
  it.each(changes)("refuses in the database itself: %s", async (sql) => {
    await append("a", 1, "op-1");
    expect(() => raw((database) => database.exec(sql))).toThrow(/append only/);
    expect(await all()).toMatchObject({ end: 1, entries: [{ key: "a", content: 1 }] });
  });

  it("says that nothing happened while another process keeps it locked", async () => {
    workpaper.close();
    workpaper = openWorkpaper(directory, { mode: "open", busyTimeoutMs: 10 });
    const locked = new Sqlite(join(directory, "workpaper.sqlite"));
    locked.exec("BEGIN IMMEDIATE");
    expect(await append("a", 1, "op-1")).toBe("not_applied store_busy");
    locked.exec("ROLLBACK");
    locked.close();
    expect(await append("a", 1, "op-1")).toEqual({ key: "a", position: 1 });
  });

  it("says that nothing happened when it was closed before", async () => {
    workpaper.close();
    expect(await append("a", 1, "op-1")).toBe("not_applied memory_closed");
  });

  it("leaves open what happened when a write breaks", async () => {
    raw((database) => database.exec("DROP TABLE records"));
    const got = await outcome(workpaper.append, { key: "a", content: 1 }, { operationId: "op-1" });
    expect(got).toMatchObject({ threw: "workpaper_failed" });
    expect(JSON.stringify(got)).not.toContain(root);
  });
});

describe("the workpaper's probe", () => {
  const call = (operationId: string) => callOf({ key: "a", content: 1 }, { operationId });

  it("finds what an operation wrote", async () => {
    const written = await append("a", 1, "op-1");
    expect(await workpaper.append.probe?.(call("op-1"))).toEqual({ kind: "done", result: written });
  });

  it("makes an operation void that it does not find, for good and for every process", async () => {
    const paused = openWorkpaper(directory, { mode: "open" });
    expect(await workpaper.append.probe?.(call("op-1"))).toEqual({ kind: "absent" });
    const late = { key: "a", content: 1 };
    expect(await short(paused.append, late, { operationId: "op-1" })).toBe(
      "not_applied operation_void",
    );
    paused.close();
    workpaper.close();
    workpaper = openWorkpaper(directory, { mode: "open" });
    expect(await append("a", 1, "op-1")).toBe("not_applied operation_void");
    expect(await workpaper.append.probe?.(call("op-1"))).toEqual({ kind: "absent" });
    expect(await short(workpaper.read, { key: "a" })).toBe("refused entry_absent");
  });

  it("leaves the key free for another operation", async () => {
    await workpaper.append.probe?.(call("op-1"));
    expect(await append("a", 1, "op-2")).toEqual({ key: "a", position: 2 });
    expect(await all()).toEqual({
      entries: [{ position: 2, key: "a", operation: "op-2", content: 1 }],
      end: 2,
    });
  });

  it("cannot tell, and says so, when the workpaper is not there", async () => {
    workpaper.close();
    await expect(workpaper.append.probe?.(call("op-1"))).rejects.toMatchObject({
      code: "memory_closed",
    });
  });
});
