import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { builtEntry } from "./built.ts";
import { median, rounded } from "./measure.ts";
import { ROOT } from "./paths.ts";
import type { Row } from "./row.ts";

export const name = "start";

/** Fresh processes per subject. Interleaved, so that a busy moment of the machine falls on all of them. */
const RUNS = 21;

interface Subject {
  readonly method: string;
  readonly case: string;
  readonly arguments: readonly string[];
}

/**
 * Start-up as a person or a script sees it: wall time of a whole child process from spawn to exit, and the largest
 * resident size the kernel counted for it. The rows beside ours are the same Node doing nothing, and importing zod
 * alone, which any core that validates with it has to pay.
 */
export async function rows(): Promise<readonly Row[]> {
  const core = builtEntry("index.js");
  const command = join(ROOT, "dist/cli/main.js");
  const recipe = join(ROOT, "recipes/line-total/recipe.json");
  if (!existsSync(recipe)) throw new Error(`${recipe} is not there`);
  const subjects: readonly Subject[] = [
    { method: "node", case: "nothing", arguments: importing() },
    { method: "zod", case: "import", arguments: importing("zod") },
    { method: "rote", case: "import of the core", arguments: importing(core) },
    { method: "rote", case: "rote --help", arguments: [command, "--help"] },
    { method: "rote", case: "rote check", arguments: [command, "check", recipe] },
  ];
  const taken = subjects.map(() => ({ wall: [] as number[], peak: [] as number[] }));
  for (let run = -1; run < RUNS; run += 1) {
    for (const [index, subject] of subjects.entries()) {
      const { wallMs, peakMib } = start(subject);
      if (run < 0) continue;
      taken[index]?.wall.push(wallMs);
      taken[index]?.peak.push(peakMib);
    }
  }
  const walls = taken.map(({ wall }) => median(wall));
  const [bare = Number.NaN, zod = Number.NaN] = walls;
  return subjects.map((subject, index) => ({
    method: subject.method,
    case: subject.case,
    wall_ms: rounded(walls[index] ?? Number.NaN),
    over_node_ms: rounded((walls[index] ?? Number.NaN) - bare),
    over_zod_ms: index === 0 ? null : rounded((walls[index] ?? Number.NaN) - zod),
    peak_mib: rounded(median(taken[index]?.peak ?? [])),
    runs: RUNS,
  }));
}

function importing(module?: string): readonly string[] {
  const target = module?.endsWith(".js") ? pathToFileURL(module).href : module;
  const code = target === undefined ? "" : `await import(${JSON.stringify(target)});`;
  return ["--input-type=module", "--eval", code];
}

function start(subject: Subject): { readonly wallMs: number; readonly peakMib: number } {
  const before = performance.now();
  // The peak is told by the process itself at exit, on a fourth stream that nothing else writes to.
  const child = spawnSync(process.execPath, ["--require", probe(), ...subject.arguments], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const wallMs = performance.now() - before;
  if (child.status !== 0) throw new Error(`${subject.case} failed: ${child.stderr}`);
  return { wallMs, peakMib: Number(child.output[3]) / 1024 };
}

function probe(): string {
  return join(ROOT, "bench/peak.cjs");
}
