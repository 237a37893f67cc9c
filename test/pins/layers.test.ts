import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  cruise,
  type ICruiseOptions,
  type ICruiseResult,
  type IForbiddenRuleType,
} from "dependency-cruiser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BEFORE_APP = [
  "base",
  "model",
  "ports",
  "expression",
  "compile",
  "trust",
  "policy",
  "host",
  "run",
  "memory",
  "audit",
  "learn",
  "agent",
  "goal",
];
const ADAPTERS = ["store", "tools", "llm", "os"];
const EDGES = ["cli", "mcp", "console"];
const FOLDERS = [...BEFORE_APP, ...ADAPTERS, "app", ...EDGES];

/** The folders that a folder may import, itself included. */
function allowed(folder: string): readonly string[] {
  if (ADAPTERS.includes(folder)) return ["base", "model", "ports", folder];
  if (folder === "app") return [...BEFORE_APP, ...ADAPTERS, "app"];
  if (folder === "cli") return [...BEFORE_APP, "app", ...EDGES];
  if (EDGES.includes(folder)) return [...BEFORE_APP, "app", folder];
  return BEFORE_APP.slice(0, BEFORE_APP.indexOf(folder) + 1);
}

/** A database is opened in one way only: workpapers open theirs through the store's. */
const SHARED_OPENING = ["format", "open", "writer"].map((file) => `store/sqlite/${file}.ts`);

function isShared(file: string, target: string): boolean {
  const workpapers = ["tools/workpaper.ts", "tools/spreadsheet-paper.ts"];
  return workpapers.includes(file) && SHARED_OPENING.includes(target);
}

const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.m?[jt]s$/.test(file))
  .map((file) => file.replaceAll("\\", "/"))
  .sort();

