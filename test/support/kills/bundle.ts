/**
 * The programs that are killed, each in one file: reading two hundred modules would cost a process more than all that
 * it then does.
 */
import { cpSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = repository(dirname(fileURLToPath(import.meta.url)));
const BUNDLES = join(ROOT, "bench/.build/killed");

export const CHILD = join(BUNDLES, "child.js");
export const GATE = join(BUNDLES, "gate.js");

/** Takes half a second. Whoever starts one of the programs calls this before, once. */
export async function bundle(): Promise<void> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    build: {
      ssr: true,
      target: "node20",
      minify: false,
      outDir: BUNDLES,
      emptyOutDir: true,
      rollupOptions: { input: { child: "test/support/kills/child.ts", gate: "examples/gate.ts" } },
    },
    ssr: { noExternal: true, external: ["better-sqlite3"] },
  });
  cpSync(join(ROOT, "examples/gate/recipe.json"), join(BUNDLES, "gate/recipe.json"));
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
