/** Calls as a model asked for them: read strictly, never repaired. */
import { isJsonObject, readJson } from "../base/json.ts";
import { bounded } from "../host/index.ts";
import type { AgentStart } from "../model/agent.ts";
import type { ChatCall } from "../model/chat.ts";
import { actionFingerprint, observationFingerprint } from "./fingerprint.ts";
import type { CallState, Observation, Streak } from "./state.ts";

/** Of a name that is no tool's, as it is told. */
const NAME_LENGTH = 128;

const LIMITS = { numbers: "finite", maxBytes: 4 * 1024 * 1024 } as const;

export function callOf(start: AgentStart, number: number, { id, name, ...call }: ChatCall) {
  const tool = start.tools.find((one) => one.name === name);
  const read = readJson(call.arguments, LIMITS);
  const parsed = read.ok && isJsonObject(read.value) ? read.value : undefined;
  const unusable = (code: string, message: string): CallState => ({
    ...common,
    arguments: undefined,
    status: "settled",
    observation: errorObservation(code, message),
  });
  const common = {
    number,
    id,
    name,
    fingerprint: actionFingerprint(name, call.arguments, parsed),
    category: tool?.category ?? null,
    broken: 0,
    stop: null,
  };
  if (tool === undefined) {
    const names = start.tools.map((one) => one.name).join(", ");
    return unusable(
      "unknown_tool",
      `there is no tool ${JSON.stringify(bounded(name, NAME_LENGTH))}; there are: ${names}`,
    );
  }
  if (!read.ok)
    return unusable("bad_arguments", `the arguments are not JSON: ${read.error.message}`);
  if (parsed === undefined) return unusable("bad_arguments", "the arguments are not an object");
  return {
    ...common,
    arguments: parsed,
    status: "open",
    observation: null,
  } satisfies CallState;
}

/** Codes of calls that no tool could be called with. */
export const INVALID_CALLS: readonly string[] = [
  "unknown_tool",
  "bad_arguments",
  "tool_arguments_invalid",
];

export function errorObservation(code: string, message: string): Observation {
  return { content: { error: code, message }, error: true };
}

/** Identical calls in a row, this one included, that would be asked for behind `before`. */
export function streakWith(before: Streak, { fingerprint }: CallState): number {
  return before.fingerprint === fingerprint ? before.count + 1 : 1;
}

/** After a call is settled. A poll whose answer has changed has done something new. */
export function streakAfter(start: AgentStart, before: Streak, call: CallState): Streak {
  const { fingerprint, name, observation } = call;
  const seen = observation === null ? null : observationFingerprint(name, observation.content);
  const poll = start.tools.some((tool) => tool.name === name && tool.poll);
  const changed = poll && before.fingerprint === fingerprint && before.observation !== seen;
  return {
    fingerprint,
    count: changed ? 1 : streakWith(before, call),
    observation: seen,
  };
}
