/** The store of a host, read by somebody who is not the host: as it lies there, running, killed or damaged. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  auditDirectory,
  auditStore,
  exportStore,
  exportStoredReceipt,
  isStoreDirectory,
  storedReceipts,
  verifyReceipt,
} from "../../../src/app/audit.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Host } from "../../../src/host/index.ts";
import type { Run } from "../../../src/run/index.ts";
import { PROCEDURES } from "../../../src/store/sqlite/schema.ts";
import { payTwice } from "../../support/audit/record.ts";
import { bank, hostAt, INPUTS } from "../../support/gate.ts";
import { trust } from "../../support/host.ts";

const own = trust();
const root = mkdtempSync(join(tmpdir(), "rote-store-"));
const running = join(root, "running");
const rested = join(root, "rested");
let host: Host;
let run: Run;

beforeAll(async () => {
  host = await hostAt(running, bank(), { trust: own });
  run = await payTwice(host);
  const other = await hostAt(rested, bank(), { trust: own });
  await payTwice(other);
  await other.close();
});
afterAll(async () => {
  await host.close();
  rmSync(root, { recursive: true, force: true });
});

let copies = 0;
function copyOf(store: string): string {
  copies += 1;
  const directory = join(root, `copy-${copies}`);
  cpSync(store, directory, { recursive: true });
  return directory;
}

function contents(directory: string): readonly string[] {
  return readdirSync(directory)
    .sort()
    .map((name) => `${name} ${sha256Hex(readFileSync(join(directory, name)))}`);
}

function change(store: string, sql: string): void {
  const database = new Sqlite(join(store, "procedures.sqlite"));
  database.exec(sql);
  database.close();
}

/** Statements that leave a database with the tables of another. */
function schemaIn(database: Sqlite.Database): string {
  const rows = database
    .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    .pluck()
    .all();
  return rows
    .filter((sql) => !String(sql).includes("sqlite_sequence"))
    .map((sql) => `${sql};`)
    .join("\n");
}

function droppingAll(store: string): string {
  const database = new Sqlite(join(store, "procedures.sqlite"));
  const names = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  database.close();
  const drops = names.map((name) => `DROP TABLE ${name};`).join(" ");
  return `PRAGMA foreign_keys = OFF; ${drops}`;
}

const audit = (store: string) => auditStore(store, { trust: own });

describe("a store that is read", () => {
  it("by nobody else is left exactly as it was", async () => {
    const before = contents(rested);
    expect((await audit(rested)).findings).toEqual([]);
    await exportStore(rested, join(root, "from-rested"));
    expect(contents(rested)).toEqual(before);
    expect(await isStoreDirectory(rested)).toBe(true);
    expect(await isStoreDirectory(join(root, "from-rested"))).toBe(false);
  });

  it("while its host has it open shows all that was committed, and disturbs nobody", async () => {
    expect((await audit(running)).findings).toEqual([]);
    const next = await payTwice(host, { ...INPUTS, account: "9" });
    const report = await audit(running);
    expect(report.findings).toEqual([]);
    expect(report.counts.runs.started).toBe(2);
    const [receipt = ""] = next.receipts;
    const file = (await exportStoredReceipt(running, receipt)) as unknown as JsonValue;
    expect(verifyReceipt(file, { trust: own, expected: { run: next.id } }).verified).toBe(true);
    const listed = await storedReceipts(running, next.id);
    expect(listed.map((one) => one.receipt)).toEqual(next.receipts);
  });

  it("of a host that was killed is read with the log that lies beside it, which stays", async () => {
    const killed = copyOf(running);
    const log = contents(killed).filter((line) => !line.includes("-shm"));
    expect(log.some((line) => line.includes("-wal"))).toBe(true);
    const report = await audit(killed);
    expect(report.clean).toBe(true);
    expect(report.counts.runs.started).toBeGreaterThan(0);
    expect(contents(killed).filter((line) => !line.includes("-shm"))).toEqual(log);
  });

  it("keeps the places of entries where some were taken out, in the store and in what is exported", async () => {
    const damaged = copyOf(rested);
    change(damaged, "DELETE FROM entries WHERE position IN (5, 6)");
    const report = await audit(damaged);
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "line_malformed", index: [5, 6], count: 2 }),
    );
    expect(report.counts.entries).toBe(13);
    const bundle = join(root, "from-damaged");
    await exportStore(damaged, bundle);
    expect((await auditDirectory(bundle, { trust: own })).codes).toEqual(report.codes);
  });

  it("gives no receipt away whose proof does not hold, or that no tree head covers", async () => {
    const [receipt = ""] = run.receipts;
    const changed = copyOf(running);
    change(changed, "UPDATE entries SET bytes = CAST('{}' AS BLOB) WHERE position = 1");
    await expect(exportStoredReceipt(changed, receipt)).rejects.toMatchObject({
      code: "journal_damaged",
    });
    const headless = copyOf(running);
    change(headless, "DELETE FROM heads");
    await expect(exportStoredReceipt(headless, receipt)).rejects.toMatchObject({
      code: "receipt_uncovered",
    });
    expect((await audit(headless)).codes).toMatchObject({ tail_uncovered: 1 });
  });

  it("of another version is refused, and left as it is", async () => {
    const older = copyOf(rested);
    const first = new Sqlite(":memory:");
    first.exec(PROCEDURES.migrations[0] ?? "");
    change(older, `${droppingAll(older)} ${schemaIn(first)} PRAGMA user_version = 1`);
    const before = contents(older);
    await expect(audit(older)).rejects.toMatchObject({
      code: "store_older",
    });
    const foreign = copyOf(rested);
    change(foreign, "CREATE TABLE more (x)");
    await expect(audit(foreign)).rejects.toMatchObject({ code: "store_damaged" });
    expect(contents(older)).toEqual(before);
    await expect(audit(join(root, "nowhere"))).rejects.toMatchObject({ code: "store_missing" });
  });
});
