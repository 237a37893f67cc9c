import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const README = readFileSync(join(ROOT, "README.md"), "utf8");

interface Block {
  readonly language: string;
  readonly name: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...README.matchAll(/^```(\w+) ?([\w.-]*)\n(.*?)^```$/gms)].map(
  ([, language = "", name = "", text = ""]) => ({ language, name, text }),
);

/** Commands of console blocks with what the page says they print. */
const sessions = blocks
  .filter(({ language }) => language === "console")
  .flatMap(({ name, text }) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((session) => {
        const [command = "", ...printed] = session.trimEnd().split("\n");
        return { name, command, printed };
      }),
  );

let folder: string;

/** Runs a line of the page as a shell would, with `rote` and `npx tsx` being what this repository built. */
function shell(command: string): string {
  const tsx = join(ROOT, "node_modules/tsx/dist/cli.mjs");
  const given = command
    .replace(/^rote /, `"${process.execPath}" "${join(ROOT, "dist/cli/main.js")}" `)
    .replace(/^npx tsx /, `"${process.execPath}" "${tsx}" `);
  const { stdout, stderr } = spawnSync("sh", ["-c", `${given} 2>&1`], {
    cwd: folder,
    encoding: "utf8",
  });
  return stdout + stderr;
}

/** `..` alone stands for any lines, `…` for the rest of one. */
function pattern(printed: readonly string[]): RegExp {
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = printed.map((line) =>
    line === ".." ? "(?:.*\n)*?" : `${line.split("…").map(escaped).join(".*")}\n`,
  );
  return new RegExp(`^${lines.join("")}$`);
}

describe("README", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "rote-readme-"));
    for (const { name, text } of blocks.filter(({ language }) => language !== "console")) {
      if (name !== "") writeFileSync(join(folder, name), text);
    }
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(ROOT, join(folder, "node_modules/rote"), "dir");
    writeFileSync(join(folder, "package.json"), '{"type": "module"}\n');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("names files and commands to try", () => {
    expect(blocks.map(({ name }) => name).filter((name) => name.includes("."))).toEqual([
      "recipe.json",
      "verifier.json",
      "orders.jsonl",
      "ladder.ts",
    ]);
    expect(sessions.length).toBe(6);
  });

  it.each(sessions)("prints what the page says: $command", ({ name, command, printed }) => {
    const recipe = join(folder, "recipe.json");
    const text = readFileSync(recipe, "utf8");
    if (name === "misspelt") writeFileSync(recipe, text.replace('"multiply"', '"multipy"'));
    try {
      expect(shell(command).replaceAll(/ +$/gm, "")).toMatch(pattern(printed));
    } finally {
      writeFileSync(recipe, text);
    }
  });

  it("links only to files that are there", () => {
    const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = ""]) => target);
    expect(links.length).toBeGreaterThan(8);
    const missing = links.filter((target) => {
      try {
        readFileSync(join(ROOT, target));
        return false;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code !== "EISDIR";
      }
    });
    expect(missing).toEqual([]);
  });
});
