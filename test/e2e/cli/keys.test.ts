import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KEYS, ORIGIN } from "../../support/host.ts";
import { AT, as, HostFolder, PASSPHRASE, STORE } from "./host-folder.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
  folder.key("root", KEYS.root);
});
afterEach(() => folder.remove());

const PASS = ["--passphrase-file", "passphrase"] as const;
const SIGNED = ["--root", "root.key", ...PASS] as const;

const generate = (file: string) => folder.json("keys", "generate", file, ...PASS);

describe("rote keys generate", () => {
  it("leaves a private, encrypted file that openssl opens too, and writes none over", async () => {
    const made = await generate("new.key");
    expect(made).toMatchObject({ exit_code: 0, file: "new.key" });
    expect(made.public).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(statSync(join(folder.path, "new.key")).mode & 0o777).toBe(0o600);
    expect(folder.read("new.key")).toContain("BEGIN ENCRYPTED PRIVATE KEY");
    const again = await generate("new.key");
    expect(again).toMatchObject({ exit_code: 1, error: { code: "file_exists" } });
    const shown = await folder.json("keys", "show", "new.key", ...PASS);
    expect(shown).toMatchObject({ exit_code: 0, id: made.id, public: made.public });
    const openssl = ["pkey", "-in", "new.key", "-passin", `pass:${PASSPHRASE}`, "-pubout"];
    const opened = spawnSync("openssl", [...openssl, "-outform", "DER"], { cwd: folder.path });
    expect(opened.stdout.subarray(-32).toString("base64url")).toBe(made.public);
  });

  it("takes no passphrase that is too short, and none from the command line", async () => {
    folder.write("short", "short\n");
    const { chmodSync } = await import("node:fs");
    chmodSync(join(folder.path, "short"), 0o600);
    const short = await folder.json("keys", "generate", "x.key", "--passphrase-file", "short");
    expect(short).toMatchObject({ exit_code: 1, error: { code: "bad_passphrase" } });
    const typed = await folder.json("keys", "generate", "x.key", "--passphrase", PASSPHRASE);
    expect(typed).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    const nobody = await folder.json("keys", "generate", "x.key");
    expect(nobody).toMatchObject({ exit_code: 1, error: { code: "bad_passphrase" } });
    expect(existsSync(join(folder.path, "x.key"))).toBe(false);
  });
});

