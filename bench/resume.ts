import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonValue } from "../src/index.ts";
import { decision, hostOptions, KEYS, registration } from "../test/support/host.ts";
import { builtEntry } from "./built.ts";
import { median, rounded } from "./measure.ts";
import { ROOT } from "./paths.ts";
import { ANSWERS, MODELS, publishTool, RECIPE, VERIFIER } from "./resume-parts.ts";
import type { Setting } from "./resume-rote.ts";
import type { Row } from "./row.ts";

export const name = "resume";

const TIMES = 9;
const CHILD = join(ROOT, "bench/.build/bench/resume-child.js");

type Method = "floor" | "rote";

/**
 * A run of five steps waits for an approval, its process is killed, and a fresh one goes on: wall time from starting
 * that process to the result, with the approval, one effect and five more steps. Beside it the same number of synced
 * inserts by SQLite alone, in a fresh process as well. The two take turns.
 */
export async function rows(): Promise<readonly Row[]> {
  const core = pathToFileURL(builtEntry("index.js")).href;
  const taken = { floor: [] as number[], rote: [] as number[] };
  for (let time = 0; time <= TIMES; time += 1) {
    for (const method of ["floor", "rote"] as const) {
      const ms = await resumed(method, core);
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

async function resumed(method: Method, core: string): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "rote-bench-resume-"));
  try {
    write(directory, "setting.json", settingFor(core));
    const first = start(method, "start", directory);
    await said(first, "paused");
    first.kill("SIGKILL");
    await once(first, "close");
    if (method === "rote") {
      const request = JSON.parse(readFileSync(join(directory, "request.json"), "utf8"));
      write(directory, "approval.json", decision(request, KEYS.alice, "alice"));
    }
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

/** What both processes of a run need. Signed here: the keys of a reviewer and of an owner are not theirs to have. */
function settingFor(core: string): Setting {
  const tool = publishTool();
  const { directory: _, keys: __, tools: ___, ...options } = hostOptions(null, []);
  const seed = (key: "journal" | "receipt") => KEYS[key].key.export({ format: "jwk" }).d ?? "";
  return {
    core,
    options,
    seeds: { journal: seed("journal"), receipt: seed("receipt") },
    definition: tool.tool.definition,
    review: registration(tool, "effect").review as JsonValue,
    recipe: RECIPE,
    verifier: VERIFIER,
    models: MODELS,
    answers: ANSWERS,
  };
}

function write(directory: string, name: string, value: unknown): void {
  writeFileSync(join(directory, name), JSON.stringify(value));
}

function start(method: Method, phase: string, directory: string): ChildProcess {
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
