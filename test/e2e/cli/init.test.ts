import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Folder, MAIN, rote } from "./rote.ts";

let folder: Folder;
beforeAll(() => {
  folder = new Folder();
  folder.write("full/mine.txt", "mine");
  for (const [name, text] of [
    ["pass", "what only this test knows\n"],
    ["short", "short\n"],
  ] as const) {
    chmodSync(folder.write(name, text), 0o600);
  }
});
afterAll(() => folder.remove());

const PASS = ["--passphrase-file", "pass"];
const typed = (...words: readonly string[]) => rote(words, { cwd: folder.path });

// biome-ignore lint/suspicious/noExplicitAny: documents of commands are looked at member by member
async function json(...words: readonly string[]): Promise<any> {
  const { code, stdout } = await typed(...words, "--json");
  const document = JSON.parse(stdout);
  expect(document.exit_code).toBe(code);
  return document;
}

describe("rote init", () => {
  it("without a workflow lists them, and makes nothing", async () => {
    const { code, stdout } = await typed("init");
    expect(code).toBe(0);
    expect(stdout).toContain("\ncontrol-testing      approvals of payments");
    expect((await json("init")).workflows.map(({ name }: { name: string }) => name)).toEqual([
      "transaction-testing",
      "recalculation",
      "control-testing",
    ]);
  });

  it.each([
    ["there is no such workflow", ["recalculations", "new"], "bad_usage", 2],
    ["the folder is not empty", ["recalculation", "full", ...PASS], "file_exists", 1],
    ["the folder is a file", ["recalculation", "pass", ...PASS], "file_exists", 1],
    ["a part of the path is a file", ["recalculation", "pass/new", ...PASS], "not_writable", 1],
    ["there is no passphrase", ["recalculation", "new"], "bad_passphrase", 1],
    [
      "the passphrase is short",
      ["recalculation", "new", "--passphrase-file", "short"],
      "bad_passphrase",
      1,
    ],
    ["the name is none", ["recalculation", "new", "--as", "../alice", ...PASS], "bad_usage", 2],
    ["the origin is none", ["recalculation", "new", "--origin", "a b", ...PASS], "bad_usage", 2],
    [
      "whoever acts would approve",
      ["recalculation", "new", "--as", "workflow-runner", ...PASS],
      "bad_usage",
      2,
    ],
  ] as const)("leaves everything as it was when %s", async (_, words, code, exit) => {
    const before = folder.listing();
    const told = await json("init", ...words);
    expect([told.error.code, told.exit_code]).toEqual([code, exit]);
    expect(folder.listing()).toEqual(before);
    const { stderr } = await typed("init", ...words);
    expect(stderr).toMatch(/^error: .+\nhint: /s);
  });

  it.each(["deep/new", "empty"])(
    "takes away what it has made of %s when the disk has no room",
    (directory) => {
      mkdirSync(join(folder.path, "empty"), { recursive: true });
      const before = folder.listing();
      // Of files that are larger than 4 KiB.
      const line = `ulimit -f 8 && exec "$0" "$@"`;
      const words = [MAIN, "init", "recalculation", directory, ...PASS, "--json"];
      const { status, stdout } = spawnSync("sh", ["-c", line, process.execPath, ...words], {
        cwd: folder.path,
        encoding: "utf8",
      });
      expect([status, JSON.parse(stdout).exit]).toEqual([1, "problem"]);
      expect(folder.listing()).toEqual(before);
    },
  );

  it.each([
    ["directory", 3],
    ["file", 9],
    ["removal", 1],
  ] as const)(
    "that is killed before its %s number %i says at the next try that the folder is not whole, and how to go on",
    async (what, count) => {
      const calls = { directory: "mkdirSync", file: "writeFileSync", removal: "rmSync" };
      const killing = [
        `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";`,
        `const { ${calls[what]}: call } = fs; let count = 0;`,
        `fs.${calls[what]} = (...given) => {`,
        `  count += 1; if (count === ${count}) process.kill(process.pid, "SIGKILL");`,
        `  return call(...given); }; syncBuiltinESMExports();`,
      ].join("\n");
      const directory = `killed-${what}-${count}`;
      const words = [MAIN, "init", "recalculation", directory, ...PASS];
      const preload = `data:text/javascript,${encodeURIComponent(killing)}`;
      const { signal } = spawnSync(process.execPath, ["--import", preload, ...words], {
        cwd: folder.path,
      });
      expect(signal).toBe("SIGKILL");
      const left = folder.listing();
      const { error } = await json("init", "recalculation", directory, ...PASS);
      expect(error.code).toBe("file_exists");
      expect(error.message).toContain("was not finished");
      expect(error.hint).toContain(`rm -r ${directory}`);
      expect(folder.listing()).toEqual(left);
      rmSync(join(folder.path, directory), { recursive: true });
      const made = await json("init", "recalculation", directory, ...PASS);
      expect(made.exit_code).toBe(0);
      expect(existsSync(join(folder.path, directory, "rote-init.unfinished"))).toBe(false);
    },
  );

  it.each([
    ["transaction-testing", "inputs/purchases-01.json"],
    ["control-testing", "inputs/payments-01.json"],
  ])(
    "makes a folder in which %s runs, is approved and audited by typing what it says",
    async (workflow, inputs) => {
      const made = await json("init", workflow, ...PASS);
      expect(made).toMatchObject({ directory: workflow, workflow, approver: "approver" });
      expect(made.origin).toMatch(new RegExp(`^${workflow}/[0-9a-f]{8}$`));
      expect(made.inputs[0]).toBe(inputs);
      const cwd = join(folder.path, workflow);
      for (const place of ["host", "host/keys", "approver.key", "host/keys/root.key"]) {
        expect([place, statSync(join(cwd, place)).mode & 0o077]).toEqual([place, 0]);
      }
      let last = "";
      const type = async (line: string) => {
        const asked = /^request +(\S+)$/m.exec(last)?.[1] ?? "";
        const run = /^run +(run-\S+)$/m.exec(last)?.[1] ?? "";
        const words = line.replace("REQUEST", asked).replace("RUN", run).split(" ").slice(1);
        const { code, stdout } = await rote(words, { cwd });
        return { code, stdout };
      };
      const [change, start, list, approve, resume] = made.next as readonly string[];
      expect(change).toBe(`cd ${workflow}`);
      const begun = await type(start ?? "");
      last = begun.stdout;
      expect(begun.code).toBe(8);
      for (const code of [8, 0]) {
        expect((await type(list ?? "")).stdout).toContain("0 of 1");
        const approved = await type(`${approve} --passphrase-file ../pass --yes`);
        expect(approved).toMatchObject({ code: 0 });
        const resumed = await type(resume ?? "");
        expect(resumed.code).toBe(code);
        last = resumed.stdout;
      }
      expect(last).toContain("state   verified (completed)");
      const audit = await type("rote audit host/store --trust host/trust.json");
      expect(audit).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: /) });
    },
  );

  it("makes keys that are of this folder alone", async () => {
    for (const name of ["one", "two"]) await json("init", "recalculation", name, ...PASS);
    const kept = (name: string, file: string) =>
      readFileSync(join(folder.path, name, file), "utf8");
    const secret = ["host/keys/host-passphrase", "host/keys/root.key", "approver.key"];
    for (const file of [...secret, "host/trust.json"]) {
      expect([file, kept("one", file) === kept("two", file)]).toEqual([file, false]);
    }
  });
});
