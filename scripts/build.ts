/** `npm run build`: declarations by the compiler, which checks the types as well, then the modules. */
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");

rmSync(DIST, { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const declared = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (declared.status === 0) {
  await bundle(DIST);
  chmodSync(join(DIST, "cli/main.js"), 0o755);
} else {
  process.exitCode = 1;
}
