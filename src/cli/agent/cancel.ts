import { NO_MODEL } from "../../app/agent-model.ts";
import { AgentRuntime } from "../../app/agent-runtime.ts";
import { exitOf, stateOf } from "../../model/stop.ts";
import { fault } from "../fault.ts";
import { withHost } from "../host.ts";
import type { Call, Outcome } from "../spec.ts";
import { reportJson } from "./told.ts";

/** Ends an agent's run where it stands. What was done before is not undone. */
export async function run(call: Call): Promise<Outcome> {
  const [name = ""] = call.arguments;
  return await withHost(call, async ({ host }) => {
    const runtime = new AgentRuntime({ host, model: NO_MODEL });
    const { state: before, reason: why } = runtime.result(name);
    if (why !== null) {
      throw fault(
        "run_ended",
        `the run ${name} has ended as ${before} (${why}); nothing was changed`,
        "`rote agent inspect` tells what it did",
        { run: name, state: before, reason: why },
      );
    }
    const result = await runtime.cancel(name);
    const { state, reason } = result;
    const cancelled = state === "cancelled";
    return {
      // What was in flight may have turned out to be uncertain, and then that is how the run has ended.
      exit: cancelled || reason === null ? "verified" : exitOf(stateOf(reason)),
      json: reportJson(result),
      text: `${cancelled ? "ok" : "note"} ${name} is ${state} (${reason ?? ""})`,
    };
  });
}
