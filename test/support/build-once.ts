import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Brings `dist/` up to date before tests that run the built package. Incremental, so that running one such test
 * again costs about a second. Type errors are printed and do not stop the tests here: `npm run types` and
 * `npm run build` are what fail on them.
 */
export function setup(): void {
  // Several projects name this file, and one vitest process runs them all.
  if (process.env["ROTE_BUILT"] === String(process.pid)) return;
  process.env["ROTE_BUILT"] = String(process.pid);
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const build = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: root,
    encoding: "utf8",
  });
  // As `npm run build` leaves it: npx starts the file itself.
  chmodSync(`${root}dist/cli/main.js`, 0o755);
  if (build.status !== 0) process.stderr.write(`build for tests: ${build.stdout}${build.stderr}\n`);
}
