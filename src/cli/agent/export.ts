import { NO_MODEL } from "../../app/agent-model.ts";
import { AgentRuntime } from "../../app/agent-runtime.ts";
import type { JsonValue } from "../../base/json.ts";
import { writeDocument } from "../files.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import { count } from "../table.ts";
import { jsonText } from "../terminal.ts";

/** A run as a transcript: one JSON object on one line, as learning reads them. */
export async function run(call: Call): Promise<Outcome> {
  const { options, terminal, json } = call;
  const [name = ""] = call.arguments;
  return await withHost(call, async ({ host }) => {
    const transcript = new AgentRuntime({ host, model: NO_MODEL }).export(name);
    const line = `${jsonText(transcript)}\n`;
    const file = textOption(options, "out");
    // What the store keeps from others is kept from them here as well.
    if (file !== undefined) writeDocument(file, line, switchOption(options, "force"), 0o600);
    else if (!json) terminal.data(line);
    const calls = transcript.tool_calls.length;
    return {
      exit: "verified",
      json:
        file === undefined
          ? { transcript: JSON.parse(line) as JsonValue }
          : { run: name, out: file, tool_calls: calls },
      text: file === undefined ? "" : `ok ${file}: ${count(calls, "tool call")} of ${name}`,
    };
  });
}
