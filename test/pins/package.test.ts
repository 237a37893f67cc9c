import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
  string,
  Record<string, string>
>;

describe("the package", () => {
  it("can be imported through these names and no others", () => {
    expect(manifest["exports"]).toEqual({
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./agent": { types: "./dist/app/agent.d.ts", default: "./dist/app/agent.js" },
      "./audit": { types: "./dist/app/audit.d.ts", default: "./dist/app/audit.js" },
      "./keys": { types: "./dist/app/keys.d.ts", default: "./dist/app/keys.js" },
      "./llm": { types: "./dist/app/llm.d.ts", default: "./dist/app/llm.js" },
      "./otel": { types: "./dist/app/otel.d.ts", default: "./dist/app/otel.js" },
      "./tools": { types: "./dist/tools/index.d.ts", default: "./dist/tools/index.js" },
      "./tools/mcp": {
        types: "./dist/tools/mcp-client.d.ts",
        default: "./dist/tools/mcp-client.js",
      },
      "./tools/pdf": { types: "./dist/tools/pdf.d.ts", default: "./dist/tools/pdf.js" },
      "./tools/spreadsheet": {
        types: "./dist/tools/spreadsheet.d.ts",
        default: "./dist/tools/spreadsheet.js",
      },
      "./tools/spreadsheet-workpaper": {
        types: "./dist/tools/spreadsheet-workpaper.d.ts",
        default: "./dist/tools/spreadsheet-workpaper.js",
      },
      "./tools/workpaper": {
        types: "./dist/tools/workpaper.d.ts",
        default: "./dist/tools/workpaper.js",
      },
      "./trust": { types: "./dist/trust/index.d.ts", default: "./dist/trust/index.js" },
      "./workflows": {
        types: "./dist/app/workflows/index.d.ts",
        default: "./dist/app/workflows/index.js",
      },
      "./schema/recipe.json": "./schema/recipe.schema.json",
      "./schema/verifier.json": "./schema/verifier.schema.json",
      "./package.json": "./package.json",
    });
    expect(manifest["bin"]).toEqual({ rote: "dist/cli/main.js" });
  });

  it("every exported file is there after a build", () => {
    const targets = [
      "dist/index.d.ts",
      "dist/index.js",
      "dist/cli/main.js",
      "schema/recipe.schema.json",
      "schema/verifier.schema.json",
    ];
    expect(targets.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
  });

  it("needs these packages at run time and no others", () => {
    expect(Object.keys(manifest["dependencies"] ?? {})).toEqual([
      "@dagrejs/graphlib",
      "@noble/ed25519",
      "better-sqlite3",
      "commander",
      "zod",
    ]);
    expect(manifest["peerDependencies"]).toEqual({
      "@ai-sdk/anthropic": "3.0.140",
      "@ai-sdk/openai-compatible": "2.0.92",
      "@ai-sdk/provider": "3.0.19",
      "@modelcontextprotocol/client": "2.4.0",
      "@opentelemetry/api": "1.9.1",
      "@viz-js/viz": "3.31.0",
      unpdf: "1.7.0",
      "write-excel-file": "4.1.1",
    });
  });

  it("pins every dependency exactly", () => {
    const ranges = ["dependencies", "devDependencies", "peerDependencies"].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {}).filter(
        ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
      ),
    );
    expect(ranges).toEqual([]);
  });

  it("names the version of a package wherever it says what to install", () => {
    const said = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => {
        const text = readFileSync(join(ROOT, "src", file), "utf8");
        return [...text.matchAll(/npm install ([@a-z][\w/-]*)(?:@([\d.]*\d))?/g)];
      });
    expect(said.length).toBeGreaterThan(5);
    for (const [, name = "", version] of said) {
      expect([name, version]).toEqual([name, manifest["peerDependencies"]?.[name]]);
    }
  });

  it("says which install scripts may run", () => {
    expect(manifest["allowScripts"]).toEqual({ "better-sqlite3": true, esbuild: true });
  });
});
