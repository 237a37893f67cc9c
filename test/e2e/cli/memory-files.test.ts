import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Folder, LINE_TOTAL_VERIFIER, lineTotal, MAIN, rote } from "./rote.ts";

let folder: Folder;
let file: string;
beforeEach(async () => {
  folder = new Folder();
  folder.write("verifier.json", LINE_TOTAL_VERIFIER);
  folder.write("recipe.json", lineTotal());
  const { code } = await observe(1);
  expect(code).toBe(0);
  const [name] = readdirSync(join(folder.path, "memory"));
  file = join(folder.path, "memory", name ?? "");
});
afterEach(() => folder.remove());

async function observe(quantity: number) {
  return await rote(
    [
      ...["run", "recipe.json", "--input", `quantity=${quantity}`, "--input", "price=3"],
      ...["--memory", "memory", "--phase", "training"],
    ],
    { cwd: folder.path },
  );
}

async function refused(code: string, message: string) {
  const before = folder.listing();
  for (const words of [
    ["memory", "status", "memory"],
    ["memory", "qualify", "memory", "recipe.json"],
    [
      ...["run", "recipe.json", "--input", "quantity=2", "--input", "price=3"],
      ...["--memory", "memory", "--phase", "training"],
    ],
  ]) {
    const [plain, json] = await Promise.all([
      rote(words, { cwd: folder.path }),
      rote([...words, "--json"], { cwd: folder.path }),
    ]);
    expect([plain.code, json.code, plain.stdout, json.stderr]).toEqual([1, 1, "", ""]);
    expect(plain.stderr).toContain(message);
    expect(JSON.parse(json.stdout)).toMatchObject({ exit_code: 1, error: { code } });
  }
  expect(folder.listing()).toEqual(before);
}

describe("a memory that cannot be used is refused and left as it is", () => {
  it("another program's database", async () => {
    folder.write("memory/keep.txt", "");
    execFileSync("rm", [file]);
    const other = new Sqlite(file);
    other.exec("create table notes (text); insert into notes values ('mine')");
    other.close();
    chmodSync(file, 0o600);
    await refused("store_foreign", "not a procedure memory of rote");
  });

  it("a file that is no database", async () => {
    execFileSync("sh", ["-c", `head -c 5000 /dev/zero | tr '\\0' 'x' > '${file}'`]);
    await refused("store_damaged", "it is not an SQLite database");
  });

  it("a memory of a newer rote", async () => {
    const newer = new Sqlite(file);
    newer.pragma("user_version = 99");
    newer.pragma("wal_checkpoint(TRUNCATE)");
    newer.close();
    await refused("store_newer", "version 99");
  });

  it("a memory that others may read", async () => {
    chmodSync(file, 0o644);
    await refused("store_not_private", "open to others (mode 0644)");
  });

  it("a directory that holds no memory", async () => {
    execFileSync("rm", ["-r", join(folder.path, "memory")]);
    folder.write("memory/notes.txt", "mine");
    chmodSync(join(folder.path, "memory"), 0o700);
    const { code, stderr } = await rote(["memory", "status", "memory"], { cwd: folder.path });
    expect(code).toBe(1);
    expect(stderr).toContain("error: ");
    const observed = await observe(2);
    expect(observed.code).toBe(1);
    expect(folder.read("memory/notes.txt")).toBe("mine");
  });
});

/** Whether a mount can be made that only a child process sees. */
const mounts = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

/** Runs the command where `prepare`, a shell command, has set up the directory's file system. */
function underMount(prepare: string, words: readonly string[]) {
  const command = `${prepare} && exec "$0" "$@"`;
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    ["-rm", "sh", "-c", command, process.execPath, MAIN, ...words],
    { cwd: folder.path, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } },
  );
  return { code: status, stdout, stderr };
}

describe.skipIf(!mounts)(
  mounts
    ? "a file system that does not take part"
    : "a file system that does not take part (not tested: no mount can be made here)",
  () => {
    const run = ["run", "recipe.json", "--input", "quantity=2", "--input", "price=3"];
    const observing = [...run, "--memory", "memory", "--phase", "training"];

    it("mounted read-only: refused, and nothing is lost", async () => {
      const before = folder.listing();
      const readOnly = "mount --bind memory memory && mount -o remount,bind,ro memory";
      const { code, stderr } = underMount(readOnly, observing);
      expect(code).toBe(1);
      expect(stderr).toContain("cannot be written by this process");
      expect(folder.listing()).toEqual(before);
      expect((await observe(2)).code).toBe(0);
    });

    it("full: refused in words, and what was observed before is still there", async () => {
      const size = statSync(file).size;
      const full = [
        `mount -t tmpfs -o size=${Math.ceil(size / 4096) * 4 + 40}k,mode=700 tmpfs /mnt`,
        "cp -p memory/* /mnt",
        "(head -c 10M /dev/zero > /mnt/filler 2>/dev/null || true)",
        "mount --bind /mnt memory",
      ].join(" && ");
      const { code, stdout, stderr } = underMount(full, observing);
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/no space left|cannot be read or written/);
      expect(stderr).not.toMatch(/\n\s+at /);
    });

    it("full where a new memory is to be made: refused, and nothing is left behind", () => {
      const full = [
        "mount -t tmpfs -o size=8k,mode=700 tmpfs /mnt",
        "mkdir fresh",
        "mount --bind /mnt fresh",
      ].join(" && ");
      const words = [...run, "--memory", "fresh", "--phase", "training"];
      const { code, stdout, stderr } = underMount(`${full} && ls -A fresh`, words);
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/no space left|cannot be read or written/);
    });
  },
);
