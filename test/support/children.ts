/**
 * The programs that tests start as processes of their own, each in one file: reading two hundred modules through a
 * loader would cost a process more than all that it then does.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = repository(dirname(fileURLToPath(import.meta.url)));
const BUILT = join(ROOT, "test/.built");
/** Where they are, for whoever is started by the process that built them. */
const PLACE = "ROTE_TEST_CHILDREN";

/** By the names of the files below. */
const PROGRAMS = {
  digest: "test/support/digest-child.ts",
  gate: "test/support/gate-child.ts",
  journal: "test/support/journal-child.ts",
  kills: "test/support/kills/child.ts",
  mcp: "test/support/mcp-child.ts",
  memory: "test/support/memory-child.ts",
  sheet: "test/support/sheet-child.ts",
  example: "examples/gate.ts",
} as const;

/** The file to start with Node. */
export function childProgram(name: keyof typeof PROGRAMS): string {
  const place = process.env[PLACE];
  if (place === undefined) throw new Error("the children are not built: call buildChildren before");
  return join(place, `${name}.js`);
}

/**
 * Takes half a second. Whoever starts one of the programs calls this before, and at its end what it returns; once
 * for a process and all that it starts. In a folder of its own: another test run may be on its way in the same tree.
 */
export async function buildChildren(): Promise<() => void> {
  if (process.env[PLACE] !== undefined) return () => undefined;
  mkdirSync(BUILT, { recursive: true });
  const place = mkdtempSync(join(BUILT, "run-"));
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    build: {
      ssr: true,
      target: "node20",
      minify: false,
      outDir: place,
      rollupOptions: { input: PROGRAMS },
    },
    ssr: { noExternal: true, external: ["better-sqlite3"] },
  });
  cpSync(join(ROOT, "examples/gate/recipe.json"), join(place, "gate/recipe.json"));
  process.env[PLACE] = place;
  return () => {
    delete process.env[PLACE];
    rmSync(place, { recursive: true, force: true });
  };
}

/** From the source as well as from what is compiled for benchmarks. */
function repository(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "tsconfig.bench.json"))) {
    const up = dirname(folder);
    if (up === folder) throw new Error(`no repository above ${start}`);
    folder = up;
  }
  return folder;
}
