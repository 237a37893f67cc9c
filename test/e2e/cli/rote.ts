import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Terminal } from "../../../src/cli/terminal.ts";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** ROTE_DIST names another build, for when somebody else is rebuilding this one. */
export const MAIN = join(process.env["ROTE_DIST"] ?? join(ROOT, "dist"), "cli/main.js");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Setting {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  /** Variables besides those that every command line here has. */
  readonly environment?: { readonly [name: string]: string };
}

const QUIET = { NO_COLOR: "1", FORCE_COLOR: "", ROTE_DEBUG: "" };

/**
 * One line of the built command, in this process: its own program, with a terminal that keeps what is written. What
 * only a process shows (signals, pipes, a terminal, what is loaded) goes through `roteProcess`.
 */
export async function rote(words: readonly string[], setting: Setting): Promise<Ended> {
  const { main, render } = await builtCommand();
  process.chdir(setting.cwd);
  let stdout = "";
  let stderr = "";
  const terminal: Terminal = {
    data: (text) => {
      stdout += text;
    },
    print: (text) => {
      stdout += render(text, false);
    },
    note: (text) => {
      stderr += render(text, false);
    },
    progress: () => undefined,
    watched: false,
    standardInput: () => piecesOf(setting.input ?? ""),
    ask: null,
    environment: { ...QUIET, ...setting.environment },
    interrupted: new AbortController().signal,
  };
  const code = await main(words, terminal);
  return { code, stdout, stderr };
}

/** Loaded as Node loads it for a user, and once for all files of a worker. */
async function builtCommand() {
  const built = async <T>(file: string) =>
    (await import(pathToFileURL(join(dirname(MAIN), file)).href)) as T;
  const { main } = await built<typeof import("../../../src/cli/program.ts")>("program.js");
  const { render } = await built<typeof import("../../../src/cli/terminal.ts")>("terminal.js");
  return { main, render };
}

/** As a pipe hands it over. */
async function* piecesOf(input: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(input);
  for (let start = 0; start < bytes.length; start += PIECE) {
    yield bytes.subarray(start, start + PIECE);
  }
}

const PIECE = 65_536;

interface ProcessSetting extends Setting {
  readonly env?: { readonly [name: string]: string };
}

/** The built command in a process of its own, as a user starts it. */
export async function roteProcess(
  words: readonly string[],
  setting: ProcessSetting,
): Promise<Ended> {
  const child = startRote(words, setting.cwd, setting.env);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A command that refuses its input early closes the pipe while the test still writes.
  child.stdin.on("error", () => undefined);
  child.stdin.end(setting.input ?? "");
  const [code] = (await once(child, "close")) as [number | null];
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString("utf8");
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** A command that is still at work, with what it has written so far. */
export class Working {
  readonly child: ReturnType<typeof startRote>;
  readonly ended: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(words: readonly string[], cwd: string) {
    this.child = startRote(words, cwd);
    this.child.stdin.end();
    this.child.stdout.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    this.child.stderr.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
  }

  /** Resolves with the first match in what is written to standard error. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.stderr);
      if (found !== null) return found[1] ?? found[0];
      await once(this.child.stderr, "data");
    }
  }
}

/** Starts the command and leaves the pipes to the test. */
export function startRote(words: readonly string[], cwd: string, env: ProcessSetting["env"] = {}) {
  return spawn(process.execPath, [MAIN, ...words], {
    cwd,
    env: { ...process.env, ...QUIET, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** A directory of its own, removed by `remove`. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "rote-cli-"));

  write(name: string, content: unknown): string {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    const plain = typeof content === "string" || content instanceof Uint8Array;
    writeFileSync(file, plain ? content : JSON.stringify(content, null, 2));
    return file;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  /** Every file with a digest of its content: equal listings mean that nothing was written. */
  listing(): readonly string[] {
    return readdirSync(this.path, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        if (!entry.isFile()) return path;
        return `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
      })
      .sort();
  }

  remove(): void {
    // Command lines run here have made it the working directory.
    process.chdir("/");
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The seed's recipe: two inputs, one multiplication done twice, one check. */
export function lineTotal(): { [key: string]: unknown } {
  const product = {
    op: "multiply",
    left: { op: "input", name: "quantity", pointer: "" },
    right: { op: "input", name: "price", pointer: "" },
  };
  const pure = (id: string) => ({
    id,
    after: [],
    output: "integer",
    step: { kind: "pure", value: product },
  });
  return {
    version: 1,
    id: "line-total",
    inputs: { quantity: "integer", price: "integer" },
    terminal: "result",
    nodes: [
      pure("calculate"),
      pure("duplicate"),
      {
        id: "result",
        after: ["calculate", "duplicate"],
        output: "integer",
        step: {
          kind: "verify",
          condition: { op: "literal", value: true },
          value: { op: "node", id: "calculate", pointer: "" },
        },
      },
    ],
  };
}

export const LINE_TOTAL_VERIFIER = {
  op: "equal",
  left: { op: "input", name: "context", pointer: "/result" },
  right: {
    op: "multiply",
    left: { op: "input", name: "context", pointer: "/inputs/quantity" },
    right: { op: "input", name: "context", pointer: "/inputs/price" },
  },
};
