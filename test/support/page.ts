/**
 * A page of documentation that is carried out: its named blocks are files, its `console` blocks are command lines with
 * what they print. On a page, `..` alone stands for any lines and `…` for the rest of a line or of a word.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Block {
  readonly language: string;
  /** The file's name, or that of a session. */
  readonly name: string;
  readonly text: string;
}

export interface Session {
  readonly name: string;
  readonly command: string;
  readonly printed: readonly string[];
}

export interface Page {
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly sessions: readonly Session[];
}

export function readPage(file: string): Page {
  const text = readFileSync(join(ROOT, file), "utf8");
  const blocks = [...text.matchAll(/^```(\w+) ?([\w.-]*)\n(.*?)^```$/gms)].map(
    ([, language = "", name = "", content = ""]) => ({ language, name, text: content }),
  );
  const sessions = blocks
    .filter(({ language }) => language === "console")
    .flatMap(({ name, text: content }) =>
      content
        .split(/^\$ /m)
        .slice(1)
        .map((session) => {
          const [command = "", ...printed] = session.trimEnd().split("\n");
          return { name, command, printed };
        }),
    );
  return { text, blocks, sessions };
}

/** Names of the files that a page has its reader save. */
export function filesOf({ blocks }: Page): readonly string[] {
  return blocks
    .filter(({ language, name }) => language !== "console" && name.includes("."))
    .map(({ name }) => name);
}

/** Puts the files of a page into a folder, with this package installed and its command on the path. */
export function settle({ blocks }: Page, folder: string): void {
  for (const { language, name, text } of blocks) {
    if (language !== "console" && name !== "") writeFileSync(join(folder, name), text);
  }
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/rote"), "dir");
  writeFileSync(join(folder, "package.json"), '{"type": "module"}\n');
  for (const [name, file] of [
    ["rote", "dist/cli/main.js"],
    ["tsx", "node_modules/tsx/dist/cli.mjs"],
  ] as const) {
    const command = join(folder, "node_modules/.bin", name);
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, file)}" "$@"\n`);
    chmodSync(command, 0o755);
  }
}

/**
 * What a command line of a page prints, both outputs in one, without white space at the ends of lines. `settled` is where
 * the package is, when the reader has gone to a folder below.
 */
export function carryOut(folder: string, command: string, settled = folder): string {
  const path = [join(settled, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const { stdout, stderr } = spawnSync("sh", ["-c", `{ ${command.replace(/^npx /, "")}\n} 2>&1`], {
    cwd: folder,
    encoding: "utf8",
    // Node warns where both are set.
    env: { ...process.env, PATH: path, NO_COLOR: "1", FORCE_COLOR: undefined },
  });
  return (stdout + stderr).replaceAll(/ +$/gm, "");
}

/** What a reader takes over from what was printed last: a run and a request are called otherwise every time. */
export function noteTaken(taken: Map<string, string>, told: string): void {
  for (const [word, line] of [
    ["RUN", /^run +(run-\S+)$/m],
    ["REQUEST", /^request +(\S+)$/m],
  ] as const) {
    const [, value] = line.exec(told) ?? [];
    if (value !== undefined) taken.set(word, value);
  }
}

export function pattern(printed: readonly string[]): RegExp {
  const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = printed.map((line) =>
    line === ".." ? "(?:.*\n)*?" : `${line.split(/ *… */).map(escaped).join(".*")}\n`,
  );
  return new RegExp(`^${lines.join("")}$`);
}

/** Targets of links to files of this repository that are not there. */
export function brokenLinks({ text }: Page, from = "."): readonly string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = ""]) => target);
  return links.filter((target) => {
    try {
      readFileSync(join(ROOT, from, target));
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "EISDIR";
    }
  });
}
