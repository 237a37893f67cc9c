import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./paths.ts";

const FOLDER = join(ROOT, "bench");

/** Installs the libraries of `bench/package.json` when they are first needed. Talks on stderr only. */
function installPeers(): void {
  if (existsSync(join(FOLDER, "node_modules"))) return;
  process.stderr.write("installing the libraries to measure beside (bench/package.json)\n");
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: FOLDER,
    stdio: ["ignore", 2, 2],
  });
  if (npm.status !== 0) throw new Error(`npm ci in ${FOLDER} failed`);
}

/**
 * A library of `bench/package.json` as its module namespace. Not typed: the libraries are not installed where types
 * are checked, so a bench says itself which function it takes.
 */
export async function peer(name: string): Promise<Record<string, unknown>> {
  installPeers();
  const require = createRequire(join(FOLDER, "package.json"));
  const loaded = (await import(pathToFileURL(resolve(require, name)).href)) as Record<
    string,
    unknown
  >;
  return loaded;
}

/** ES-only packages have no `require` condition, so their entry is found through the manifest. */
function resolve(require: NodeJS.Require, name: string): string {
  try {
    return require.resolve(name);
  } catch {
    const folder = join(FOLDER, "node_modules", name);
    const manifest = require(join(folder, "package.json")) as {
      readonly main?: string;
      readonly exports?: { readonly "."?: { readonly default?: string } };
    };
    return join(folder, manifest.exports?.["."]?.default ?? manifest.main ?? "index.js");
  }
}
