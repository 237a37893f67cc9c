/** Bundles on disk, written by a host and read by somebody who trusts nothing of them. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  auditDirectory,
  auditHost,
  exportRecord,
  exportRunReceipt,
  isStoreDirectory,
  readHeads,
} from "../../../src/app/audit.ts";
import { verifyReceipt } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { payTwice } from "../../support/audit/record.ts";
import { bank, hostAt, INPUTS } from "../../support/gate.ts";
import { trust } from "../../support/host.ts";

const own = trust();
const root = mkdtempSync(join(tmpdir(), "rote-bundle-"));
const store = join(root, "store");
const bundle = join(root, "bundle");

beforeAll(async () => {
  const host = await hostAt(store, bank(), { trust: own });
  await payTwice(host);
  await exportRecord(host, bundle);
  await host.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let copies = 0;
function copy(): string {
  copies += 1;
  const directory = join(root, `copy-${copies}`);
  cpSync(bundle, directory, { recursive: true });
  return directory;
}

describe("an exported record", () => {
  it("is audited without its store, and is only its owner's to read", async () => {
    const report = await auditDirectory(bundle, { trust: own });
    expect(report.findings).toEqual([]);
    expect(readdirSync(bundle).sort()).toEqual([
      "blobs",
      "heads.txt",
      "journal.jsonl",
      "trust.json",
    ]);
    expect(statSync(bundle).mode & 0o777).toBe(0o700);
    expect(statSync(join(bundle, "journal.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("does not overwrite anything", async () => {
    const host = await hostAt(store, bank(), { trust: own });
    await expect(exportRecord(host, bundle)).rejects.toMatchObject({ code: "file_exists" });
    const other = join(root, "other");
    mkdirSync(other);
    writeFileSync(join(other, "mine.txt"), "mine");
    await expect(exportRecord(host, other)).rejects.toMatchObject({ code: "file_exists" });
    expect(readdirSync(other)).toEqual(["mine.txt"]);
    const empty = join(root, "empty");
    mkdirSync(empty);
    await exportRecord(host, empty);
    await host.close();
    expect((await auditDirectory(empty, { trust: own })).clean).toBe(true);
  });

  it("of a run that goes on is audited up to where it stood", async () => {
    const host = await hostAt(store, bank(), { trust: own });
    const before = await auditHost(host, { trust: own });
    await payTwice(host, { ...INPUTS, account: "8" });
    const after = await auditHost(host, { trust: own });
    await host.close();
    expect([before.clean, after.clean]).toEqual([true, true]);
    expect(after.counts.runs.started).toBe(before.counts.runs.started + 1);
  });

  it("is anchored by the copy of tree heads beside the store", async () => {
    const anchors = await readHeads(join(store, "heads.txt"));
    expect(anchors.length).toBeGreaterThan(0);
    const host = await hostAt(store, bank(), { trust: own });
    const report = await auditHost(host, { trust: own, anchors });
    expect(report.findings).toEqual([]);
    expect(report.anchors).toBe(anchors.length);
    const old = await auditDirectory(bundle, { trust: own, anchors });
    expect(old.codes).toMatchObject({ anchor_differs: expect.any(Number) });
    const receipt = (await exportRunReceipt(host, runReceipt())) as unknown as JsonValue;
    await host.close();
    expect(verifyReceipt(receipt, { trust: own, expected: null }).verified).toBe(true);
  });

  it("whose outside heads are of another journal or none is told so", async () => {
    const file = join(root, "strange.txt");
    writeFileSync(file, "no note\n%\nhalf a no");
    await expect(readHeads(file)).rejects.toMatchObject({ code: "bad_heads" });
    await expect(readHeads(join(root, "nowhere"))).rejects.toMatchObject({
      code: "file_not_found",
    });
    const heads = readFileSync(join(bundle, "heads.txt"), "utf8").split("%\n");
    const strange = (heads[0] ?? "").replaceAll("tests.example", "other.example");
    const report = await auditDirectory(bundle, { trust: own, anchors: [strange, "x"] });
    expect(report.codes).toEqual({ anchor_refused: 2 });
  });
});

function runReceipt(): string {
  const text = execFileSync("sed", ["-n", '/"type":"receipt"/p', join(bundle, "journal.jsonl")]);
  const [line] = text.toString().split("\n");
  const hash = execFileSync("sha256sum", { input: line ?? "" })
    .toString()
    .slice(0, 64);
  return `sha256:${hash}`;
}

describe("a directory that somebody else wrote", () => {
  it("with links for files is read as if they were not there", async () => {
    const directory = copy();
    const heads = join(directory, "heads.txt");
    rmSync(heads);
    symlinkSync(join(bundle, "heads.txt"), heads);
    const report = await auditDirectory(directory, { trust: own });
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "file_missing", file: "heads.txt" }),
    );
  });

  it("with a pipe for a file does not wait for it", async () => {
    const directory = copy();
    rmSync(join(directory, "trust.json"));
    execFileSync("mkfifo", [join(directory, "trust.json")]);
    const report = await auditDirectory(directory, { trust: own });
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "file_missing", file: "trust.json" }),
    );
  });

  it("with more in it than a bundle has is told what", async () => {
    const directory = copy();
    mkdirSync(join(directory, "a", "b"), { recursive: true });
    writeFileSync(join(directory, "a", "b", "c.txt"), "c");
    writeFileSync(join(directory, "blobs", "note"), "n");
    symlinkSync(root, join(directory, "up"));
    const report = await auditDirectory(directory, { trust: own });
    expect(report.findings.map(({ code, file }) => [code, file]).sort()).toEqual([
      ["file_unknown", "a/b/c.txt"],
      ["file_unknown", "blobs/note"],
      ["file_unknown", "up"],
    ]);
  });

  it("with a store beside the files of a bundle is no store, and its store is verified by nothing", async () => {
    const directory = copy();
    for (const name of readdirSync(store)) {
      if (name !== "heads.txt") cpSync(join(store, name), join(directory, name));
    }
    expect([await isStoreDirectory(store), await isStoreDirectory(directory)]).toEqual([
      true,
      false,
    ]);
    const report = await auditDirectory(directory, { trust: own });
    expect(Object.keys(report.codes)).toEqual(["file_unknown"]);
  });

  it("that is none, or no directory, is refused by name", async () => {
    const nowhere = auditDirectory(join(root, "nowhere"), { trust: own });
    await expect(nowhere).rejects.toMatchObject({ code: "file_not_found" });
    expect(await isStoreDirectory(join(bundle, "heads.txt"))).toBe(false);
    const file = auditDirectory(join(bundle, "heads.txt"), { trust: own });
    await expect(file).rejects.toMatchObject({ code: "not_a_file" });
    expect(existsSync(join(root, "nowhere"))).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)(
    "that may not be read is refused by name (skipped as root)",
    async () => {
      const directory = copy();
      chmodSync(join(directory, "journal.jsonl"), 0o000);
      const report = auditDirectory(directory, { trust: own });
      await expect(report).rejects.toMatchObject({ code: "not_readable" });
    },
  );
});
