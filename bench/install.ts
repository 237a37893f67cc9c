import { spawnSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

/**
 * Installs a package of things to measure beside, when it is first needed; null when it is there, else why it is not.
 * Talks on stderr only.
 *
 * @param finish What has to be done once, behind a fresh installation.
 */
export function installed(folder: string, finish = (): void => undefined): string | null {
  const at = join(ROOT, folder);
  if (existsSync(join(at, "node_modules/.package-lock.json"))) return null;
  process.stderr.write(`installing what to measure beside (${folder}/package.json)\n`);
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], {
    cwd: at,
    stdio: ["ignore", 2, 2],
    timeout: 600_000,
  });
  if (npm.status !== 0) return `npm ci in ${at} failed`;
  // The native module was compiled for this Node before, in the same version.
  const built = "node_modules/better-sqlite3/build";
  cpSync(join(ROOT, built), join(at, built), { recursive: true });
  finish();
  return null;
}
