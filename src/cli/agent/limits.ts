/** Limits of an agent as they are typed: `name=number`. */
import { nearest } from "../../base/text.ts";
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from "../../model/agent.ts";
import { usageFault } from "../fault.ts";
import { type OptionValues, textOptions } from "../spec.ts";

/** @throws RoteError `bad_usage` */
export function agentLimitsOf(options: OptionValues): Partial<AgentLimits> {
  const given = textOptions(options, "limit").map((text): readonly [string, number] => {
    const match = /^([a-z_]+)=(0|[1-9][0-9]{0,14})$/.exec(text);
    const [, name = "", number = ""] = match ?? [];
    if (match !== null && Object.hasOwn(DEFAULT_AGENT_LIMITS, name)) return [name, Number(number)];
    const names = Object.keys(DEFAULT_AGENT_LIMITS);
    const meant = name === "" || names.includes(name) ? undefined : nearest(name, names);
    throw usageFault(
      `--limit ${text} is no limit`,
      meant === undefined
        ? `write name=number, with one of ${names.join(", ")}`
        : `did you mean ${meant}?`,
    );
  });
  return Object.fromEntries(given);
}
