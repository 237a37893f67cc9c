import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/bundle.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Brings `dist/` up to date before tests that run the built package. Incremental, so that running one such test
 * again costs about two seconds. Type errors are printed and do not stop the tests here: `npm run types` and
 * `npm run build` are what fail on them.
 */
export async function setup(): Promise<void> {
  // Several projects name this file, and one vitest process runs them all.
  if (process.env["ROTE_BUILT"] === String(process.pid)) return;
  process.env["ROTE_BUILT"] = String(process.pid);
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const build = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (build.status !== 0) process.stderr.write(`build for tests: ${build.stdout}${build.stderr}\n`);
  await bundle(join(ROOT, "dist"));
  // As `npm run build` leaves it: npx starts the file itself.
  chmodSync(join(ROOT, "dist/cli/main.js"), 0o755);
}
