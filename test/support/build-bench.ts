import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Compiles what the killed processes run, incrementally: a loader on the fly would cost each of them a second. */
export function setup(): void {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const build = spawnSync(process.execPath, [tsc, "-p", "tsconfig.bench.json"], {
    cwd: root,
    encoding: "utf8",
  });
  if (build.status !== 0) process.stderr.write(`build for tests: ${build.stdout}${build.stderr}\n`);
}
