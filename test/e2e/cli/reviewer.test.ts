import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KEYS, trust } from "../../support/host.ts";
import { AT, as, HostFolder, PASSPHRASE, STORE } from "./host-folder.ts";
import { roteProcess } from "./rote.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

describe("a reviewer", () => {
  it("needs the store, the trust store and a key of their own: no module, no key of the host", async () => {
    const { run, requests } = await folder.start("7");
    const hidden = folder.read("host.mjs");
    rmSync(join(folder.path, "host.mjs"));
    const listed = await folder.json("approvals", "list", ...STORE);
    expect(listed.requests).toMatchObject([{ run, status: "waiting", required: 1 }]);
    const approved = await folder.json(
      ...["approvals", "approve", requests[0].nonce, ...STORE, ...as("alice")],
    );
    expect(approved).toMatchObject({ exit_code: 0, filed: true });
    expect((await folder.json("approvals", "list", ...STORE)).requests).toEqual([]);
    folder.write("host.mjs", hidden);
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified" });
  });

  it("sees exactly what the run printed, with totals, and what is hidden shown as what it is", async () => {
    const { requests } = await folder.start("7\u202e\u200b");
    const [{ nonce, text, display }] = requests;
    expect(text).toContain('"7\\u{202e}\\u{200b}"');
    const shown = await folder.rote("approvals", "show", nonce, ...AT);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain(text);
    expect(shown.stdout).toContain(display);
    expect(shown.stdout).toContain("total   EUR 80 in minor units, 2 operations");
    const document = await folder.json("approvals", "show", nonce, ...AT);
    expect(document.request).toMatchObject({
      text,
      display,
      requested_by: "agent",
      totals: { amounts: [{ currency: "EUR", minor_units: "80", operations: 2 }], without: 0 },
    });
    folder.write(
      "reviews.json",
      JSON.parse(folder.read("tools.json")).map((tool: { review: unknown }) => tool.review),
    );
    const reviewed = await folder.json(
      ...["approvals", "show", nonce, ...STORE, "--reviews", "reviews.json"],
    );
    expect(reviewed.request.totals).toEqual(document.request.totals);
    const alone = await folder.json("approvals", "show", nonce, ...STORE);
    expect(alone.request.totals).toEqual({ amounts: [], without: 2, unreadable: 0 });
  });

  it("is shown what a screen would hide, turn around or act upon, written out and with a warning, wherever (B118)", async () => {
    const bidi = "7\u200b\u202e\u2028\u001b]0;x\u0007\u001b[2J<img src=x onerror=alert(1)>";
    const { run, requests } = await folder.start(bidi);
    const [{ nonce }] = requests;
    const hidden = /[\p{Cf}\p{Zl}]|(?!\n)\p{Cc}/u;
    for (const words of [
      ["approvals", "show", nonce, ...STORE],
      ["approvals", "list", ...STORE],
      ["runs", "show", run, ...AT],
      ["runs", "resume", run, ...AT],
    ]) {
      const { stdout, stderr } = await folder.rote(...words);
      expect(stdout + stderr).not.toMatch(hidden);
      const texts = /7\\u\{200b\}\\u\{202e\}\\u\{2028\}\\u001b\]0;x\\u0007\\u001b\[2J<img src=x/u;
      if (words[1] === "list") continue;
      expect(stdout).toMatch(texts);
      expect(stdout).toContain("warn    what is written as \\u..");
    }
    const { request } = await folder.json("approvals", "show", nonce, ...STORE);
    await folder.json("approvals", "approve", nonce, ...STORE, ...as("alice"));
    const { receipts } = await folder.json("runs", "resume", run, ...AT);
    expect(folder.ledger()[0]).toBe(`${bidi} 50`);
    // What was approved under that digest is what was done, with every character as it was given.
    const file = await folder.json("receipt", "export", "store", receipts[1]);
    expect(JSON.stringify(file)).toContain(request.operations[0].slice("sha256:".length));
    const plain = await folder.start("8\\u{202e}");
    const shown = await folder.rote("approvals", "show", plain.requests[0].nonce, ...STORE);
    expect(shown.stdout).toContain('"8\\\\u{202e}"');
    expect(shown.stdout).not.toContain("warn    what is written");
  });

  it("signs only what was read, if the digest of that is given", async () => {
    const { requests } = await folder.start("7");
    const [{ nonce, display }] = requests;
    const approve = ["approvals", "approve", nonce, ...STORE, ...as("alice"), "--display"];
    const other = await folder.json(...approve, `sha256:${"0".repeat(64)}`);
    expect(other).toMatchObject({ exit_code: 4, error: { fault: "wrong_display" } });
    expect(await folder.json(...approve, display)).toMatchObject({ exit_code: 0, filed: true });
  });

  it("is asked for confirmation, and is not asked where nobody sits", async () => {
    const { requests } = await folder.start("7");
    const words = as("alice").filter((word) => word !== "--yes");
    const asked = await folder.json("approvals", "approve", requests[0].nonce, ...STORE, ...words);
    expect(asked).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    const listed = await folder.json("approvals", "list", ...STORE);
    expect(listed.requests).toHaveLength(1);
  });

  it("gives the passphrase by a private file or a descriptor, never in the open", async () => {
    const { requests } = await folder.start("7");
    const approve = ["approvals", "approve", requests[0].nonce, ...STORE, "--key", "alice.key"];
    const words = [...approve, "--as", "alice", "--yes"];
    folder.write("open", PASSPHRASE);
    const open = await folder.json(...words, "--passphrase-file", "open");
    expect(open).toMatchObject({ exit_code: 1, error: { code: "bad_passphrase" } });
    const none = await folder.json(...words);
    expect(none).toMatchObject({ exit_code: 1, error: { code: "bad_passphrase" } });
    const wrong = await roteProcess([...words, "--passphrase-fd", "0"], {
      cwd: folder.path,
      input: "another passphrase\n",
    });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).not.toContain("another passphrase");
    const right = await roteProcess([...words, "--passphrase-fd", "0", "--json"], {
      cwd: folder.path,
      input: `${PASSPHRASE}\n`,
    });
    expect(right).toMatchObject({ code: 0, stderr: "" });
    expect(right.stdout).not.toContain(PASSPHRASE);
  });

  it("approves beside others until as many have as the policy wants", async () => {
    folder.remove();
    folder = new HostFolder({ approvals: { required: 2 } });
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const approve = (name: string) =>
      folder.json("approvals", "approve", nonce, ...STORE, ...as(name));
    expect(await approve("alice")).toMatchObject({ exit_code: 0 });
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 8, state: "awaiting_approval" });
    expect(await approve("alice")).toMatchObject({
      exit_code: 4,
      error: { fault: "already_decided", decisions: [{ approver: "alice" }] },
    });
    const listed = await folder.rote("approvals", "list", ...STORE);
    expect(listed.stdout).toContain("1 of 2");
    expect(await approve("bob")).toMatchObject({ exit_code: 0 });
    const ended = await folder.json("runs", "resume", run, ...AT);
    expect(ended).toMatchObject({ exit_code: 0, state: "verified" });
  });

  it("with an earlier copy of the trust store follows it; a store that is another's is refused", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    folder.write("stranger.json", trust({ version: 1, expires: 4_000_000_000 }));
    const elsewhere = await folder.json(
      ...["approvals", "list", "--store", "store", "--trust", "stranger.json"],
    );
    expect(elsewhere).toMatchObject({ exit_code: 4, error: { code: "trust_refused" } });

    folder.write("first.json", JSON.parse(folder.read("trust.json")));
    folder.key("root", KEYS.root);
    const revoke = ["keys", "revoke", "trust.json", "--key", KEYS.alice.publicKey.id];
    const signed = ["--reason", "left", "--root", "root.key", "--passphrase-file", "passphrase"];
    expect(await folder.json(...revoke, ...signed)).toMatchObject({ exit_code: 0, version: 2 });
    await folder.rote("runs", "list", ...AT);
    const old = ["--store", "store", "--trust", "first.json"];
    const refused = await folder.json("approvals", "approve", nonce, ...old, ...as("alice"));
    expect(refused).toMatchObject({ exit_code: 4, error: { fault: "revoked" } });
    // The request names the trust store that it was made under, so another one takes its place.
    await folder.rote("runs", "resume", run, ...AT);
    const [{ nonce: next }] = (await folder.json("approvals", "list", ...old)).requests;
    expect(next).not.toBe(nonce);
    const replaced = await folder.json("approvals", "approve", nonce, ...old, ...as("bob"));
    expect(replaced).toMatchObject({ exit_code: 4, error: { fault: "no_pending_request" } });
    await folder.rote("approvals", "approve", next, ...old, ...as("bob"));
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified" });
  });

  it("is told which of store and request is not there, and makes none", async () => {
    const none = await folder.json("approvals", "list", ...STORE);
    expect(none).toMatchObject({ exit_code: 1, error: { code: "store_missing" } });
    expect(existsSync(join(folder.path, "store"))).toBe(false);
    await folder.start("7");
    const unknown = await folder.json("approvals", "show", "AAAAAAAAAAAAAAAAAAAAAA", ...STORE);
    expect(unknown).toMatchObject({ exit_code: 1, error: { code: "unknown_request" } });
    const half = await folder.json("approvals", "list", "--store", "store");
    expect(half).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
  });

  it.each(["store", "trust", "reviews"])(
    "is told that --host says already what --%s says",
    async (name) => {
      const both = await folder.json("approvals", "list", ...AT, `--${name}`, "other");
      expect(both).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    },
  );
});
