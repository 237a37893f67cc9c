/** Limits of an agent as they are typed: `name=number`. */
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from "../../model/agent.ts";
import { meantHint, usageFault } from "../fault.ts";
import { type OptionValues, textOptions } from "../spec.ts";

/** @throws RoteError `bad_usage` */
export function agentLimitsOf(options: OptionValues): Partial<AgentLimits> {
  const given = textOptions(options, "limit").map((text): readonly [string, number] => {
    const match = /^([a-z_]+)=(0|[1-9][0-9]{0,14})$/.exec(text);
    const [, name = "", number = ""] = match ?? [];
    if (match !== null && Object.hasOwn(DEFAULT_AGENT_LIMITS, name)) return [name, Number(number)];
    const names = Object.keys(DEFAULT_AGENT_LIMITS);
    const form = `write name=number, with one of ${names.join(", ")}`;
    const hint = names.includes(name) ? form : meantHint(name, names, form);
    throw usageFault(`--limit ${text} is no limit`, hint);
  });
  return Object.fromEntries(given);
}
