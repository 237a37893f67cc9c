import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AT, as, HostFolder, STORE } from "./host-folder.ts";

let folder: HostFolder;
let run: string;
let receipts: readonly string[];

beforeAll(async () => {
  folder = new HostFolder();
  const started = await folder.start("7");
  run = started.run;
  const [{ nonce }] = started.requests;
  await folder.json("approvals", "approve", nonce, ...STORE, ...as("alice"));
  ({ receipts } = await folder.json("runs", "resume", run, ...AT));
  await folder.json("export", "store", "--out", "bundle");
});
afterAll(() => folder.remove());

const TRUST = ["--trust", "trust.json"] as const;
const audit = (record: string, ...words: readonly string[]) =>
  folder.json("audit", record, ...TRUST, ...words);

/** A copy of the bundle with one file of it changed. */
function changed(name: string, file: string, change: (text: string) => string): string {
  cpSync(join(folder.path, "bundle"), join(folder.path, name), { recursive: true });
  folder.write(`${name}/${file}`, change(folder.read(`bundle/${file}`)));
  return name;
}

describe("rote audit", () => {
  it("of a bundle and of the store itself says the same, with counts", async () => {
    const exported = await audit("bundle");
    const stored = await audit("store");
    expect(exported).toMatchObject({
      exit_code: 0,
      kind: "bundle",
      clean: true,
      findings: [],
      anchors: 0,
      counts: {
        runs: { started: 1, ended: { verified: 1 } },
        admissions: { read: 1, effect: 2 },
        receipts: { done: 3 },
        approvals: { requests: 1, approved: 1, used: 2 },
      },
    });
    // The copy beside the store is there, and nobody named it.
    expect(stored).toMatchObject({ exit_code: 0, kind: "store", heads: null, anchors: 0 });
    expect(stored.counts).toEqual(exported.counts);
    const told = await folder.rote("audit", "bundle", ...TRUST);
    expect(told).toMatchObject({ code: 0, stderr: "" });
    expect(told.stdout).toMatch(/^ok: the record of /);
    expect(told.stdout).toContain("admissions   1 read, 2 effect");
    expect(told.stdout).toContain("unanchored");
  });

  it("writes nothing into a store, nor needs more than the store and a trust store", async () => {
    const before = folder.listing();
    await audit("store");
    await folder.rote("export", "store", "--out", "store");
    await folder.json("receipt", "export", "store", receipts[0] ?? "");
    expect(folder.listing()).toEqual(before);
  });

  it("tells every finding with its place, and ends with 3", async () => {
    const bad = changed("dropped", "journal.jsonl", (text) => {
      const lines = text.split("\n");
      return lines.toSpliced(5, 1).join("\n");
    });
    const report = await audit(bad);
    expect(report).toMatchObject({ exit_code: 3, exit: "rejected", clean: false });
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "chain_gap", file: "journal.jsonl", chain: run }),
    );
    const told = await folder.rote("audit", bad, ...TRUST);
    expect(told.code).toBe(3);
    expect(told.stdout).toMatch(/^NOT OK: \d+ findings in the record of /);
    for (const { code, file, index } of report.findings) {
      const at = index === null ? "" : ` ${index[0]}`;
      expect(told.stdout).toContain(`${code} ${file}${at}`);
    }
  });

  it("of nothing at all is no success", async () => {
    mkdirSync(join(folder.path, "empty"));
    const report = await audit("empty");
    expect(report.exit_code).toBe(3);
    expect(report.codes).toMatchObject({ nothing_to_verify: 1, file_missing: 3 });
  });

  it("sees a cut end by heads that were kept elsewhere", async () => {
    const later = new HostFolder();
    await later.start("8");
    await later.json("export", "store", "--out", "early");
    await later.start("9");
    const kept = ["--heads", "store/heads.txt"];
    const whole = await later.json("audit", "store", ...TRUST, ...kept);
    expect(whole).toMatchObject({ exit_code: 0, heads: "store/heads.txt" });
    expect(whole.anchors).toBeGreaterThan(0);
    const early = await later.json("audit", "early", ...TRUST, ...kept);
    expect(early).toMatchObject({ exit_code: 3 });
    expect(early.codes).toMatchObject({ anchor_differs: expect.any(Number) });
    const alone = await later.json("audit", "early", ...TRUST);
    expect(alone).toMatchObject({ exit_code: 0, anchors: 0 });
    later.remove();
  });

  it("says which of its files is not what it should be", async () => {
    const none = await folder.json("audit", "bundle");
    expect(none).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    expect(await audit("nowhere")).toMatchObject({
      exit_code: 1,
      error: { code: "file_not_found" },
    });
    folder.write("other.json", { payload: "" });
    const other = await folder.json("audit", "bundle", "--trust", "other.json");
    expect(other).toMatchObject({ exit_code: 4, error: { code: "trust_refused" } });
    const heads = await audit("bundle", "--heads", "nowhere.txt");
    expect(heads).toMatchObject({ exit_code: 1, error: { code: "file_not_found" } });
  });
});

