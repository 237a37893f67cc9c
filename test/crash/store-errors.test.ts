/** A store that fails at one call, whichever: the process stops using it, and what is there is sound for the next. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assembleHost, type HostSeams } from "../../src/app/create-host.ts";
import { type Host, partsOf } from "../../src/host/index.ts";
import { systemClock } from "../../src/os/clock.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { driveAgent } from "../support/kills/agent.ts";
import { approveAll } from "../support/kills/approve.ts";
import { type FaultPlan, faultsWith } from "../support/kills/faults.ts";
import { pointsWith } from "../support/kills/points.ts";
import {
  clockAhead,
  driveOn,
  KINDS,
  type Kind,
  optionsFor,
  procedureAt,
  runAt,
  SHAPES,
  type Story,
  storyIn,
} from "../support/kills/story.ts";
import { openTarget, type Target } from "../support/kills/target.ts";
import { verdictOn } from "../support/kills/verdict.ts";

/** This process is alive, so its leases must run out by time. */
const LATER_MS = 60_000;

async function told(story: Story, target: Target, seams: HostSeams, clock: Clock): Promise<string> {
  const options = { ...optionsFor(story, target, pointsWith(null)), clock };
  const host = await assembleHost(options, seams);
  try {
    const forward = await driverAt(host, story);
    const state = await forward();
    if (state !== "awaiting_approval") return state;
    await approveAll(host);
    return await forward();
  } finally {
    await host.close();
  }
}

async function driverAt(host: Host, story: Story): Promise<() => Promise<string>> {
  if (story.shape === "agent") return () => driveAgent(host, story);
  const run = await runAt(host, story);
  return () => driveOn(run, host);
}

async function playFaulty(kind: Kind, shape: (typeof SHAPES)[number], plan: FaultPlan) {
  const root = mkdtempSync(join(tmpdir(), "rote-faults-"));
  const story = storyIn(root, kind, shape);
  const target = openTarget(story.target);
  const faults = faultsWith(plan);
  try {
    await told(story, target, { around: faults.around }, systemClock).catch(() => "broke");
    await told(story, target, {}, clockAhead(LATER_MS));
    return { ...(await verdictOn(story)), calls: faults.calls(), failed: faults.failed() };
  } finally {
    target.close();
    rmSync(root, { recursive: true, force: true });
  }
}

describe("a store that fails", () => {
  it("leaves a sound record at every call at which it can, before and after the call took effect", async () => {
    const whole = await playFaulty("fenced", "two", { at: null, when: "before" });
    expect(whole).toMatchObject({ repeated: 0, lost: 0, faults: [], state: "verified" });
    // Every third call, at another offset for each kind, so that neighbours take turns.
    for (let at = 1; at <= whole.calls; at += 3) {
      const turn = Math.floor(at / 3);
      const kind = KINDS[turn % KINDS.length] ?? "plain";
      const shape = SHAPES[turn % SHAPES.length] ?? "two";
      const when = turn % 2 === 0 ? "before" : "after";
      const { repeated, lost, faults, failed } = await playFaulty(kind, shape, { at, when });
      const where = `${kind} ${shape} ${at} ${when}`;
      expect({ where, repeated, lost, faults }).toEqual({
        where,
        repeated: 0,
        lost: 0,
        faults: [],
      });
      expect(failed, where).toBe(true);
    }
  });

  it("is not used again by the process that saw it fail", async () => {
    const root = mkdtempSync(join(tmpdir(), "rote-faults-"));
    const story = storyIn(root, "plain", "two");
    const target = openTarget(story.target);
    let broken = false;
    const seams: HostSeams = {
      around: (tables) => ({
        ...tables,
        write<T>(work: () => T): T {
          const made = tables.write(work);
          if (broken) throw new Error("the disk is gone");
          return made;
        },
      }),
    };
    try {
      const host = await assembleHost(optionsFor(story, target, pointsWith(null)), seams);
      const run = await runAt(host, story);
      expect(await driveOn(run, host)).toBe("awaiting_approval");
      await approveAll(host);
      broken = true;
      const failure = { code: "journal_failed" };
      // The commit was made and its acknowledgement lost: what was to be dispatched after it is not.
      await expect(run.advanceAsync(host)).rejects.toMatchObject(failure);
      broken = false;
      await expect(run.advanceAsync(host)).rejects.toMatchObject(failure);
      await expect(procedureAt(host, story).resume(host, run.id)).rejects.toMatchObject(failure);
      await expect(partsOf(host).journal.claim("run-other")).rejects.toMatchObject(failure);
      expect(target.rows()).toEqual([]);
      await host.close();
    } finally {
      target.close();
      rmSync(root, { recursive: true, force: true });
    }
  });
});
