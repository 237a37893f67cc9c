/**
 * The JavaScript that ships: one pass over every entry point, so that what several of them use exists once. A class
 * that existed twice would be two, and a run of one no run to the other.
 *
 * - B1 Entry points are those of package.json, and the modules that are found by their place (`src/base/code-home.ts`).
 * - B2 Dependencies are part of it, down to what is used of them, with their licences beside; the native one and
 *   optional peers are not.
 * - B3 Entry points are written last, and those of another build go first: a build that is killed leaves none that is
 *   there and cannot be loaded, or is loaded with what does not fit it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ModuleInfo, type OutputChunk, rolldown } from "rolldown";
import { withoutDetours } from "./detours.ts";
import { noticesOf } from "./notices.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const HOME = join(ROOT, "src/base/code-home.ts");
const NOUNS = /\/src\/model\/[^/]+$/;
const NOTICES = "THIRD-PARTY-NOTICES.txt";

/** Started or imported by their place, or called by tests in their own process. */
const BY_PLACE = [
  "app/workflows/prepare-workflows.ts",
  "cli/program.ts",
  "cli/terminal.ts",
  "tools/pdf-child.mjs",
];

/** Its JavaScript finds its native module by its own place. */
const NATIVE = ["better-sqlite3"];

const STORE = "store/sqlite/store.ts";

/** What the store shares with commands that open none is not in its file. */
const BASE = /\/src\/base\//;

/**
 * Which modules share a file. Opening one costs as much as reading a good deal of code, so what most of them need is in
 * few. Each name takes the modules that all of its entry points load and that no name before it took.
 */
const SHARED: readonly (readonly [file: string, ...entries: string[]])[] = [
  ["base", "cli/program.ts", "index.ts"],
  ["core", "index.ts"],
  ["store", STORE],
];

/** Imported with the rest of zod, and used for tools alone. */
const TOOLS_ALONE = /\/zod\/v4\/core\/(?:json-schema-processors|to-json-schema)\.js$/;

/** The name of a module of Node or of a package, and no path: not even one that begins with a drive. */
const BARE = /^(?:node:|(?:@[\w.-]+\/)?[\w-][\w.-]*(?:\/|$))/;

/** Writes the modules into a directory and removes those that another build left there. */
export async function bundle(directory: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
  const inside = Object.keys(manifest.dependencies).filter((name) => !NATIVE.includes(name));
  const build = await rolldown({
    cwd: ROOT,
    input: entriesOf(manifest),
    platform: "node",
    tsconfig: false,
    transform: { target: "es2022" },
    preserveEntrySignatures: "allow-extension",
    external: (id) => isOutside(id, inside),
  });
  const fileOf = sharing();
  const { output } = await build.generate({
    format: "esm",
    entryFileNames: ({ facadeModuleId }) =>
      facadeModuleId?.endsWith(".mjs") === true ? "[name].mjs" : "[name].js",
    chunkFileNames: "chunks/[name].js",
    minifyInternalExports: false,
    sourcemap: true,
    // Sources ship, and those of dependencies are named.
    sourcemapExcludeSources: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: "shared",
          name: (id, context) => fileOf(id, (other) => context.getModuleInfo(other)),
        },
      ],
    },
  });
  await build.close();
  const made = output.filter((file) => file.type === "chunk");
  checkHome(made);
  const chunks = withoutDetours(made);
  const files = new Map([[NOTICES, noticesOf(ROOT, chunks)]]);
  for (const { fileName, code, map } of [...chunks].sort((one, other) => rank(one) - rank(other))) {
    if (map !== null) files.set(`${fileName}.map`, map.toString());
    files.set(fileName, inAscii(code));
  }
  const entries = chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName);
  writeBuild(directory, files, entries);
}

interface Manifest {
  readonly bin: { readonly rote: string };
  readonly exports: { readonly [name: string]: string | { readonly default: string } };
  readonly dependencies: { readonly [name: string]: string };
}

function entriesOf(manifest: Manifest): Record<string, string> {
  const exported = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.default],
  );
  const built = [...exported, manifest.bin.rote].map((file) =>
    file.replace(/^(?:\.\/)?dist\//, "").replace(/\.js$/, ".ts"),
  );
  return Object.fromEntries(
    [...built, ...BY_PLACE].map((source) => [
      source.replace(/\.\w+$/, ""),
      join(ROOT, "src", source),
    ]),
  );
}

/** True for what is imported by name and is not bundled. */
export function isOutside(id: string, inside: readonly string[]): boolean {
  return BARE.test(id) && !inside.includes(packageOf(id));
}

function packageOf(id: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id;
}

type Info = (id: string) => ModuleInfo | null;

/** Tells the shared file of a module, or null where it goes with what loads it. */
function sharing(): (id: string, info: Info) => string | null {
  const known = new Map<string, ReadonlySet<string>>();
  const closure = (entry: string, info: Info): ReadonlySet<string> => {
    const found = known.get(entry) ?? loadedBy(join(ROOT, "src", entry), info);
    known.set(entry, found);
    return found;
  };
  return (id, info) => {
    if (id === HOME) return "base";
    // A file of its own for a list of names would be opened by every command.
    if (NOUNS.test(id.replaceAll("\\", "/")) && closure("cli/program.ts", info).has(id))
      return "base";
    if (TOOLS_ALONE.test(id.replaceAll("\\", "/"))) return null;
    if (BASE.test(id.replaceAll("\\", "/")) && closure(STORE, info).has(id)) return "base";
    const shared = SHARED.find(([, ...entries]) =>
      entries.every((entry) => closure(entry, info).has(id)),
    );
    return shared?.[0] ?? null;
  };
}

function loadedBy(entry: string, info: Info): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const id of found) for (const other of info(id)?.importedIds ?? []) found.add(other);
  return found;
}

/** `src/base/code-home.ts` looks for the folder of the code above the one that it is in. */
function checkHome(chunks: readonly OutputChunk[]): void {
  const places = chunks.filter(({ moduleIds }) => moduleIds.includes(HOME));
  if (places.length === 1 && places[0]?.fileName.split("/").length === 2) return;
  throw new Error("src/base/code-home.ts has to be in one file, in a folder of the output");
}

/** Shared files, then what imports them, then what is imported by name. */
function rank({ isEntry, isDynamicEntry, name }: OutputChunk): number {
  if (isEntry) return name === "index" || name === "cli/main" ? 3 : 2;
  return isDynamicEntry ? 1 : 0;
}

/**
 * With one letter beyond ASCII a whole file takes two bytes a letter in memory, and longer to read. In strings,
 * templates and regular expressions, which are all that such letters are in, an escape says the same.
 */
function inAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** In the order of `files`, of which `entries` are the names that are loaded from outside. */
export function writeBuild(
  directory: string,
  files: ReadonlyMap<string, string>,
  entries: readonly string[],
): void {
  const differs = ([name, text]: readonly [string, string]): boolean => {
    const file = join(directory, name);
    return !existsSync(file) || readFileSync(file, "utf8") !== text;
  };
  if (![...files].some(differs)) return removeOthers(directory, files);
  for (const name of entries) rmSync(join(directory, name), { force: true });
  removeOthers(directory, files);
  for (const [name, text] of [...files].filter(differs)) {
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Modules that another build left there. */
function removeOthers(directory: string, files: ReadonlyMap<string, string>): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (/\.m?js(?:\.map)?$/.test(name) && !files.has(name.replaceAll("\\", "/"))) {
      rmSync(join(directory, name));
    }
  }
}
