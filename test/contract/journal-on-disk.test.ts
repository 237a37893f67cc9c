import { fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toHex } from "../../src/base/bytes.ts";
import { EMPTY_FRONTIER, append as extend, leafHash, rootOf } from "../../src/base/merkle.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { childProgram } from "../support/children.ts";
import { leaseOn, ManualClock, note, type Opening, optionsOf } from "./journals.ts";

describe("a journal whose key is gone", () => {
  it("says so when it is closed, and gives its store back all the same", async () => {
    const directory = mkdtempSync(join(tmpdir(), "rote-journal-"));
    const options = optionsOf({ clock: new ManualClock() });
    let usable = true;
    const sign = (text: string) => {
      if (usable) return options.journal.sign(text);
      throw new Error("the key is gone");
    };
    const made = () =>
      openSqliteStore(join(directory, "store"), {
        ...options,
        journal: { ...options.journal, sign },
      });
    const first = made();
    const lease = await leaseOn(first.journal, "run-a");
    await first.journal.append(note(lease, 1));
    usable = false;
    await expect(first.journal.close()).rejects.toMatchObject({ code: "journal_failed" });
    await expect(first.journal.append(note(lease, 2))).rejects.toMatchObject({
      code: "journal_closed",
    });
    expect(() => first.procedures.list(1)).toThrow();
    usable = true;
    const second = made();
    expect(second.journal.read("run-a")).toHaveLength(1);
    await second.journal.close();
    rmSync(directory, { recursive: true, force: true });
  });
});

describe("the journal on disk", () => {
  let directory: string;
  const clock = new ManualClock();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "rote-journal-"));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const opened = (more: Partial<Opening> = {}, store = "store") =>
    openSqliteStore(join(directory, store), optionsOf({ clock, ...more }));

  it("goes on after it was closed, with the same chains, claims, totals and root", async () => {
    const first = opened();
    const lease = await leaseOn(first.journal, "run-a");
    const take = [{ space: "nonce", key: "n" }] as const;
    await first.journal.append(
      note(lease, 1, { take, count: [{ counter: "c", add: 5n, limit: null }] }),
    );
    const root = toHex(first.journal.head().root);
    await first.journal.close();

    const second = opened({ isDead: () => true });
    expect(toHex(second.journal.head().root)).toBe(root);
    expect(second.journal.takenBy(take[0])).toBe("run-a");
    expect(second.journal.total("c")).toBe(5n);
    const again = await leaseOn(second.journal, "run-a");
    expect(again.epoch).toBe(2);
    await second.journal.append(note(again, 2));
    expect(second.journal.read("run-a").map(({ entry }) => entry.seq)).toEqual([0, 1]);
    await second.journal.close();
  });

  it("refuses to open when a tree head that was given away is not in it: a restored backup", async () => {
    const first = opened();
    const lease = await leaseOn(first.journal, "run-a");
    await first.journal.append(note(lease, 1));
    await first.journal.close();
    cpSync(join(directory, "store"), join(directory, "backup"), { recursive: true });

    const second = opened({ isDead: () => true });
    const again = await leaseOn(second.journal, "run-a");
    await second.journal.append(note(again, 2));
    await second.journal.close();

    const heads = readFileSync(join(directory, "store", "heads.txt"));
    rmSync(join(directory, "store"), { recursive: true });
    cpSync(join(directory, "backup"), join(directory, "store"), { recursive: true });
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(directory, "store", "heads.txt"), heads);
    expect(() => opened()).toThrow(expect.objectContaining({ code: "restored_backup" }));
  });

  it("takes the appends of two processes at once, 200 each, all of them and none twice (B053, B056, B113)", async () => {
    await opened().journal.close();
    const children = ["a", "b"].map((name) =>
      fork(childProgram("journal"), [join(directory, "store"), name, "200"], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      }),
    );
    const reports = await Promise.all(
      children.map(async (child) => {
        const [message] = (await once(child, "message")) as [{ appended: number }];
        await once(child, "exit");
        return message.appended;
      }),
    );
    expect(reports).toEqual([200, 200]);
    const { journal } = opened();
    const all = journal.scan(0, 1000);
    expect(all).toHaveLength(400);
    expect(all.map(({ index }) => index)).toEqual(Array.from({ length: 400 }, (_, n) => n));
    for (const name of ["a", "b"]) {
      const bodies = journal.read(`run-${name}`).map(({ entry }) => entry.body);
      expect(bodies).toEqual(Array.from({ length: 200 }, (_, n) => n));
    }
    let frontier = EMPTY_FRONTIER;
    for (const { bytes } of all) frontier = extend(frontier, leafHash(bytes));
    expect(toHex(journal.head().root)).toBe(toHex(rootOf(frontier)));
    await journal.close();
  });
});
