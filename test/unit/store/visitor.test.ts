import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openNote, signNote } from "../../../src/base/note.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { systemTimers } from "../../../src/os/timers.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { visitSqliteJournal } from "../../../src/store/sqlite/visitor.ts";
import { KEYS, ORIGIN } from "../../support/host.ts";

let directory: string;
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "rote-visitor-")), "store");
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

const shared = {
  origin: ORIGIN,
  clock: systemClock,
  timers: systemTimers,
  isDead: () => false,
};

function owner(): Journal {
  const sign = (text: string) => signNote(text, ORIGIN, KEYS.journal);
  const journal = { ...shared, owner: "owner", sign };
  return openSqliteStore(directory, { journal, limits: DEFAULT_MEMORY_LIMITS }).journal;
}

const visitor = () => visitSqliteJournal(directory, { journal: { ...shared, owner: "visitor" } });

const file = (journal: Journal, n: number) =>
  journal.append({
    lease: null,
    entries: [{ chain: HOST_CHAIN, type: "approval_received", body: { n } }],
  });

it("files entries without the journal's key, signs no head, and leaves that to its owner", async () => {
  const host = owner();
  await file(host, 0);
  await host.close();
  const before = readFileSync(join(directory, "heads.txt"), "utf8");
  const guest = visitor();
  // More than what makes a head due.
  for (let n = 1; n <= 70; n += 1) expect(await file(guest, n)).toMatchObject({ ok: true });
  await expect(guest.seal()).rejects.toMatchObject({ code: "journal_key_missing" });
  expect(guest.heads()).toHaveLength(1);
  expect(guest.read(HOST_CHAIN)).toHaveLength(71);
  await guest.close();
  expect(readFileSync(join(directory, "heads.txt"), "utf8")).toBe(before);

  const again = owner();
  await file(again, 71);
  await again.close();
  const last = owner();
  const heads = last.heads();
  expect(heads).toHaveLength(2);
  const known = [{ name: ORIGIN, key: KEYS.journal.publicKey }];
  const opened = openNote(heads.at(-1) ?? "", known);
  expect(opened).toMatchObject({ ok: true, value: { text: expect.stringContaining("\n72\n") } });
  await last.close();
});

it("files beside an owner that is at work, and both see what the other wrote", async () => {
  const host = owner();
  const guest = visitor();
  for (let n = 0; n < 10; n += 1) {
    await file(n % 2 === 0 ? host : guest, n);
  }
  const numbers = (journal: Journal) =>
    journal.read(HOST_CHAIN).map(({ entry }) => (entry.body as { n: number }).n);
  expect(numbers(host)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(numbers(guest)).toEqual(numbers(host));
  await guest.close();
  await host.close();
});

it("makes no store where there is none, and refuses one that was restored from a backup", async () => {
  expect(visitor).toThrow(expect.objectContaining({ code: "store_missing" }));
  expect(existsSync(directory)).toBe(false);
  const host = owner();
  await file(host, 0);
  await host.close();
  const head = signNote(`${ORIGIN}\n9\n${"A".repeat(43)}=\n`, ORIGIN, KEYS.journal);
  writeFileSync(join(directory, "heads.txt"), `%\n${head}%\n`, { flag: "a" });
  expect(visitor).toThrow(expect.objectContaining({ code: "restored_backup" }));
  expect(readdirSync(directory).sort()).toContain("heads.txt");
});
