import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** One npm script of a check. A stage starts when the stages it names have ended well, whatever the others do. */
export interface Stage {
  readonly script: string;
  readonly arguments?: readonly string[];
  readonly after?: readonly string[];
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Uses both cores itself, so nothing runs beside it. */
  readonly alone?: boolean;
}

export interface Outcome {
  readonly script: string;
  readonly state: "passed" | "failed" | "left out";
  readonly seconds: number;
  readonly output: string;
}

/** Runs stages, `width` at a time, and reports each as it ends. Failures do not stop stages that need nothing of them. */
export async function runStages(
  stages: readonly Stage[],
  { width, report }: { readonly width: number; readonly report: (outcome: Outcome) => void },
): Promise<readonly Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  const waiting = [...stages];
  const running = new Map<string, { readonly stage: Stage; readonly done: Promise<Outcome> }>();
  const end = (outcome: Outcome) => {
    outcomes.set(outcome.script, outcome);
    report(outcome);
  };
  while (waiting.length > 0 || running.size > 0) {
    for (const stage of [...waiting]) {
      const needs = (stage.after ?? []).map((script) => outcomes.get(script)?.state);
      if (needs.some((state) => state === "failed" || state === "left out")) {
        waiting.splice(waiting.indexOf(stage), 1);
        end({ script: stage.script, state: "left out", seconds: 0, output: "" });
        continue;
      }
      const busy = [...running.values()].some(({ stage: other }) => other.alone === true);
      const full = running.size >= (stage.alone === true ? 1 : width);
      if (busy || full || needs.includes(undefined)) continue;
      waiting.splice(waiting.indexOf(stage), 1);
      running.set(stage.script, { stage, done: runStage(stage) });
    }
    if (running.size === 0) continue;
    const outcome = await Promise.race([...running.values()].map(({ done }) => done));
    running.delete(outcome.script);
    end(outcome);
  }
  return [...outcomes.values()];
}

function runStage(stage: Stage): Promise<Outcome> {
  const start = performance.now();
  return new Promise((settle) => {
    const child = spawn("npm", ["run", "-s", stage.script, "--", ...(stage.arguments ?? [])], {
      cwd: ROOT,
      env: { ...process.env, ...stage.environment },
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    const pieces: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
    child.stderr.on("data", (piece: Buffer) => pieces.push(piece));
    const ended = (good: boolean, more: string) =>
      settle({
        script: stage.script,
        state: good ? "passed" : "failed",
        seconds: (performance.now() - start) / 1000,
        output: Buffer.concat(pieces).toString("utf8") + more,
      });
    child.on("error", (error) => ended(false, String(error)));
    child.on("close", (code, signal) => ended(code === 0, signal === null ? "" : `\n${signal}`));
  });
}