/** Relative imports as the source text has them: static, dynamic, re-exports and types. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, "src", file), "utf8").replaceAll(
    /^\s*(\/\/|\*|\/\*).*$/gm,
    "",
  );
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)["'](\.[^"']+)["']/g);
  return [...found].map(([, target = ""]) =>
    relative(join(ROOT, "src"), resolve(ROOT, "src", dirname(file), target)).replaceAll("\\", "/"),
  );
}

const config = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as {
  readonly forbidden: IForbiddenRuleType[];
  readonly options: ICruiseOptions;
};
const RULES = [
  ...BEFORE_APP.map((folder) => `layer-${folder}`),
  ...ADAPTERS.map((folder) => `adapter-${folder}`),
  "app-below-edges",
  "buffer-in-base",
  "commander-in-cli",
  "crypto-in-base",
  "edges-apart",
  "edges-pick-no-adapter",
  "graphlib-in-dag",
  "ai-sdk-in-its-adapter",
  "mcp-in-its-adapter",
  "no-builtin-in-pure-code",
  "no-cycle",
  "no-development-package",
  "otel-in-one-file",
  "pdf-in-its-process",
  "resolvable",
  "sheets-in-one-file",
  "sqlite-in-its-adapter",
  "src-stands-alone",
  "viz-in-cli",
  "workpaper-shares-opening",
  "zod-at-documents",
].sort();

async function cruised(baseDir: string): Promise<ICruiseResult> {
  const { output } = await cruise(["src"], {
    ...config.options,
    baseDir,
    ruleSet: { forbidden: config.forbidden },
    validate: true,
  });
  if (typeof output === "string") throw new TypeError("expected a result object");
  return output;
}

describe("layers", () => {
  it("every source file stands in a listed folder or is the package root", () => {
    const strays = files.filter(
      (file) => file.includes("/") && !FOLDERS.includes(file.split("/")[0]!),
    );
    expect(strays).toEqual([]);
    expect(
      files.filter((file) => !file.includes("/")).filter((file) => file !== "index.ts"),
    ).toEqual([]);
  });

  it("the source text imports only what the list of folders allows", () => {
    const wrong: string[] = [];
    let seen = 0;
    for (const file of files.filter((each) => each.includes("/"))) {
      const folder = file.split("/")[0]!;
      for (const target of importsOf(file)) {
        seen += 1;
        const may = allowed(folder).includes(target.split("/")[0]!) || isShared(file, target);
        if (!may) wrong.push(`${file} -> ${target}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(files.length / 2);
  });

  it("no source file switches a rule off", () => {
    const silent = files.filter((file) =>
      /biome-ignore-all|oxlint-disable|eslint-disable|@ts-(ignore|nocheck)/.test(
        readFileSync(join(ROOT, "src", file), "utf8"),
      ),
    );
    expect(silent).toEqual([]);
  });

  it("the import check sees every file on disk and finds nothing", async () => {
    const { modules, summary } = await cruised(ROOT);
    const seen = modules
      .map((module) => module.source)
      .filter((source) => source.startsWith("src/"));
    expect(seen.sort()).toEqual(files.map((file) => `src/${file}`));
    expect(
      summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
    ).toEqual([]);
  });
});

describe("rules of the import check", () => {
  let house: string;
  let violations: readonly string[];

  beforeAll(async () => {
    house = mkdtempSync(join(tmpdir(), "rote-layers-"));
    const put = (file: string, text: string) => {
      mkdirSync(dirname(join(house, file)), { recursive: true });
      writeFileSync(join(house, file), text);
    };
    writeFileSync(join(house, "package.json"), readFileSync(join(ROOT, "package.json")));
    writeFileSync(join(house, "tsconfig.json"), readFileSync(join(ROOT, "tsconfig.json")));
    symlinkSync(join(ROOT, "node_modules"), join(house, "node_modules"));
    for (const folder of FOLDERS) {
      const targets = FOLDERS.filter((target) => !allowed(folder).includes(target));
      put(`src/${folder}/leaf.ts`, "export type Leaf = string;\n");
      put(
        `src/${folder}/wrong.ts`,
        targets
          .map(
            (target) =>
              `import type { Leaf as ${target} } from "../${target}/leaf.ts";\nexport type { ${target} };\n`,
          )
          .join(""),
      );
      put(
        `src/${folder}/right.ts`,
        allowed(folder)
          .map(
            (target) =>
              `import type { Leaf as ${target} } from "../${target}/leaf.ts";\nexport type { ${target} };\n`,
          )
          .join(""),
      );
    }
    put("src/index.ts", "export const root = 1;\n");
    put("src/goal/root.ts", 'export { root } from "../index.ts";\n');
    put("src/model/ring-a.ts", 'import type { B } from "./ring-b.ts";\nexport type A = B;\n');
    put("src/model/ring-b.ts", 'import type { A } from "./ring-a.ts";\nexport type B = A | 1;\n');
    put("src/run/missing.ts", 'import "./not-there.ts";\n');
    put("test/support.ts", "export const support = 1;\n");
    put("src/cli/outside.ts", 'export { support } from "../../test/support.ts";\n');
    put(
      "src/run/packages.ts",
      [
        "better-sqlite3",
        "@dagrejs/graphlib",
        "zod",
        "@ai-sdk/anthropic",
        "@modelcontextprotocol/client",
        "@opentelemetry/api",
        "commander",
        "@viz-js/viz",
        "unpdf",
        "write-excel-file/node",
        "canonicalize",
        "node:buffer",
        "node:crypto",
        "node:fs",
      ]
        .map((name) => `import "${name}";\n`)
        .join(""),
    );
    put("src/base/dag.ts", 'import "@dagrejs/graphlib";\n');
    put("src/base/digest.ts", 'import "node:crypto";\n');
    put(
      "src/tools/workpaper.ts",
      'import "../store/sqlite/open.ts";\nimport "../store/leaf.ts";\nimport "../host/leaf.ts";\n',
    );
    put("src/store/sqlite/open.ts", 'import "better-sqlite3";\nimport "node:fs";\n');
    const { summary } = await cruised(house);
    violations = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
  });

  afterAll(() => rmSync(house, { recursive: true, force: true }));

  it("every rule fires on a house that breaks it", () => {
    const fired = [...new Set(violations.map((line) => line.split(":")[0]!))].sort();
    expect(fired).toEqual(RULES);
  });

  it("every import that the list forbids is found, one by one", () => {
    const expected = FOLDERS.flatMap((folder) =>
      FOLDERS.filter((target) => !allowed(folder).includes(target)).map(
        (target) => `src/${folder}/wrong.ts -> src/${target}/leaf.ts`,
      ),
    );
    const found = violations.map((line) => line.slice(line.indexOf(": ") + 2));
    expect(expected.filter((line) => !found.includes(line))).toEqual([]);
  });

  it("the workpaper reaches how the store opens a database, and nothing else of it", () => {
    const found = violations.filter((line) => line.includes("src/tools/workpaper.ts"));
    expect(found.map((line) => line.slice(line.indexOf("-> ") + 3)).sort()).toEqual([
      "src/host/leaf.ts",
      "src/store/leaf.ts",
    ]);
  });

  it("imports that the list allows are not reported", () => {
    const innocent =
      /src\/[a-z]+\/right\.ts|src\/base\/(dag|digest)\.ts|src\/store\/sqlite\/open\.ts/;
    expect(violations.filter((line) => innocent.test(line.split(" -> ")[0]!))).toEqual([]);
  });
});
