/**
 * A process of a case: says `ready`, gets an order, does it as far as it goes, and reports. It may be killed anywhere,
 * by itself at a place of its order or by its parent at any time.
 */
import { assembleHost } from "../../../src/app/create-host.ts";
import { RoteError } from "../../../src/base/error.ts";
import { decision, KEYS } from "../host.ts";
import { commitPoints, pointsWith, type Stop } from "./points.ts";
import { driveOn, optionsFor, runAt, type Story } from "./story.ts";
import { openTarget } from "./target.ts";

export interface Order {
  readonly story: Story;
  /** `run`: start the run or go on with it. `approve`: answer every request that waits. */
  readonly role: "run" | "approve";
  readonly stop: Stop | null;
}

export interface Report {
  /** State of the run, `approved`, or `failed` with the code of what was thrown. */
  readonly state: string;
  readonly code: string | null;
  readonly message: string | null;
  readonly reached: readonly string[];
}

process.once("message", (order: Order) => {
  obey(order).then(
    (report) => process.send?.(report, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${String(error instanceof Error ? error.stack : error)}\n`);
      process.exit(1);
    },
  );
});
process.send?.("ready");

async function obey({ story, role, stop }: Order): Promise<Report> {
  const points = pointsWith(stop);
  const target = openTarget(story.target);
  try {
    const state = await (role === "run" ? run : approve)();
    return { state, code: null, message: null, reached: points.reached };
  } catch (error) {
    const code = error instanceof RoteError ? error.code : "not_ours";
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { state: "failed", code, message, reached: points.reached };
  } finally {
    target.close();
  }

  async function open() {
    return assembleHost(optionsFor(story, target, points), { around: commitPoints(points) });
  }

  async function run(): Promise<string> {
    const host = await open();
    const state = await driveOn(await runAt(host, story), host);
    await host.close();
    return state;
  }

  async function approve(): Promise<string> {
    const host = await open();
    for (const request of host.pendingRequests()) {
      const required = 1;
      const operations = request.operations.map(({ digest }) => digest);
      const { run, node, nonce, display, text, expires } = request;
      const asked = { run, node, audience: host.origin, nonce, operations, display, text, expires };
      await host.fileDecision(
        decision({ ...asked, required, replaces: null }, KEYS.alice, "alice"),
      );
    }
    await host.close();
    return "approved";
  }
}
