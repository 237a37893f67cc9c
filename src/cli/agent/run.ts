import { AgentRuntime } from "../../app/agent-runtime.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, switchOption, textOption, textOptions } from "../spec.ts";
import { going } from "./going.ts";
import { agentLimitsOf } from "./limits.ts";
import { agentModel } from "./model.ts";
import { agentOutcome } from "./told.ts";

/** Begins an agent's run and takes it as far as it goes. */
export async function run(call: Call): Promise<Outcome> {
  const { options, terminal, json } = call;
  const [goal = ""] = call.arguments;
  const limits = agentLimitsOf(options);
  const tools = textOptions(options, "tool");
  const polls = textOptions(options, "poll");
  const instructions = textOption(options, "instructions");
  const parent = textOption(options, "parent");
  const model = await agentModel(call);
  return await withHost(call, async (at) => {
    const runtime = new AgentRuntime({ host: at.host, model });
    const wait = switchOption(options, "wait");
    const result = await going(runtime, at, { terminal, wait, tell: !json }, () =>
      runtime.run(goal, {
        limits,
        polls,
        stopOn: switchOption(options, "tell") ? [] : ["refused"],
        signal: terminal.interrupted,
        onStart: (id) => terminal.note(`run ${id}\n`),
        ...(tools.length === 0 ? {} : { tools }),
        ...(instructions === undefined ? {} : { instructions }),
        ...(parent === undefined ? {} : { parent }),
      }),
    );
    return agentOutcome(result, at, terminal);
  });
}
