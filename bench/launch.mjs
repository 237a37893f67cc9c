/**
 * Compiles src/ and bench/ with tsc and starts the runner from the output. A loader that compiles on the fly would
 * measure its own inserted code (function names set on every closure) instead of what ships.
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const compiled = spawnSync(process.execPath, [tsc, "-p", "tsconfig.bench.json"], {
  cwd: root,
  stdio: ["ignore", 2, 2],
});
// Type errors are the business of `npm run types`; the output is measured all the same.
if (compiled.status !== 0) process.stderr.write("bench: compiled with type errors\n");
await import("./.build/bench/run.js");
