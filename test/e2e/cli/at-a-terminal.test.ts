import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HostFolder, PASSPHRASE, STORE } from "./host-folder.ts";
import { MAIN } from "./rote.ts";

/** Gives a command a terminal, on systems that have it (util-linux). */
const SCRIPT = "/usr/bin/script";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

/** Types each answer when its question is there, and not before: a terminal shows what is typed too early. */
async function typing(
  words: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
) {
  const line = [process.execPath, MAIN, ...words].map((word) => `'${word}'`).join(" ");
  const child = spawn(SCRIPT, ["-qec", line, "/dev/null"], {
    cwd: folder.path,
    env: { ...process.env, NO_COLOR: "1", TERM: "dumb" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  let at = 0;
  const left = [...answers];
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    const [next] = left;
    if (next === undefined || !screen.slice(at).includes(next[0])) return;
    at = screen.length;
    left.shift();
    child.stdin.write(next[1]);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, screen, unasked: left.length };
}

describe.skipIf(!existsSync(SCRIPT))("at a terminal (where script is installed)", () => {
  it("a reviewer sees the text, types yes and the passphrase, which is never shown", async () => {
    const { requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const words = ["approvals", "approve", nonce, ...STORE, "--key", "alice.key", "--as", "alice"];
    const { code, screen, unasked } = await typing(words, [
      ["Type yes to approve 2 operations as alice: ", "yes\n"],
      ["Passphrase of alice.key: ", `${PASSPHRASE}\n`],
    ]);
    expect([code, unasked]).toEqual([0, 0]);
    expect(screen).toContain("rote-display/v1");
    expect(screen).toContain("ok approve of 2 operations by alice, filed");
    expect(screen).not.toContain(PASSPHRASE);
    expect((await folder.json("approvals", "list", ...STORE)).requests).toEqual([]);
  });

  it.each([
    ["another answer than yes", "y\n"],
    ["Ctrl-C", "\u0003"],
    ["the end of the input", "\u0004"],
  ])("%s signs nothing", async (_, typed) => {
    const { requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const words = ["approvals", "approve", nonce, ...STORE, "--key", "alice.key", "--as", "alice"];
    const { code } = await typing(words, [["Type yes", typed]]);
    expect(code).toBe(130);
    expect((await folder.json("approvals", "list", ...STORE)).requests).toHaveLength(1);
  });

  it("a new passphrase is typed twice, can be corrected while it is typed, and must agree", async () => {
    const slip = await typing(
      ["keys", "generate", "new.key"],
      [
        ["New passphrase of new.key: ", "correct horse battery\n"],
        ["The same again: ", "correct horse batterx\n"],
      ],
    );
    expect(slip.code).toBe(1);
    const made = await typing(
      ["keys", "generate", "new.key"],
      [
        ["New passphrase of new.key: ", "correct horse batterx\u007fy\n"],
        ["The same again: ", "correct horse battery\n"],
      ],
    );
    expect(made.code).toBe(0);
    expect(made.screen).not.toContain("correct");
    folder.write("typed", "correct horse battery");
    const { chmodSync } = await import("node:fs");
    chmodSync(`${folder.path}/typed`, 0o600);
    const shown = await folder.json("keys", "show", "new.key", "--passphrase-file", "typed");
    expect(shown.exit_code).toBe(0);
  });
});
