import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  Folder,
  LINE_TOTAL_VERIFIER,
  lineTotal,
  MAIN,
  rote,
  roteProcess,
  startRote,
} from "./rote.ts";

let folder: Folder;
beforeAll(() => {
  folder = new Folder();
  folder.write("verifier.json", LINE_TOTAL_VERIFIER);
  folder.write("recipe.json", lineTotal());
  folder.write("many.jsonl", '{"quantity":2,"price":3}\n'.repeat(3000));
});
afterAll(() => folder.remove());

const one = ["run", "recipe.json", "--input", "quantity=2", "--input", "price=3"];

/** Words for Node that put a hook into the resolution of modules; the hook may use `writeSync`. */
function preload(hook: string): readonly string[] {
  const asUrl = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
  const module = `import { writeSync } from "node:fs";\nexport async function resolve(name, context, next) { ${hook} }`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(asUrl(module))});`;
  return ["--import", asUrl(register)];
}

/** Modules that the command loads, each with the sources that its source map names. */
function loaded(words: readonly string[]): readonly string[] {
  const hook = preload(
    'const found = await next(name, context); writeSync(2, "loads " + found.url + "\\n"); return found;',
  );
  const { stderr, status } = spawnSync(process.execPath, [...hook, MAIN, ...words], {
    cwd: folder.path,
    encoding: "utf8",
  });
  expect(status).toBe(0);
  const addresses = stderr.split("\n").flatMap((line) => /^loads (.*)/.exec(line)?.[1] ?? []);
  return addresses.flatMap((address) => [address, ...sourcesOf(address)]);
}

function sourcesOf(address: string): readonly string[] {
  const map = address.startsWith("file:") ? `${fileURLToPath(address)}.map` : "";
  if (!existsSync(map)) return [];
  return (JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] }).sources;
}

describe("start-up", () => {
  it.each([[["--help"]], [["--version"]], [["run", "--help"]], [["completions", "bash"]]])(
    "%j loads no compiler, no schema library and no database",
    (words) => {
      const modules = loaded(words);
      expect(modules.some((line) => line.includes("commander"))).toBe(true);
      const heavy = /zod|better-sqlite3|graphlib|viz-js|\/(compile|expression|store|run|app|llm)\//;
      expect(modules.filter((line) => heavy.test(line))).toEqual([]);
    },
  );

  it("check loads no database and no drawing", () => {
    const modules = loaded(["check", "recipe.json"]);
    expect(modules.some((line) => line.includes("zod"))).toBe(true);
    expect(modules.filter((line) => /better-sqlite3|viz-js|\/store\//.test(line))).toEqual([]);
  });

  it("a run without a memory loads no database", () => {
    const modules = loaded(one);
    expect(modules.filter((line) => /better-sqlite3|\/store\//.test(line))).toEqual([]);
  });
});

describe("pipes", () => {
  it("a reader that goes away ends the command quietly, and not as a success", async () => {
    const child = startRote(
      ["run", "recipe.json", "--inputs", "many.jsonl", "--json"],
      folder.path,
    );
    const stderr: string[] = [];
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk.toString()));
    child.stdout.once("data", () => child.stdout.destroy());
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(141);
    expect(stderr.join("")).not.toContain("EPIPE");
  });

  it("output that cannot be written is an error, not a success", () => {
    const full = openSync("/dev/full", "w");
    try {
      const { status, stderr } = spawnSync(process.execPath, [MAIN, ...one, "--json"], {
        cwd: folder.path,
        encoding: "utf8",
        stdio: ["ignore", full, "pipe"],
      });
      expect(status).toBe(1);
      expect(stderr).toContain("cannot write the output");
    } finally {
      closeSync(full);
    }
  });

  it("recipe, inputs and lines of inputs can come from standard input", async () => {
    const cwd = folder.path;
    const recipe = ["check", "-", "--verifier", "verifier.json"];
    const checked = await roteProcess(recipe, { cwd, input: JSON.stringify(lineTotal()) });
    expect(checked.code).toBe(0);
    const single = ["run", "recipe.json", "--inputs", "-", "--json"];
    const ran = await rote(single, { cwd, input: '{"quantity":2,"price":3}' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ exit_code: 0, result: "6" });
    const lines = ["run", "recipe.json", "--inputs", "-", "--lines", "--json"];
    const many = await rote(lines, { cwd, input: '{"quantity":2,"price":3}\n\n{"quantity":2}' });
    expect(many.code).toBe(1);
    const told = many.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told.map((line) => [line.line, line.exit_code])).toEqual([
      [1, 0],
      [3, 1],
      [undefined, 1],
    ]);
  });

  it("recipe and inputs cannot both be standard input", async () => {
    const { code, stderr } = await rote(
      ["run", "-", "--inputs", "-", "--verifier", "verifier.json"],
      {
        cwd: folder.path,
      },
    );
    expect(code).toBe(2);
    expect(stderr).toContain("cannot both be standard input");
  });
});

describe("progress", () => {
  it("goes to standard error, so that standard output stays JSON", async () => {
    const words = ["run", "recipe.json", "--inputs", "many.jsonl"];
    const json = await roteProcess([...words, "--json"], { cwd: folder.path });
    expect(json.code).toBe(0);
    expect(json.stderr.split("\n").filter((line) => line !== "")).toEqual([
      "1000 runs, 1000 verified, 0 not",
      "2000 runs, 2000 verified, 0 not",
      "3000 runs, 3000 verified, 0 not",
    ]);
    const lines = json.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(3001);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty("exit_code", 0);
    const plain = await rote(words, { cwd: folder.path });
    expect(plain.stdout).toMatch(/^verified +completed +3000 +0 +0 +0$/m);
  });
});

describe("Ctrl-C", () => {
  it("ends a run over many lines as cancelled, and what was done is told", async () => {
    const words = ["run", "recipe.json", "--inputs", "-", "--lines", "--json"];
    const child = startRote(words, folder.path);
    const lines: string[] = [];
    const reader = createInterface({ input: child.stdout });
    const first = once(reader, "line");
    reader.on("line", (line) => lines.push(line));
    child.stdin.write('{"quantity":2,"price":3}\n');
    await first;
    child.kill("SIGINT");
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    expect([code, signal]).toEqual([130, null]);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      exit: "cancelled",
      exit_code: 130,
      summary: { runs: 1 },
    });
  });

  it("ends a command that waits for its recipe", async () => {
    const child = startRote(["check", "-", "--json"], folder.path);
    const stdout: string[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk.toString()));
    // Something was read, so the command is there and waits for the rest.
    child.stdin.write(" ".repeat(1 << 20));
    await once(child.stdin, "drain");
    child.kill("SIGINT");
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(130);
    expect(JSON.parse(stdout.join(""))).toMatchObject({
      exit_code: 130,
      error: { code: "user_cancelled" },
    });
  });
});

describe("colour", () => {
  it.each([
    [{ FORCE_COLOR: "1", NO_COLOR: "" }, true],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false],
    [{ FORCE_COLOR: "", NO_COLOR: "" }, false],
  ])("with %j on a pipe: %s", async (env, coloured) => {
    const { stderr } = await roteProcess(["check", "none.json"], { cwd: folder.path, env });
    expect(stderr.includes("\u001b[")).toBe(coloured);
    expect(stderr).toContain("error");
  });
});

it("drawing SVG without its optional package says what to install", () => {
  const hook = preload(
    'if (name === "@viz-js/viz") throw new Error("absent"); return next(name, context);',
  );
  const words = ["graph", "recipe.json", "--format", "svg"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...hook, MAIN, ...words], {
    cwd: folder.path,
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("npm install @viz-js/viz");
});

describe("a fault of our own", () => {
  it("says how to report it and shows no stack, unless asked", async () => {
    const broken = `data:text/javascript,${encodeURIComponent(
      'JSON.stringify = () => { throw new TypeError("broken on purpose"); };',
    )}`;
    const start = (env: { readonly [name: string]: string }) =>
      spawnSync(process.execPath, ["--import", broken, MAIN, "graph", "recipe.json"], {
        cwd: folder.path,
        encoding: "utf8",
        env: { ...process.env, ...env },
      });
    const { status, stdout, stderr } = start({});
    expect([status, stdout]).toEqual([70, ""]);
    expect(stderr).toContain("this is a fault of rote, not of what you gave it: broken on purpose");
    expect(stderr).toContain("ROTE_DEBUG=1");
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(start({ ROTE_DEBUG: "1" }).stderr).toMatch(/\n\s+at /);
  });
});
