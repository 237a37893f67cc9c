/** What somebody is told who got something wrong: the thing by its name, and what to do next, in terms of the command. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publicKeyText } from "../../../src/app/keys.ts";
import { openReview } from "../../../src/app/review.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { KEYS, trust, trustDocument } from "../../support/host.ts";
import { AT, as, HostFolder, STORE } from "./host-folder.ts";

let folder: HostFolder;
let nonce: string;
beforeAll(async () => {
  folder = new HostFolder();
  const { requests } = await folder.start("7");
  [{ nonce }] = requests;
  folder.key("stranger", KEYS.stranger);
  for (const [name, text] of [
    ["other-pass", "another passphrase\n"],
    ["no.key", "not a key\n"],
  ] as const) {
    chmodSync(folder.write(name, text), 0o600);
  }
  const other = trustDocument();
  folder.write("other-host.json", trust({ ...other, audience: "other.example/host" }));
  folder.write("note.json", { say: "hello" });
});
afterAll(() => folder.remove());

const approve = (...more: readonly string[]) => ["approvals", "approve", nonce, ...more];
const alice = as("alice");
const keyed = (file: string, name = "alice") => [
  ...["--key", file, "--as", name, "--passphrase-file", "passphrase", "--yes"],
];

describe("a reviewer who", () => {
  it.each([
    [
      "gives another passphrase",
      () =>
        approve(
          ...STORE,
          "--key",
          "alice.key",
          "--as",
          "alice",
          "--passphrase-file",
          "other-pass",
          "--yes",
        ),
      "bad_passphrase",
      /^error: alice\.key: the key does not open: the passphrase is another one/im,
    ],
    [
      "names a key file that is not there",
      () => approve(...STORE, ...keyed("gone.key")),
      "file_not_found",
      /^error: the key file gone\.key does not exist/im,
    ],
    [
      "names a file that is no key",
      () => approve(...STORE, ...keyed("no.key")),
      "bad_key_file",
      /^error: no\.key: the file does not hold one encrypted private key/im,
    ],
    [
      "signs with a key that nobody listed",
      () => approve(...STORE, ...keyed("stranger.key")),
      "approval_refused",
      /^hint: sign with the key file of an approver; `rote keys show` of the trust store lists them/im,
    ],
    [
      "signs in another's name",
      () => approve(...STORE, ...keyed("alice.key", "bob")),
      "approval_refused",
      /^hint: give the name under which the key is listed with --as/im,
    ],
    [
      "names another folder for the store",
      () => approve("--store", "nowhere", "--trust", "trust.json", ...alice),
      "store_missing",
      /nowhere does not exist\nhint: .*a host makes its store when it is first opened/im,
    ],
    [
      "brings the trust store of another host",
      () => approve("--store", "store", "--trust", "other-host.json", ...alice),
      "trust_refused",
      /^error: trust other-host\.json: the trust store is refused: .+ \(wrong_audience\)\.\nhint: take the trust store of this host/im,
    ],
    [
      "brings something that is no trust store",
      () => approve("--store", "store", "--trust", "note.json", ...alice),
      "trust_refused",
      /^error: trust note\.json: the trust store is refused: it is no signed envelope \(malformed_envelope\)\.\nhint: a trust store is what `rote keys enrol` writes/im,
    ],
  ] as const)("%s is told which, and what to do", async (_, words, code, told) => {
    const { stderr } = await folder.rote(...words());
    expect(stderr).toMatch(told);
    expect(stderr).not.toContain("data.fault");
    expect((await folder.json(...words())).error.code).toBe(code);
    expect((await folder.json("approvals", "list", ...STORE)).requests).toHaveLength(1);
  });

  it("enrols with an odd name or for an odd host is told what names look like, before any passphrase is asked", async () => {
    const key = publicKeyText(KEYS.alice);
    const store = ["keys", "enrol", "new.json", "--root", "alice.key"];
    const odd = await folder.rote(
      ...store,
      "--origin",
      "a.example/b",
      "--add",
      `approver:Alice B:${key}`,
    );
    expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining('"Alice B" is no name') });
    const host = await folder.rote(
      ...store,
      "--origin",
      "my host",
      "--add",
      `approver:alice:${key}`,
    );
    expect(host).toMatchObject({ code: 2, stderr: expect.stringContaining('--origin "my host"') });
  });
});

describe("an auditor who", () => {
  it("brings something that is no trust store is told which file", async () => {
    const { stderr, code } = await folder.rote("audit", "store", "--trust", "note.json");
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: trust note\.json: The trust store is refused: it is no signed/);
    const list = folder.write("none.json", []);
    const empty = await folder.rote("audit", "store", "--trust", list);
    expect(empty.stderr).toContain("The trust store is refused: the list is empty (empty)");
  });
});

describe("an owner whose", () => {
  const broken = async (name: string, change: (text: string) => string) => {
    folder.write(name, change(folder.read("host.mjs")));
    return await folder.rote("runs", "list", "--host", name);
  };

  it("policy is none is told the place in it", async () => {
    const { stderr } = await broken("lenient.mjs", (text) =>
      text.replace('"standard"', '"lenient"'),
    );
    expect(stderr).toMatch(/^error: the policy is not valid: \/profile: .*"standard"/m);
    expect(stderr).not.toContain("[\n");
  });

  it("module throws is told what it threw and where to see more, not to export something", async () => {
    const { stderr } = await broken("throws.mjs", () => 'throw new Error("no ledger today");');
    expect(stderr).toContain("error: host throws.mjs cannot be loaded: no ledger today");
    expect(stderr).toMatch(/^hint: .*ROTE_DEBUG=1/m);
    const { stderr: none } = await broken("none.mjs", () => "export const hosts = 1;");
    expect(none).toMatch(/^hint: export the options of createHost/m);
  });
});

/** Files a decision by a clock that stands where it was signed: its time cannot be over before it is filed. */
async function fileWhenSigned(envelope: { readonly payload: string }): Promise<void> {
  const { not_before: signed } = JSON.parse(Buffer.from(envelope.payload, "base64").toString());
  const review = await openReview({
    directory: join(folder.path, "store"),
    trust: JSON.parse(folder.read("trust.json")),
    clock: { wallMs: () => signed * 1000, monotonicMs: () => 0 },
  });
  await review.file(envelope as unknown as JsonValue);
  await review.close();
}

