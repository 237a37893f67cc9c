import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registration, trust } from "../test/support/host.ts";
import { median, rounded } from "./measure.ts";
import { ROOT } from "./paths.ts";
import { publishTool } from "./resume-parts.ts";
import type { Row } from "./row.ts";

export const name = "resume";

const TIMES = 9;
const CHILD = join(ROOT, "bench/.build/bench/resume-child.js");

/**
 * A run of five steps waits for an approval, its process is killed, and a fresh one goes on: wall time from starting
 * that process to the result, with the approval, one effect and five more steps. Beside it the same number of synced
 * inserts by SQLite alone, in a fresh process as well. The two take turns.
 */
export async function rows(): Promise<readonly Row[]> {
  const taken = { floor: [] as number[], rote: [] as number[] };
  for (let time = 0; time <= TIMES; time += 1) {
    for (const method of ["floor", "rote"] as const) {
      const ms = await resumed(method);
      if (time > 0) taken[method].push(ms);
    }
  }
  const floor = median(taken.floor);
  return [
    { method: "better-sqlite3", ...timesOf(taken.floor, floor) },
    { method: "rote", ...timesOf(taken.rote, floor) },
  ];
}

function timesOf(taken: readonly number[], floor: number) {
  return {
    case: "resume after an approval, fresh process",
    wall_ms: rounded(median(taken)),
    least_ms: rounded(Math.min(...taken)),
    times_floor: rounded(median(taken) / floor),
    runs: taken.length,
  };
}

async function resumed(method: "floor" | "rote"): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "rote-bench-resume-"));
  try {
    // Signed once: both processes need the same documents.
    const documents = { trust: trust(), review: registration(publishTool(), "effect").review };
    writeFileSync(join(directory, "documents.json"), JSON.stringify(documents));
    const first = start(method, "start", directory);
    await said(first, "paused");
    first.kill("SIGKILL");
    await once(first, "close");
    const before = performance.now();
    const second = start(method, "resume", directory);
    await said(second, "result");
    const ms = performance.now() - before;
    await once(second, "close");
    return ms;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function start(method: string, phase: string, directory: string): ChildProcess {
  return spawn(process.execPath, [CHILD, method, phase, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Resolves when the process has printed the word. */
async function said(child: ChildProcess, word: string): Promise<void> {
  let text = "";
  for await (const piece of child.stdout ?? []) {
    text += String(piece);
    if (text.includes(word)) return;
  }
  throw new Error(`a process ended without saying "${word}": ${text}`);
}