describe("a trust store", () => {
  it("is made for one host, with several keys in one version, and a host takes it", async () => {
    const add = [
      ["journal", "journal", KEYS.journal],
      ["receipt", "receipts", KEYS.receipt],
      ["approver", "alice", KEYS.alice],
      ["tool_reviewer", "rita", KEYS.reviewer],
    ] as const;
    const words = add.flatMap(([role, name, key]) => [
      "--add",
      `${role}:${name}:${Buffer.from(key.publicKey.raw).toString("base64url")}`,
    ]);
    const enrol = ["keys", "enrol", "mine.json", ...words, ...SIGNED];
    const homeless = await folder.json(...enrol);
    expect(homeless).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    const made = await folder.json(...enrol, "--origin", ORIGIN);
    expect(made).toMatchObject({ exit_code: 0, version: 1, keys: 4, host: ORIGIN });
    const shown = await folder.json("keys", "show", "mine.json");
    expect(shown.trust.keys.map((one: { name: string }) => one.name)).toEqual([
      "journal",
      "receipts",
      "alice",
      "rita",
    ]);
    folder.write("trust.json", JSON.parse(folder.read("mine.json")));
    expect(await folder.start("7")).toMatchObject({ exit_code: 8 });
  });

  it("gets a new approver, who can approve once the host has taken the version over", async () => {
    const { run } = await folder.start("7");
    const carol = await generate("carol.key");
    const enrol = ["keys", "enrol", "trust.json", ...SIGNED, "--days", "30", "--add"];
    const enrolled = await folder.json(...enrol, `approver:carol:${carol.public}`);
    expect(enrolled).toMatchObject({ exit_code: 0, version: 2 });
    const twice = await folder.json(...enrol, `approver:dora:${carol.public}`);
    expect(twice).toMatchObject({ exit_code: 4, error: { fault: "repeated_key" } });
    await folder.json("runs", "resume", run, ...AT);
    const [{ nonce }] = (await folder.json("approvals", "list", ...STORE)).requests;
    const approved = await folder.json("approvals", "approve", nonce, ...STORE, ...as("carol"));
    expect(approved).toMatchObject({ exit_code: 0, filed: true });
    expect(await folder.json("runs", "resume", run, ...AT)).toMatchObject({ state: "verified" });
  });

  it("rotates a key: the new one has the same holder and role, the old one ends and stays listed", async () => {
    const fresh = await generate("alice2.key");
    const rotate = ["keys", "rotate", "trust.json", "--old", KEYS.alice.publicKey.id];
    const rotated = await folder.json(...rotate, "--new", fresh.public, ...SIGNED);
    expect(rotated).toMatchObject({ exit_code: 0, version: 2 });
    const { run, requests } = await folder.start("7");
    const approve = ["approvals", "approve", requests[0].nonce, ...STORE];
    const old = await folder.json(...approve, ...as("alice"));
    expect(old).toMatchObject({ exit_code: 4, error: { fault: "expired" } });
    const words = ["--key", "alice2.key", "--as", "alice", ...PASS, "--yes"];
    expect(await folder.json(...approve, ...words)).toMatchObject({ exit_code: 0 });
    expect(await folder.json("runs", "resume", run, ...AT)).toMatchObject({ state: "verified" });
  });

  it("rotates its root in two versions, each of which a host takes over", async () => {
    await folder.start("1");
    const fresh = await generate("root2.key");
    const old = Buffer.from(KEYS.root.publicKey.raw).toString("base64url");
    const rotate = ["keys", "rotate", "trust.json", "--old", old, "--new", fresh.public, ...PASS];
    const first = await folder.json(...rotate, "--root", "root.key");
    expect(first).toMatchObject({ exit_code: 0, version: 2, done: false });
    expect(await folder.json("runs", "list", ...AT)).toMatchObject({ exit_code: 0 });
    const second = await folder.json(...rotate, "--root", "root2.key");
    expect(second).toMatchObject({ exit_code: 0, version: 3, done: true });
    expect(await folder.json("runs", "list", ...AT)).toMatchObject({ exit_code: 0 });
    const revoke = ["keys", "revoke", "trust.json", "--key", KEYS.bob.publicKey.id, ...PASS];
    const by = (root: string) => folder.json(...revoke, "--reason", "left", "--root", root);
    expect(await by("root.key")).toMatchObject({ exit_code: 4, error: { code: "trust_refused" } });
    expect(await by("root2.key")).toMatchObject({ exit_code: 0, version: 4 });
    const shown = await folder.json("keys", "show", "trust.json");
    expect(shown.trust.root).toEqual({ threshold: 1, keys: [fresh.public] });
    expect(await folder.json("runs", "list", ...AT)).toMatchObject({ exit_code: 0 });
  });

  it("is left as it is by whoever is not its root, and by what is no key", async () => {
    const before = folder.read("trust.json");
    folder.key("mallory", KEYS.stranger);
    const enrol = ["keys", "enrol", "trust.json", ...PASS, "--root"];
    const good = `approver:mallory:${Buffer.from(KEYS.stranger.publicKey.raw).toString("base64url")}`;
    const stranger = await folder.json(...enrol, "mallory.key", "--add", good);
    expect(stranger).toMatchObject({ exit_code: 4, error: { code: "trust_refused" } });
    const identity = `approver:mallory:AQ${"A".repeat(41)}`;
    const universal = await folder.json(...enrol, "root.key", "--add", identity);
    expect(universal).toMatchObject({ exit_code: 1, error: { code: "bad_key" } });
    for (const add of ["approver:mallory", "king:mallory:x", `${good}:more`]) {
      const odd = await folder.json(...enrol, "root.key", "--add", add);
      expect(odd).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    }
    const revoke = ["keys", "revoke", "trust.json", ...SIGNED, "--reason", "x", "--key"];
    const unknown = await folder.json(...revoke, `sha256:${"0".repeat(64)}`);
    expect(unknown).toMatchObject({ exit_code: 1, error: { code: "unknown_key" } });
    expect(folder.read("trust.json")).toBe(before);
  });

  it("of two root keys is changed by both together only", async () => {
    folder.key("root2", KEYS.stranger);
    const both = ["--root", "root.key", "--root", "root2.key", ...PASS];
    const origin = ["--origin", ORIGIN];
    const made = await folder.json("keys", "enrol", "two.json", ...both, ...origin);
    expect(made).toMatchObject({ exit_code: 0, version: 1, keys: 0 });
    const key = `approver:alice:${Buffer.from(KEYS.alice.publicKey.raw).toString("base64url")}`;
    const one = await folder.json("keys", "enrol", "two.json", ...SIGNED, "--add", key);
    expect(one).toMatchObject({ exit_code: 4, error: { fault: "threshold_not_met" } });
    const two = await folder.json("keys", "enrol", "two.json", ...both, "--add", key);
    expect(two).toMatchObject({ exit_code: 0, version: 2, keys: 1 });
  });
});
