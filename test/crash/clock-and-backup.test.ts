/** A clock that goes back, and a store that was put back from a backup. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHost } from "../../src/app/create-host.ts";
import type { Host } from "../../src/host/index.ts";
import { systemClock } from "../../src/os/clock.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { approveAll } from "../support/kills/approve.ts";
import { pointsWith } from "../support/kills/points.ts";
import {
  clockAhead,
  driveOn,
  optionsFor,
  runAt,
  type Story,
  storyIn,
} from "../support/kills/story.ts";
import { openTarget, type Target } from "../support/kills/target.ts";
import { verdictOn } from "../support/kills/verdict.ts";

const HOUR = 3_600_000;

let root: string;
let story: Story;
let target: Target;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rote-clock-"));
  story = storyIn(root, "fenced", "two");
  target = openTarget(story.target);
});

afterEach(() => {
  target.close();
  rmSync(root, { recursive: true, force: true });
});

function hostAt(clock: Clock = systemClock): Promise<Host> {
  return createHost({ ...optionsFor(story, target, pointsWith(null)), clock });
}

async function waitingRun(): Promise<void> {
  const host = await hostAt();
  const run = await runAt(host, story);
  expect(await driveOn(run, host)).toBe("awaiting_approval");
  await approveAll(host);
  await run.closeAsync();
  await host.close();
}

describe("a clock that went back", () => {
  it("by two hours: nothing is admitted, since nothing that expires could be judged", async () => {
    await (await hostAt()).close();
    const host = await hostAt(clockAhead(-2 * HOUR));
    const run = await runAt(host, story);
    expect(await driveOn(run, host)).toBe("denied");
    expect(run.report.failure).toMatchObject({ reason: "security_denied", code: "clock_behind" });
    await host.close();
  });

  it("by half a minute: time in the record stands still, and the work is done once", async () => {
    await waitingRun();
    const host = await hostAt(clockAhead(-30_000));
    expect(await driveOn(await runAt(host, story), host)).toBe("verified");
    await host.close();
    expect(await verdictOn(story)).toMatchObject({ repeated: 0, lost: 0, faults: [] });
  });
});

describe("a store from a backup", () => {
  it("is refused beside tree heads that it does not know, and nothing is done a second time (B021)", async () => {
    await waitingRun();
    cpSync(story.directory, join(root, "backup"), { recursive: true });
    const host = await hostAt();
    expect(await driveOn(await runAt(host, story), host)).toBe("verified");
    await host.close();
    const done = target.rows();
    expect(done).toHaveLength(2);

    const heads = readFileSync(join(story.directory, "heads.txt"));
    rmSync(story.directory, { recursive: true });
    cpSync(join(root, "backup"), story.directory, { recursive: true });
    writeFileSync(join(story.directory, "heads.txt"), heads);
    await expect(hostAt()).rejects.toMatchObject({ code: "restored_backup" });
    expect(target.rows()).toEqual(done);
  });

  it("that lost its end only, with the log of writes, is refused as well", async () => {
    await waitingRun();
    const database = join(story.directory, "procedures.sqlite");
    const before = readFileSync(database);
    const host = await hostAt();
    expect(await driveOn(await runAt(host, story), host)).toBe("verified");
    await host.close();
    expect(existsSync(`${database}-wal`)).toBe(false);
    writeFileSync(database, before);
    await expect(hostAt()).rejects.toMatchObject({ code: "restored_backup" });
  });
});
