/** Command lines that are printed can be typed as they stand, and what is told names the thing that it is about. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AT, as, HostFolder, STORE } from "./host-folder.ts";

let folder: HostFolder;
beforeAll(() => {
  folder = new HostFolder();
  writeFileSync(
    join(folder.path, "my script.jsonl"),
    '{"calls": [{"name": "bank.pay", "arguments": {"account": "7", "amount": "50", "currency": "EUR"}}]}\n{"say": "Asked."}\n',
  );
});
afterAll(() => folder.remove());

describe("a command line that is printed", () => {
  it("goes on with an agent's run by the command of agents, with its script, whose name is quoted", async () => {
    const begun = await folder.rote(
      ...["agent", "run", "Pay 50", ...AT, "--script", "my script.jsonl"],
    );
    const [line = "", run = ""] =
      /rote agent resume (run-\w+) --host host\.mjs --script 'my script\.jsonl'$/m.exec(
        begun.stdout,
      ) ?? [];
    expect(line).not.toBe("");
    const inspected = await folder.rote("agent", "inspect", run, ...AT);
    expect(inspected.stdout).toContain(`go on    ${line}\n`);
    const shown = await folder.rote("runs", "show", run, ...AT);
    expect(shown.stdout).toContain(`rote agent resume ${run} --host host.mjs --script FILE`);
    const listed = await folder.json("approvals", "list", ...STORE);
    const { nonce } = listed.requests.find((one: { run: string }) => one.run === run);
    const decided = await folder.rote("approvals", "reject", nonce, ...STORE, ...as("alice"));
    expect(decided.stdout).toContain(`rote agent resume ${run} --host HOST_FILE`);
  });

  it("quotes the module of the host", async () => {
    folder.write("my host.mjs", folder.read("host.mjs"));
    const waits = await folder.rote(
      ...["run", "recipe.json", "--host", "my host.mjs", "--input", "account=3"],
    );
    expect(waits.stdout).toMatch(/rote runs resume run-\w+ --host 'my host\.mjs'$/m);
  });

  it("names each run of a file that waits", async () => {
    folder.write("days.jsonl", '{"account": "4"}');
    const many = await folder.rote(
      "run",
      "recipe.json",
      ...AT,
      "--inputs",
      "days.jsonl",
      "--lines",
    );
    expect(many.stdout).toMatch(/^line 1: awaiting_approval run-[0-9a-f]{32}$/m);
  });
});

describe("what is told", () => {
  it("offers the nearest state of a run, instead of an empty list", async () => {
    const { code, stderr } = await folder.rote("runs", "list", ...AT, "--state", "cancled");
    expect([code, stderr]).toEqual([
      2,
      "error: --state cancled is no state of a run in this list\nhint: did you mean cancelled?\n",
    ]);
  });

  it("offers the nearest limit, and has the tools that there are", async () => {
    const agent = ["agent", "run", "x", ...AT, "--script", "my script.jsonl"];
    const limit = await folder.rote(...agent, "--limit", "max_stpes=3");
    expect(limit).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean max_steps?"),
    });
    const tool = await folder.rote(...agent, "--tool", "bank.pya");
    expect(tool.stderr).toContain("bank.pya. There are bank.balance, bank.pay.");
  });

  it("has the lines of a script that cannot be read, as JSON too", async () => {
    folder.write("bad.jsonl", '{"cals": []}\n');
    const { error } = await folder.json("agent", "run", "x", ...AT, "--script", "bad.jsonl");
    expect(error).toMatchObject({ code: "bad_script", problems: [{ line: 1 }] });
  });

  it("refuses a file of tree heads that has none, since it would show nothing", async () => {
    folder.write("no-heads.txt", "nothing");
    const { error, exit_code } = await folder.json(
      ...["audit", "store", "--trust", "trust.json", "--heads", "no-heads.txt"],
    );
    expect([exit_code, error.code]).toEqual([1, "bad_heads"]);
  });

  it("names the public key that is none, the role that is none, and whose key is listed already", async () => {
    const enrol = async (added: string) =>
      (
        await folder.rote(
          ...[
            "keys",
            "enrol",
            "trust.json",
            "--root",
            "alice.key",
            "--passphrase-file",
            "passphrase",
          ],
          ...["--add", added],
        )
      ).stderr;
    expect(await enrol("approver:carl:xxx")).toContain('"xxx" is no public key');
    expect(await enrol("aprover:carl:xxx")).toContain("did you mean approver?");
    const shown = await folder.json("keys", "show", "trust.json");
    const alice = shown.trust.keys.find((one: { name: string }) => one.name === "alice");
    expect(await enrol(`approver:carl:${alice.public}`)).toContain("of alice as approver");
  });

  it("says of a missing file of a passphrase that it is missing", async () => {
    const { stderr } = await folder.rote("keys", "show", "alice.key", "--passphrase-file", "gone");
    expect(stderr).toBe("error: passphrase file gone does not exist\nhint: check the path\n");
  });

  it("says of a directory that is to be a file what it is", async () => {
    for (const force of [[], ["--force"]]) {
      const { stderr } = await folder.rote("graph", "recipe.json", "--out", ".", ...force);
      expect(stderr).toContain("error: . is a directory; expected a file");
    }
  });
});
