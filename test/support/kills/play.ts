/** Plays one case: processes that are killed again and again until the run has ended, then the verdict. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "../../../src/app/create-host.ts";
import { approveAll } from "./approve.ts";
import { type Order, obey, type Report } from "./obey.ts";
import { pointsWith } from "./points.ts";
import type { Pool } from "./processes.ts";
import { type Kind, optionsFor, type Shape, type Story, storyIn } from "./story.ts";
import { openTarget } from "./target.ts";
import { type Verdict, verdictOn } from "./verdict.ts";

/** How one process of a case dies: at a place it reaches, or after some time. Null: not at all. */
export type Death = { readonly at: number } | { readonly afterMs: number } | null;

export interface Case {
  readonly kind: Kind;
  readonly shape: Shape;
  /** One per process, in order; processes after the last are left alone. */
  readonly deaths: readonly Death[];
  /**
   * Who files the decision: a process of its own, which takes its turn in dying, while the run waits in no process; or
   * the parent, while the run's process waits.
   */
  readonly approver: "process" | "parent";
  /** True where those that are not to die are this process, which is there already. */
  readonly here?: boolean;
  /** A case that was played up to where the decision is filed: this one goes on from there. */
  readonly from?: Half;
}

export interface Half {
  readonly root: string;
  readonly story: Story;
  /** Reached on the way here. */
  readonly places: number;
}

export interface Played extends Verdict {
  readonly kills: number;
  /** Places reached by each process that was not killed. */
  readonly reached: readonly (readonly string[])[];
}

const MOST_PROCESSES = 60;

export async function play(pool: Pool, { kind, shape, deaths, approver, here, from }: Case) {
  const root = mkdtempSync(join(tmpdir(), "rote-kills-"));
  if (from !== undefined) cpSync(from.root, root, { recursive: true });
  const story = storyIn(root, kind, shape, from === undefined ? {} : documentsOf(from.story));
  const rest = [...deaths];
  const reached: (readonly string[])[] = [];
  const alone = approver === "process";
  let kills = 0;
  let role: Order["role"] = alone ? "run" : "wait";
  try {
    for (let turn = 0; turn < MOST_PROCESSES; turn += 1) {
      const death = rest.shift() ?? null;
      const report =
        here === true && death === null
          ? await liveHere(story, role)
          : await live(pool, story, role, death);
      if (report === null) {
        kills += 1;
        continue;
      }
      reached.push(report.reached);
      if (report.state === "broke") throw new Error(`a process broke: ${report.message}`);
      if (report.state === "awaiting_approval") role = "approve";
      else if (report.state === "approved") role = "run";
      else return { ...(await verdictOn(story)), kills, reached } satisfies Played;
    }
    throw new Error(`the run has not ended after ${MOST_PROCESSES} processes`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Signed once, with the time of signing in them: another signature is another document. */
function documentsOf({ trust, reviews }: Story): Partial<Story> {
  return { trust, reviews };
}

/** A case up to where the decision is filed, for many to go on from. The caller removes its root. */
export async function playedHalf(
  kind: Kind,
  shape: Shape,
  times: Partial<Story> = {},
): Promise<Half> {
  const root = mkdtempSync(join(tmpdir(), "rote-half-"));
  const story = storyIn(root, kind, shape, times);
  const report = await liveHere(story, "run");
  if (report.state !== "awaiting_approval") throw new Error(`it is ${report.state}`);
  await approveIn(story);
  return { root, story, places: report.reached.length };
}

/** In this process, to the end. */
export function liveHere(
  story: Story,
  role: Order["role"],
  more: Pick<Order, "aheadMs"> = {},
): Promise<Report> {
  return obey({ story, role, stop: null, ...more }, () => approveIn(story));
}

async function live(
  pool: Pool,
  story: Story,
  role: Order["role"],
  death: Death,
): Promise<Report | null> {
  const stop =
    death !== null && "at" in death ? { at: death.at, signal: "SIGKILL" as const } : null;
  const worker = await pool.start({ story, role, stop });
  let failure: unknown;
  worker.onWaiting(() => {
    approveIn(story).then(worker.goOn, (error: unknown) => {
      failure = error;
      worker.process.kill("SIGKILL");
    });
  });
  const timer =
    death !== null && "afterMs" in death
      ? setTimeout(() => worker.process.kill("SIGKILL"), death.afterMs)
      : undefined;
  const { report } = await worker.ended;
  clearTimeout(timer);
  if (failure !== undefined) throw new Error("the approval failed", { cause: failure });
  return report;
}

/** In this process, beside whatever the others do. */
export async function approveIn(story: Story): Promise<void> {
  const target = openTarget(story.target);
  const host = await createHost(optionsFor(story, target, pointsWith(null)));
  try {
    await approveAll(host);
  } finally {
    await host.close();
    target.close();
  }
}