describe("rote export", () => {
  it("counts what nobody has signed yet, and has a host sign it", async () => {
    const other = new HostFolder();
    const { requests } = await other.start("7");
    await other.json("approvals", "approve", requests[0].nonce, ...STORE, ...as("alice"));
    const alone = await other.json("export", "store", "--out", "alone");
    expect(alone).toMatchObject({ exit_code: 0, uncovered: 1 });
    const open = await other.json("audit", "alone", ...TRUST);
    expect(open).toMatchObject({ exit_code: 3, codes: { tail_uncovered: 1 } });
    const sealed = await other.json("export", ...AT, "--out", "sealed");
    expect(sealed).toMatchObject({ exit_code: 0, uncovered: 0, entries: alone.entries });
    expect(await other.json("audit", "sealed", ...TRUST)).toMatchObject({ exit_code: 0 });
    other.remove();
  });

  it("writes only where nothing is, and only from a store", async () => {
    const again = await folder.json("export", "store", "--out", "bundle");
    expect(again).toMatchObject({ exit_code: 1, error: { code: "file_exists" } });
    const nothing = await folder.json("export", "nowhere", "--out", "x");
    expect(nothing).toMatchObject({ exit_code: 1, error: { code: "store_missing" } });
    expect(existsSync(join(folder.path, "x"))).toBe(false);
    const both = await folder.json("export", "store", ...AT, "--out", "x");
    expect(both).toMatchObject({ exit_code: 2 });
    const nowhere = await folder.json("export", "store");
    expect(nowhere).toMatchObject({ exit_code: 2 });
  });
});

describe("rote receipt", () => {
  it("exports one with its proof, which verifies and says what it is about", async () => {
    const out = ["--out", "receipt.json"];
    const one = ["receipt", "export", "store", "--run", run, "--node", "first"];
    const made = await folder.json(...one, ...out);
    expect(made).toMatchObject({ exit_code: 0, receipt: receipts[1], out: "receipt.json" });
    const good = await folder.json("receipt", "verify", "receipt.json", ...TRUST, "--run", run);
    expect(good).toMatchObject({
      exit_code: 0,
      verified: true,
      statement: { predicate: { run, node: "first", outcome: "done" } },
    });
    expect(good.head.size).toBeGreaterThan(good.head.index);
    const told = await folder.rote("receipt", "verify", "receipt.json", ...TRUST);
    expect(told.stdout).toMatch(/^ok: the receipt holds/);
    expect(told.stdout).toContain("tool       bank.pay");
    const printed = await folder.rote("receipt", "export", "store", receipts[1] ?? "");
    expect(printed.stdout).toBe(folder.read("receipt.json"));
    const again = await folder.json(...one, ...out);
    expect(again).toMatchObject({ exit_code: 1, error: { code: "file_exists" } });
  });

  it("lists what a run has when that is not one", async () => {
    const several = await folder.json("receipt", "export", "store", "--run", run);
    expect(several).toMatchObject({ exit_code: 1, error: { code: "unknown_receipt" } });
    const listed = several.error.receipts as readonly { receipt: string; node: string }[];
    expect(listed.map(({ receipt }) => receipt)).toEqual(receipts);
    expect(listed.map(({ node }) => node)).toEqual(["balance", "first", "second"]);
    const told = await folder.rote("receipt", "export", "store", "--run", run);
    expect(told.stderr).toContain(receipts[2]);
    const absent = await folder.rote("receipt", "export", "store", "--run", run, "--node", "third");
    expect(absent.stderr).toContain(receipts[2]);
    expect(absent.stderr).toMatch(/^hint: name one of these: rote receipt export store RECEIPT$/m);
    const none = await folder.json("receipt", "export", "store", "--run", "run-x");
    expect(none).toMatchObject({ exit_code: 1, error: { code: "unknown_receipt", receipts: [] } });
    const unknown = await folder.json("receipt", "export", "store", `sha256:${"0".repeat(64)}`);
    expect(unknown).toMatchObject({ exit_code: 1, error: { code: "unknown_receipt" } });
    const neither = await folder.json("receipt", "export", "store");
    expect(neither).toMatchObject({ exit_code: 2 });
  });

  it("of something else, altered, or no receipt at all is refused", async () => {
    const { stdout } = await folder.rote("receipt", "export", "store", receipts[1] ?? "");
    folder.write("receipt-1.json", stdout);
    const verify = (file: string, ...words: readonly string[]) =>
      folder.json("receipt", "verify", file, ...TRUST, ...words);
    const other = await verify("receipt-1.json", "--run", "run-other");
    expect(other).toMatchObject({ exit_code: 3, findings: [{ code: "subject_differs" }] });
    const file = JSON.parse(stdout);
    folder.write("altered.json", { ...file, index: file.index + 1 });
    const altered = await verify("altered.json");
    expect(altered).toMatchObject({ exit_code: 3, verified: false, head: null });
    folder.write("list.json", "[]");
    expect(await verify("list.json")).toMatchObject({
      exit_code: 3,
      findings: [{ code: "file_malformed" }],
    });
    folder.write("text.json", "receipt");
    expect(await verify("text.json")).toMatchObject({ exit_code: 1, error: { code: "bad_json" } });
  });
});
