import { NO_MODEL } from "../../app/agent-model.ts";
import { AgentRuntime } from "../../app/agent-runtime.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { count } from "../table.ts";

/** Goes through a run once more from its record: nothing is called, nothing is written. */
export async function run(call: Call): Promise<Outcome> {
  const [name = ""] = call.arguments;
  const goal = textOption(call.options, "goal");
  return await withHost(call, async ({ host }) => {
    const runtime = new AgentRuntime({ host, model: NO_MODEL });
    const { report, replies, results, ended } = runtime.replay(
      name,
      goal === undefined ? {} : { goal },
    );
    const { state, reason, output, steps, tool_calls } = report;
    return {
      exit: "verified",
      json: { run: name, state, reason, output, steps, tool_calls, replies, results, ended },
      text: [
        `ok ${name} replays to ${state}${reason === null ? "" : ` (${reason})`}`,
        `found   ${count(replies, "reply", "replies")} and ${count(results, "result")} on record; no model and no tool was called`,
        ...(ended ? [] : ["note    the run has not ended; it was replayed as far as it went"]),
        ...(output === null ? [] : [`answer  ${output}`]),
      ].join("\n"),
    };
  });
}
