/**
 * Processes that are stopped, overtaken, and wake up again: at every place but inside of a transaction, where they hold
 * the store and nobody can overtake them.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Half, liveHere, play, playedHalf } from "../support/kills/play.ts";
import { openPool, type Pool } from "../support/kills/processes.ts";
import { KINDS, SHAPES, type Story } from "../support/kills/story.ts";
import { verdictOn } from "../support/kills/verdict.ts";

/** Later than any lease, with the time of a call that holds its run besides; and no clock that is far ahead. */
const LATER = { aheadMs: 45_000 };
/** Leases that nobody outlives, however long a process takes to start. */
const LONG = { leaseMs: 3_600_000 };

let pool: Pool;
const halves: Half[] = [];
const directories: string[] = [];

beforeAll(() => {
  pool = openPool(1);
});

afterAll(() => {
  pool.close();
  for (const { root } of halves) rmSync(root, { recursive: true, force: true });
  for (const root of directories) rmSync(root, { recursive: true, force: true });
});

function copyOf(half: Half): Story {
  const root = mkdtempSync(join(tmpdir(), "rote-pauses-"));
  directories.push(root);
  cpSync(half.root, root, { recursive: true });
  const { story } = half;
  return { ...story, directory: join(root, "store"), target: join(root, "target.sqlite") };
}

describe("a process that is stopped and overtaken", () => {
  it("writes and dispatches nothing more by itself when it wakes up, wherever it was (B052)", async () => {
    const codes = new Set<string | null>();
    let overtaken = 0;
    for (const [index, kind] of KINDS.entries()) {
      const shape = SHAPES[index % SHAPES.length] ?? "two";
      const half = await playedHalf(kind, shape);
      halves.push(half);
      const whole = await play(pool, {
        kind,
        shape,
        deaths: [],
        approver: "process",
        here: true,
        from: half,
      });
      const places = whole.reached[0] ?? [];
      for (const [before, place] of places.entries()) {
        // Each place once over the three kinds.
        if (place === "commit:inside" || before % KINDS.length !== index) continue;
        const story = copyOf(half);
        const at = before + 1;
        const first = await pool.start({ story, role: "run", stop: { at, signal: "SIGSTOP" } });
        await first.stopping;
        const overtaker = await liveHere(story, "run", LATER);
        first.wake();
        const late = await first.ended;
        const verdict = await verdictOn(story);
        const where = `${kind} ${shape} ${at} ${place}`;
        const { repeated, lost, faults } = verdict;
        expect({ where, repeated, lost, faults }).toEqual({
          where,
          repeated: 0,
          lost: 0,
          faults: [],
        });
        expect(overtaker.state, where).not.toBe("broke");
        if (late.report?.state === "broke") {
          overtaken += 1;
          codes.add(late.report.code);
        }
      }
    }
    // What it finds out is always the same: that the run is not its own any more.
    expect([...codes]).toEqual(["lease_lost"]);
    expect(overtaken).toBeGreaterThan(10);
  });

  it("does not dispatch after a probe has said that it did not: the target refuses it", async () => {
    const half = await playedHalf("fenced", "two");
    halves.push(half);
    const story = copyOf(half);
    const whole = await play(pool, {
      kind: "fenced",
      shape: "two",
      deaths: [],
      approver: "process",
      here: true,
      from: half,
    });
    const at = (whole.reached[0]?.indexOf("dispatch:begin") ?? -1) + 1;
    expect(at).toBeGreaterThan(0);
    const first = await pool.start({ story, role: "run", stop: { at, signal: "SIGSTOP" } });
    await first.stopping;
    const overtaker = await liveHere(story, "run", LATER);
    expect(overtaker.state).toBe("failed");
    first.wake();
    expect((await first.ended).report).toMatchObject({ state: "broke", code: "lease_lost" });
    expect(await verdictOn(story)).toMatchObject({
      repeated: 0,
      lost: 0,
      state: "failed",
      outcomes: ["failed_before_effect"],
    });
  });
});

describe("two processes at one run", () => {
  it("one goes on, the other is told who has it (B004)", async () => {
    const half = await playedHalf("plain", "two", LONG);
    halves.push(half);
    const story = copyOf(half);
    const first = await pool.start({ story, role: "run", stop: { at: 13, signal: "SIGSTOP" } });
    await first.stopping;
    const second = await pool.start({ story, role: "run", stop: null });
    const refused = (await second.ended).report;
    expect(refused).toMatchObject({ state: "broke", code: "run_busy" });
    expect(refused?.message).toContain(`process ${first.process.pid} on `);
    first.wake();
    expect((await first.ended).report?.state).toBe("verified");
    expect(await verdictOn(story)).toMatchObject({ repeated: 0, lost: 0, state: "verified" });
  });

  it("that ask for it in the same moment: it is done once, and who came too late finds it done or held (B055)", async () => {
    const half = await playedHalf("asked", "each", LONG);
    halves.push(half);
    for (let round = 0; round < 6; round += 1) {
      const story = copyOf(half);
      const both = await Promise.all([
        pool.start({ story, role: "run", stop: null }),
        pool.start({ story, role: "run", stop: null }),
      ]);
      const reports = await Promise.all(both.map(async ({ ended }) => (await ended).report));
      const states = reports.map((report) => report?.code ?? report?.state).sort();
      expect(["run_busy,verified", "verified,verified"]).toContain(states.join());
      expect(await verdictOn(story)).toMatchObject({ repeated: 0, lost: 0, state: "verified" });
    }
  });
});
