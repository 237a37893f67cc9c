/** What a process of a case does: a child that may be killed, or the parent that goes on in its place. */
import { assembleHost } from "../../../src/app/create-host.ts";
import { RoteError } from "../../../src/base/error.ts";
import type { Host } from "../../../src/host/index.ts";
import type { Run } from "../../../src/run/index.ts";
import { driveAgent } from "./agent.ts";
import { approveAll } from "./approve.ts";
import { commitPoints, pointsWith, type Stop } from "./points.ts";
import { clockAhead, driveOn, optionsFor, runAt, type Story } from "./story.ts";
import { openTarget } from "./target.ts";

export interface Order {
  readonly story: Story;
  /**
   * `run`: start the run or go on with it, as far as it goes alone. `wait`: the same, and where it waits for an approval,
   * wait with it for the parent's word. `approve`: answer every request that waits.
   */
  readonly role: "run" | "wait" | "approve";
  readonly stop: Stop | null;
  /** Milliseconds by which its clock is ahead of that of the others. */
  readonly aheadMs?: number;
}

export interface Report {
  /** State of the run, `approved`, or `broke` with the code of what was thrown. */
  readonly state: string;
  readonly code: string | null;
  readonly message: string | null;
  readonly reached: readonly string[];
}

/** Does what the order says, in this process. `toBeApproved` resolves when somebody has approved what waits. */
export async function obey(
  { story, role, stop, aheadMs = 0 }: Order,
  toBeApproved: () => Promise<void>,
): Promise<Report> {
  const points = pointsWith(stop);
  const target = openTarget(story.target);
  try {
    const state = await (role === "approve" ? approve() : run());
    return { state, code: null, message: null, reached: points.reached };
  } catch (error) {
    const code = error instanceof RoteError ? error.code : "not_ours";
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { state: "broke", code, message, reached: points.reached };
  } finally {
    target.close();
  }

  async function open() {
    const options = { ...optionsFor(story, target, points), clock: clockAhead(aheadMs) };
    return assembleHost(options, { around: commitPoints(points) });
  }

  async function run(): Promise<string> {
    const host = await open();
    const onward = onwardAt(host, story);
    let state = await onward();
    while (role === "wait" && state === "awaiting_approval") {
      await toBeApproved();
      state = await onward();
    }
    await host.close();
    return state;
  }

  async function approve(): Promise<string> {
    const host = await open();
    await approveAll(host);
    await host.close();
    return "approved";
  }
}

/** Takes the run on, as far as it goes alone, each time it is called. */
function onwardAt(host: Host, story: Story): () => Promise<string> {
  if (story.shape === "agent") return () => driveAgent(host, story);
  let run: Run | undefined;
  return async () => {
    run ??= await runAt(host, story);
    return driveOn(run, host);
  };
}
