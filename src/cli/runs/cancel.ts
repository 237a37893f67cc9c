import { resumeIn } from "../../app/journalled.ts";
import { recordOf } from "../../app/run-record.ts";
import { exitOf, isTerminal } from "../../model/stop.ts";
import { fault } from "../fault.ts";
import { withHost } from "../host.ts";
import { reportJson } from "../report-json.ts";
import type { Call, Outcome } from "../spec.ts";

/** Ends a run where it stands. What was done before is not undone. */
export async function run(call: Call): Promise<Outcome> {
  const [name = ""] = call.arguments;
  return await withHost(call, async ({ host }) => {
    const { state: before, reason: why } = recordOf(host, name);
    if (why !== null) {
      throw fault(
        "run_ended",
        `the run ${name} has ended as ${before} (${why}); nothing was changed`,
        "`rote runs show` tells what it did",
        { run: name, state: before, reason: why },
      );
    }
    const resumed = await resumeIn(host, name);
    try {
      // What was in flight may have turned out to be uncertain, and then that is how the run has ended.
      const state = isTerminal(resumed.state) ? resumed.state : await resumed.cancelAsync();
      const { report } = resumed;
      const cancelled = state === "cancelled";
      return {
        exit: cancelled ? "verified" : exitOf(state),
        json: { run: name, state, reason: report.reason, report: reportJson(report) },
        text: `${cancelled ? "ok" : "note"} ${name} is ${state} (${report.reason ?? ""})`,
      };
    } finally {
      await resumed.closeAsync();
    }
  });
}
