/**
 * Agent runs: that turns follow from each other, that every operation is one that the model asked for, with the tool and
 * the arguments that it asked with, and that the run ended as its reason says.
 */
import { digestOf } from "../base/digest.ts";
import { readJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Operation } from "../model/operation.ts";
import { type Said, saidShape } from "./agent-bodies.ts";
import type { Bodies } from "./bodies.ts";
import { bytesOf, readCanonical } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";

export interface AgentAudit {
  readonly tools: Bodies["agent_started"]["tools"];
  step: number;
  attempt: number;
  /** The model was asked, and nothing more is on record of that attempt. */
  asking: boolean;
  /** Calls of the present turn by their number; undefined when the reply cannot be read. */
  calls: ReadonlyMap<number, Said["calls"][number]> | undefined;
  asked: number;
}

export function agentAudit({ tools }: Bodies["agent_started"]): AgentAudit {
  return { tools, step: 0, attempt: 0, asking: false, calls: new Map(), asked: 0 };
}

export function environmentOf({ environment }: Bodies["agent_started"]) {
  return digestOf(TAGS.environment, environment);
}

type AgentEntry = "agent_asked" | "agent_replied" | "agent_unanswered" | "run_resumed";

export async function judgeTurn<Type extends AgentEntry>(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  body: Bodies[Type],
): Promise<void> {
  const { type } = placed.entry;
  const differs = (message: string) => report(context, placed, "agent_turn_differs", message);
  // Whoever was asked by a process that has gone is heard of no more.
  if (type === "run_resumed") {
    agent.asking = false;
    return;
  }
  const { step, attempt } = body as Bodies["agent_asked"];
  if (type === "agent_asked") {
    const again = step === agent.step && attempt === agent.attempt + 1;
    const next = step === agent.step + 1 && attempt === 1;
    if (agent.asking || !(again || next)) {
      const open = agent.asking ? ", which is open" : "";
      differs(`it asks turn ${step}.${attempt} behind ${agent.step}.${agent.attempt}${open}`);
    }
    Object.assign(agent, { step, attempt, asking: true, calls: new Map() });
    return;
  }
  if (!agent.asking || step !== agent.step || attempt !== agent.attempt) {
    differs(`it answers turn ${step}.${attempt}, which is not open`);
  }
  agent.asking = false;
  if (type !== "agent_replied") return;
  const said = await saidIn(context, placed, body as Bodies["agent_replied"]);
  const calls = said?.calls ?? [];
  agent.calls =
    said === undefined
      ? undefined
      : new Map(calls.map((call, at) => [agent.asked + at, call] as const));
  agent.asked += calls.length;
}

async function saidIn(
  context: Context,
  placed: Placed,
  { said, said_blob: blob }: Bodies["agent_replied"],
): Promise<Said | undefined> {
  if (said !== undefined) return said;
  const bytes = await context.blobs.read(blob ?? "", placeOf(placed), "what the model said");
  const json = bytes === undefined ? undefined : readCanonical(bytes);
  if (json?.ok === true && saidShape(json.value, "") === null) return json.value as JsonOf<Said>;
  if (bytes !== undefined) report(context, placed, "blob_differs", "it is not what a model says");
  return undefined;
}

type JsonOf<T> = T & Placed["entry"]["body"];

/** The operation is a call that the model has asked for in the present turn, and nothing else. */
export function judgeCall(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  { node, index, call, tool, arguments: args }: Operation,
): void {
  const foreign = (message: string) => report(context, placed, "operation_foreign", message);
  if (index !== null || call === null || node !== `step-${agent.step}`) {
    return foreign(`an agent in turn ${agent.step} has no operation ${node}/${call ?? ""}`);
  }
  const known = agent.tools.find(({ name }) => name === tool.name);
  if (known?.category !== tool.category || known.definition !== tool.definition) {
    foreign(`${tool.name} as ${tool.category} is not among the tools that the run began with`);
  }
  if (agent.calls === undefined) return;
  const asked = agent.calls.get(call);
  const read = readJson(asked?.arguments ?? "", { numbers: "finite" });
  const same = read.ok && Buffer.compare(bytesOf(read.value), bytesOf(args)) === 0;
  if (asked?.name !== tool.name || !same) {
    const what = asked === undefined ? "nothing" : `${asked.name} ${asked.arguments.slice(0, 200)}`;
    foreign(`call ${call} is of ${tool.name}, and the model asked for ${what}`);
  }
}
