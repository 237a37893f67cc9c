import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { isOutside, writeBuild } from "../../scripts/bundle.ts";
import { pdfOf } from "../support/documents.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DIST = join(ROOT, "dist");
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly exports: { readonly [name: string]: string | { readonly default: string } };
  readonly peerDependencies: { readonly [name: string]: string };
};

const built = mkdtempSync(join(tmpdir(), "rote-build-"));
afterAll(() => rmSync(built, { recursive: true, force: true }));

describe("a build", () => {
  it("that breaks off over another one leaves no entry point that loads the other's half", () => {
    writeFileSync(join(built, "index.js"), "the one before");
    writeFileSync(join(built, "old.js"), "an entry that is none any more");
    // Nothing can be written below it.
    writeFileSync(join(built, "chunks"), "");
    const files = new Map([
      ["chunks/base.js", "new"],
      ["index.js", "new"],
    ]);
    expect(() => writeBuild(built, files, ["index.js"])).toThrow();
    expect(readdirSync(built)).toEqual(["chunks"]);
    rmSync(join(built, "chunks"));
    writeBuild(built, files, ["index.js"]);
    expect(readFileSync(join(built, "index.js"), "utf8")).toBe("new");
  });

  it("holds what is named by a path, of whatever system, and of packages only its own", () => {
    const inside = ["zod", "@noble/ed25519"];
    const paths = [
      "/a/src/index.ts",
      "C:\\a\\src\\index.ts",
      "D:/a/src/index.ts",
      "./x.ts",
      "\0runtime",
    ];
    expect(
      [...paths, "zod", "zod/mini", "@noble/ed25519"].filter((id) => isOutside(id, inside)),
    ).toEqual([]);
    const names = [
      "node:fs",
      "fs",
      "fs/promises",
      "better-sqlite3",
      "@ai-sdk/anthropic",
      "zod-to",
      "unpdf",
    ];
    expect(names.filter((id) => !isOutside(id, inside))).toEqual([]);
  });
});

function chunks(): readonly string[] {
  return readdirSync(DIST, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.m?js$/.test(file));
}

/** Files that one of them loads at once. */
function neededBy(file: string): readonly string[] {
  const text = readFileSync(join(DIST, file), "utf8");
  const named = text.matchAll(/^(?:import|export) [^;]*?"(\.[^"]+)";$/gm);
  return [...named].map(([, other = ""]) => posix.join(posix.dirname(file), other));
}

/** What only passes on what others hold has none. */
function mapOf(file: string): string {
  const map = join(DIST, `${file}.map`);
  return existsSync(map) ? readFileSync(map, "utf8") : "";
}

describe("what ships", () => {
  const names = Object.entries(manifest.exports).flatMap(([name, entry]) =>
    typeof entry === "string" ? [] : [[name, entry.default.replace("./dist/", "")] as const],
  );

  it("exports under every name what its source exports", async () => {
    const code = `const said = {};
      for (const file of ${JSON.stringify(names.map(([, file]) => file))}) {
        said[file] = Object.keys(await import(${JSON.stringify(pathToFileURL(DIST).href)} + "/" + file)).sort();
      }
      console.log(JSON.stringify(said));`;
    const said = JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" }),
    );
    expect(names.length).toBeGreaterThan(10);
    for (const [name, file] of names) {
      const source = pathToFileURL(join(ROOT, "src", file.replace(/\.js$/, ".ts"))).href;
      expect([name, said[file]]).toEqual([name, Object.keys(await import(source)).sort()]);
    }
  });

  it("loads nothing of the command line for what a program imports", () => {
    const loading = names.filter(([, file]) => {
      const found = new Set([file]);
      for (const one of found) for (const other of neededBy(one)) found.add(other);
      return [...found].some((one) => /"[^"]*\/src\/cli\//.test(mapOf(one)));
    });
    expect(loading.map(([name]) => name)).toEqual([]);
    expect(mapOf("cli/main.js")).toMatch(/"[^"]*\/src\/cli\//);
  });

  it("has every file that one of its files loads, at once or later", () => {
    const files = new Set(chunks());
    const named = [...files].flatMap((file) => {
      const text = readFileSync(join(DIST, file), "utf8");
      const later = [...text.matchAll(/\bimport\("(\.[^"]+)"\)/g)];
      return [
        ...neededBy(file),
        ...later.map(([, other = ""]) => posix.join(posix.dirname(file), other)),
      ];
    });
    expect(named.length).toBeGreaterThan(200);
    expect(named.filter((file) => !files.has(file))).toEqual([]);
  });

  it("has no circle of files, in which one would run before what it needs", () => {
    const left = new Map(chunks().map((file) => [file, neededBy(file)]));
    expect([...left.values()].flat().length).toBeGreaterThan(100);
    for (let size = -1; size !== left.size; ) {
      size = left.size;
      for (const [file, needed] of left) {
        if (!needed.some((other) => left.has(other))) left.delete(file);
      }
    }
    expect([...left.keys()]).toEqual([]);
  });

  it("finds its process for PDFs by its place", async () => {
    const file = join(built, "invoice.pdf");
    writeFileSync(file, pdfOf(["Invoice 7"]));
    const urlOf = (name: string) => pathToFileURL(join(DIST, name)).href;
    const { pdfTool } = (await import(
      urlOf("tools/pdf.js")
    )) as typeof import("../../src/tools/pdf.ts");
    const { registerFiles } = (await import(
      urlOf("tools/index.js")
    )) as typeof import("../../src/tools/index.ts");
    const tool = pdfTool(registerFiles([{ source: "invoice", file }]));
    const signal = new AbortController().signal;
    const args = { source: "invoice", from: 1, count: 1 };
    expect(await tool.call({ arguments: args, signal, operationId: "one" })).toMatchObject({
      kind: "done",
      result: { pages: 1 },
    });
  });

  it("imports no packages but the native one and optional peers", () => {
    const imported = chunks().flatMap((file) =>
      [
        ...readFileSync(join(DIST, file), "utf8").matchAll(
          /(?:\bfrom |\bimport\(|\brequire\(|Require\([\w.]*\)\(|^import )"((?:@[\w-]+\/)?[\w-][\w.-]*)(?:\/[^"]*)?"/gm,
        ),
      ].map(([, name = ""]) => name),
    );
    const known = ["better-sqlite3", ...Object.keys(manifest.peerDependencies)];
    expect(imported).toContain("better-sqlite3");
    expect([...new Set(imported)].filter((name) => !known.includes(name))).toEqual([]);
  });
});
