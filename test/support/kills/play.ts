/** Plays one case: processes that are killed again and again until the run has ended, then the verdict. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "./child.ts";
import type { Stop } from "./points.ts";
import type { Pool, Worker } from "./processes.ts";
import { type Kind, type Shape, type Story, storyIn } from "./story.ts";
import { type Verdict, verdictOn } from "./verdict.ts";

/** How one process of a case dies: at a place it reaches, or after some time. Null: not at all. */
export type Death = { readonly at: number } | { readonly afterMs: number } | null;

export interface Case {
  readonly kind: Kind;
  readonly shape: Shape;
  /** One per process, in order; processes after the last are left alone. Those that approve take their turn too. */
  readonly deaths: readonly Death[];
}

export interface Played extends Verdict {
  readonly kills: number;
  /** Places reached by each process that was not killed. */
  readonly reached: readonly (readonly string[])[];
}

const MOST_PROCESSES = 60;
const WAITING = new Set(["awaiting_approval", "awaiting_model", "running", "ready", "failed"]);

export async function play(pool: Pool, { kind, shape, deaths }: Case): Promise<Played> {
  const root = mkdtempSync(join(tmpdir(), "rote-kills-"));
  const story = storyIn(root, kind, shape);
  const rest = [...deaths];
  const reached: (readonly string[])[] = [];
  let kills = 0;
  let role: "run" | "approve" = "run";
  try {
    for (let turn = 0; turn < MOST_PROCESSES; turn += 1) {
      const death = rest.shift() ?? null;
      const report = await live(pool, story, role, death);
      if (report === null) {
        kills += 1;
        continue;
      }
      reached.push(report.reached);
      if (report.state === "failed") throw new Error(`a process failed: ${report.message}`);
      if (report.state === "awaiting_approval") role = "approve";
      else if (report.state === "approved") role = "run";
      else if (!WAITING.has(report.state)) {
        return { ...(await verdictOn(story)), kills, reached };
      }
    }
    throw new Error(`the run has not ended after ${MOST_PROCESSES} processes`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function live(
  pool: Pool,
  story: Story,
  role: "run" | "approve",
  death: Death,
): Promise<Report | null> {
  const stop: Stop | null =
    death !== null && "at" in death ? { at: death.at, signal: "SIGKILL" } : null;
  const worker: Worker = await pool.start({ story, role, stop });
  const timer =
    death !== null && "afterMs" in death
      ? setTimeout(() => worker.process.kill("SIGKILL"), death.afterMs)
      : undefined;
  const { report } = await worker.ended;
  clearTimeout(timer);
  return report;
}