describe("somebody at a run", () => {
  it("whose approval came too early is told that it does not count any more", async () => {
    const { run, requests } = await folder.start("8");
    const [asked] = requests;
    const words = ["approvals", "approve", asked.nonce, ...STORE, ...alice, "--seconds", "1"];
    const { envelope } = await folder.json(...words, "--out", "early.json");
    await fileWhenSigned(envelope);
    // Past its second, and past a clock that is a little behind.
    for (;;) {
      const listed = await folder.json("approvals", "list", ...STORE);
      if (listed.requests.some((one: { nonce: string }) => one.nonce === asked.nonce)) break;
      await sleep(100);
    }
    const { code, stdout } = await folder.rote("runs", "resume", run, ...AT);
    expect(code).toBe(8);
    expect(stdout).toMatch(/^note {4}approve by alice at \S+ does not count any more/m);
  });

  it("that was rejected is not told that it goes on", async () => {
    const { run, requests } = await folder.start("9");
    const [asked] = requests;
    const told = await folder.rote("approvals", "reject", asked.nonce, ...STORE, ...alice);
    expect(told.stdout).toMatch(/^hint: the run ends when it is next moved: {2}rote runs resume /m);
    const { stdout } = await folder.rote("runs", "resume", run, ...AT);
    expect(stdout).toMatch(/^hint: ask whoever rejected it/im);
  });
});
