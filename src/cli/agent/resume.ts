import { NO_MODEL } from "../../app/agent-model.ts";
import { AgentRuntime } from "../../app/agent-runtime.ts";
import type { JsonValue } from "../../base/json.ts";
import { readJson } from "../../base/json.ts";
import { isAgentTerminal } from "../../model/agent-states.ts";
import { fault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../files.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import type { Terminal } from "../terminal.ts";
import { going } from "./going.ts";
import { agentModel } from "./model.ts";
import { agentOutcome } from "./told.ts";

/** Goes on with an agent's run, or says how it ended. */
export async function run(call: Call): Promise<Outcome> {
  const { options, terminal, json } = call;
  const [name = ""] = call.arguments;
  return await withHost(call, async (at) => {
    const stands = new AgentRuntime({ host: at.host, model: NO_MODEL }).result(name);
    if (isAgentTerminal(stands.state)) return agentOutcome(stands, at, terminal);
    const runtime = new AgentRuntime({ host: at.host, model: await agentModel(call) });
    const file = textOption(options, "approval");
    const approval = file === undefined ? undefined : await decisionIn(file, terminal);
    const wait = switchOption(options, "wait");
    const result = await going(runtime, at, { terminal, wait, tell: !json }, () =>
      runtime.resume(name, {
        signal: terminal.interrupted,
        ...(approval === undefined ? {} : { approval }),
      }),
    );
    return agentOutcome(result, at, terminal);
  });
}

async function decisionIn(file: string, terminal: Terminal): Promise<JsonValue> {
  const bytes = await readDocument(file, "decision", MAX_DOCUMENT_BYTES, terminal);
  const read = readJson(bytes);
  if (read.ok) return read.value;
  throw fault("bad_json", `decision ${file}: ${read.error.message}`);
}
