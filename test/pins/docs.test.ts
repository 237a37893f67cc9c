import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { brokenLinks, ROOT, readPage } from "../support/page.ts";

const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`),
  "recipes/README.md",
  "bench/README.md",
];

/** What an import of the package loads, as its manifest says, by what it was compiled from. */
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly files: readonly string[];
};
const entries = Object.entries(manifest.exports).filter(([path]) => path !== "./package.json");

/** Named imports of code on the pages, without types. */
function imported(page: string): readonly (readonly [path: string, name: string])[] {
  const code = readPage(page).blocks.filter(({ language }) => /^(ts|js)$/.test(language));
  return code.flatMap(({ text }) =>
    [...text.matchAll(/^import \{([^}]*)\} from "rote(\/[^"]*)?";$/gm)].flatMap(
      ([, names = "", path = ""]) =>
        names
          .split(",")
          .map((name) => name.trim().replace(/ as .*$/, ""))
          .filter((name) => name !== "" && !name.startsWith("type "))
          .map((name) => [`.${path}`, name] as const),
    ),
  );
}

describe("the documents", () => {
  it.each(pages)("%s links only to what is there", (page) => {
    expect(brokenLinks(readPage(page), dirname(page))).toEqual([]);
  });

  it("are packed together with what they link to, but for what only a clone runs", () => {
    const packed = new Set([...manifest.files, "bench", "examples"]);
    const missing = pages
      .filter((page) => manifest.files.includes(page.split("/")[0] ?? ""))
      .flatMap((page) =>
        [...readPage(page).text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = ""]) =>
          join(dirname(page), target),
        ),
      )
      .filter((target) => !packed.has(target.split("/")[0] ?? ""));
    expect(missing).toEqual([]);
  });

  it("have a row for every recipe", () => {
    const shipped = readdirSync(join(ROOT, "recipes"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const { text } = readPage("recipes/README.md");
    expect(shipped.length).toBeGreaterThan(10);
    expect(shipped.filter((name) => !text.includes(`\n| \`${name}\` `))).toEqual([]);
  });

  it("show every entry point of the package in code", () => {
    const code = pages.flatMap((page) => readPage(page).blocks.map(({ text }) => text)).join("\n");
    const named = entries.map(([path]) => `from "rote${path.slice(1)}"`);
    expect(named.filter((line) => !code.includes(line))).toEqual([]);
  });

  it("import only names that the package has", async () => {
    const wrong: string[] = [];
    for (const [path, name] of new Set(pages.flatMap(imported))) {
      const entry = manifest.exports[path];
      const built = typeof entry === "object" ? entry.default : undefined;
      const source = built?.replace("./dist/", "src/").replace(/\.js$/, ".ts") ?? "";
      const module: unknown =
        built === undefined ? {} : await import(pathToFileURL(join(ROOT, source)).href);
      if (typeof module !== "object" || module === null || !(name in module)) {
        wrong.push(`${name} from rote${path.slice(1)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
