import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = join(ROOT, "dist");

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: unknown;
}

const built = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.m?js$/.test(file),
);

/** Modules of the repository that a built file holds. What only passes on what others hold has no map. */
function modulesOf(file: string): readonly string[] {
  if (!existsSync(join(DIST, `${file}.map`))) return [];
  const map = JSON.parse(readFileSync(join(DIST, `${file}.map`), "utf8")) as SourceMap;
  const folder = dirname(join(DIST, file));
  return map.sources.map((source) => relative(ROOT, resolve(folder, source)));
}

const modules = built.flatMap((file) => modulesOf(file));

/** Built files that importing one of them loads at once. */
function loadedBy(file: string): readonly string[] {
  const found = new Set([file]);
  for (const one of found) {
    const text = readFileSync(join(DIST, one), "utf8");
    for (const [, other = ""] of text.matchAll(/^(?:import|export) [^;]*?"(\.[^"]+)";$/gm)) {
      found.add(relative(DIST, resolve(DIST, dirname(one), other)));
    }
  }
  return [...found].sort();
}

function childPrints(code: string, ...options: readonly string[]): unknown {
  const program = ["--input-type=module", "--eval", code];
  return JSON.parse(
    execFileSync(process.execPath, [...options, ...program], { cwd: ROOT, encoding: "utf8" }),
  );
}

const urlOf = (file: string) => JSON.stringify(pathToFileURL(join(DIST, file)).href);

describe("what ships", () => {
  it("holds every module once, so that every class is one", () => {
    expect(modules.length).toBeGreaterThan(300);
    expect(modules.filter((module, at) => modules.indexOf(module) !== at)).toEqual([]);
  });

  it("points back to sources that ship, or to the package that they are of", () => {
    const strange = modules.filter(
      (module) =>
        !module.startsWith("node_modules/") &&
        !(module.startsWith("src/") && existsSync(join(ROOT, module))),
    );
    expect(strange).toEqual([]);
  });

  it("comes with the licence of each package that it holds, and of no other", () => {
    const held = modules.flatMap(
      (module) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? [],
    );
    const notices = readFileSync(join(DIST, "THIRD-PARTY-NOTICES.txt"), "utf8");
    const told = [...notices.matchAll(/^-{80}\n(\S+) (\S+) \((.*)\)$/gm)];
    expect(told.map(([, name]) => name)).toEqual([...new Set(held)].sort());
    expect(told.map(([, name, , license]) => [name, license])).toEqual([
      ["@dagrejs/graphlib", "MIT"],
      ["@noble/ed25519", "MIT"],
      ["commander", "MIT"],
      ["zod", "MIT"],
    ]);
    expect(notices.match(/Permission is hereby granted/g)).toHaveLength(told.length);
    expect(notices).toContain("Colin McDonnell");
  });

  it("holds of zod what reads documents, with one language", () => {
    const zod = modules.filter((module) => module.startsWith("node_modules/zod/"));
    expect(zod.filter((module) => module.includes("/locales/"))).toEqual([
      "node_modules/zod/v4/locales/en.js",
    ]);
    expect(zod.filter((module) => module.includes("/classic/"))).toEqual([]);
  });

  it("loads few files for the root and for help", () => {
    expect(loadedBy("index.js").length).toBeLessThanOrEqual(3);
    expect(loadedBy("index.js")).toContain("chunks/core.js");
    expect(loadedBy("cli/main.js").length).toBeLessThanOrEqual(6);
    expect(loadedBy("cli/main.js")).not.toContain("chunks/core.js");
  });

  it("has no file that only passes on what another one holds, besides those that are imported by name", () => {
    const passing = built.filter((file) =>
      /^export \{ [^}]+ \} from "[^"]+";\s*$/.test(readFileSync(join(DIST, file), "utf8")),
    );
    expect(passing.filter((file) => file.startsWith("chunks/"))).toEqual([]);
  });

  it("is ASCII, which is read in half the space", () => {
    const beyond = /[^\0-\x7f]/;
    expect(built.filter((file) => beyond.test(readFileSync(join(DIST, file), "utf8")))).toEqual([]);
  });

  it("keeps names, and leads a stack to the source with --enable-source-maps", () => {
    const said = childPrints(
      `const rote = await import(${urlOf("index.js")});
      let stack = "";
      try { new rote.Procedure("{", { verifier: {} }); } catch (error) { stack = error.stack; }
      const names = [rote.Procedure, rote.ProcedureMemory, rote.RoteError].map(({ name }) => name);
      console.log(JSON.stringify({ names, stack }));`,
      "--enable-source-maps",
    ) as { readonly names: readonly string[]; readonly stack: string };
    expect(said.names).toEqual(["Procedure", "ProcedureMemory", "RoteError"]);
    expect(said.stack).toMatch(/src\/app\/procedure\.ts:\d+/);
  });

  it("takes schemas that the application made with its own zod", () => {
    const said = childPrints(
      `import { z } from "zod";
      const { functionTool } = await import(${urlOf("tools/index.js")});
      const amount = z.int().min(1).meta({ description: "in cents" });
      const tool = functionTool({
        name: "ledger.pay",
        description: "Pays",
        input: z.strictObject({ to: z.string().max(5), amount }),
        output: z.object({ paid: z.boolean() }),
        run: ({ to }) => ({ paid: to === "Ada" }),
      });
      const call = (args) => tool.call({ arguments: args, signal: new AbortController().signal, operationId: "x" });
      console.log(JSON.stringify({
        schema: tool.definition.input_schema.properties,
        done: await call({ to: "Ada", amount: 2 }),
        fault: tool.fault({ to: "Ada", amount: 0 }),
        more: tool.fault({ to: "Ada", amount: 1, memo: "" }),
      }));`,
    );
    expect(said).toEqual({
      schema: {
        to: { type: "string", maxLength: 5 },
        amount: {
          type: "integer",
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: "in cents",
        },
      },
      done: { kind: "done", result: { paid: true } },
      fault: "/amount: Too small: expected number to be >=1",
      more: 'the whole: Unrecognized key: "memo"',
    });
  });

  it("says in English what is wrong with a document, whatever language the application set for zod", () => {
    const said = childPrints(
      `import { z } from "zod";
      z.config(z.locales.de());
      const { readPrices } = await import(${urlOf("app/llm.js")});
      let told = "";
      try { readPrices('{"version": 1, "currency": "EUR", "models": []}'); } catch (error) { told = error.message; }
      console.log(JSON.stringify(told));`,
    );
    expect(said).toBe("/models: Invalid input: expected record, received array");
  });
});

describe("the source", () => {
  it("finds files by their place in one module, since a bundle has no other places", () => {
    const folder = join(ROOT, "src");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.m?ts$/.test(file),
    );
    const finding = files.filter((file) =>
      // In a text it is another module's.
      readFileSync(join(folder, file), "utf8")
        .replaceAll(/`[^`]*`/g, "")
        // Packages are found from everywhere.
        .replaceAll("createRequire(import.meta.url)", "")
        .includes("import.meta"),
    );
    expect(finding).toEqual(["base/code-home.ts"]);
  });
});
