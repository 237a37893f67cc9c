/**
 * Agent runs: that turns follow from each other, that every operation is one that the model asked for, with the tool and
 * the arguments that it asked with, and that the run ended as its reason says.
 */
import { type Digest, digestOf } from "../base/digest.ts";
import { readJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Operation } from "../model/operation.ts";
import { type Said, saidShape } from "./agent-bodies.ts";
import type { Bodies } from "./bodies.ts";
import { readCanonical, textOf } from "./canonical.ts";
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
  /** Digest of the last reply where it is an answer, else null; undefined when the reply cannot be read. */
  answer: Digest | null | undefined;
}

export function agentAudit({ tools }: Bodies["agent_started"]): AgentAudit {
  return { tools, step: 0, attempt: 0, asking: false, calls: new Map(), asked: 0, answer: null };
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
    Object.assign(agent, { step, attempt, asking: true, calls: new Map(), answer: null });
    return;
  }
  if (!agent.asking || step !== agent.step || attempt !== agent.attempt) {
    differs(`it answers turn ${step}.${attempt}, which is not open`);
  }
  agent.asking = false;
  if (type !== "agent_replied") return;
  const replied = body as Bodies["agent_replied"];
  const said = await saidIn(context, placed, replied);
  const calls = said?.calls ?? [];
  agent.calls =
    said === undefined
      ? undefined
      : new Map(calls.map((call, at) => [agent.asked + at, call] as const));
  agent.asked += calls.length;
  agent.answer = said === undefined ? undefined : answerIn(said, replied.stop);
}

/** A reply is an answer when it came to its end, asks for nothing and says something. */
function answerIn({ content, calls }: Said, stop: string): Digest | null {
  const whole = stop === "end" && calls.length === 0 && content.trim() !== "";
  return whole ? digestOf(TAGS.result, content) : null;
}

/** A run is completed by the model's answer and by nothing else, and has no other result. */
export function judgeAnswer(
  context: Context,
  { asking, answer }: AgentAudit,
  placed: Placed,
  { reason, result }: Bodies["run_ended"],
): void {
  const differs = (message: string) => report(context, placed, "run_end_differs", message);
  if (asking) differs("it ended while its model was being asked");
  if (reason !== "completed") {
    if (result !== null) differs(`it ended by ${reason}, and has a result`);
  } else if (answer === null) {
    differs("it is completed, and the last that its model said is no answer");
  } else if (answer !== undefined && answer !== result) {
    differs(`its model answered ${answer}, and its result is ${result ?? "none"}`);
  }
}

async function saidIn(
  context: Context,
  placed: Placed,
  { said, said_blob: blob }: Bodies["agent_replied"],
): Promise<Said | undefined> {
  if (said !== undefined) return said;
  const bytes = await context.blobs.read(blob ?? "", placeOf(placed), "what the model said");
  const json = bytes === undefined ? undefined : readCanonical(bytes);
  if (json?.ok === true && saidShape(json.value) === null) return json.value as JsonOf<Said>;
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
  const same = read.ok && textOf(read.value) === textOf(args);
  if (asked?.name !== tool.name || !same) {
    const what = asked === undefined ? "nothing" : `${asked.name} ${asked.arguments.slice(0, 200)}`;
    foreign(`call ${call} is of ${tool.name}, and the model asked for ${what}`);
  }
}
