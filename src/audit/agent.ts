/**
 * Agent runs: that turns follow from each other and from what came before them, that every operation is one that the model
 * asked for and made once, that nothing was done behind a limit, and that the run ended as its reason says.
 */
import { type Digest, digestOf } from "../base/digest.ts";
import { TAGS } from "../base/tags.ts";
import { AGENT_VERSION } from "../model/agent.ts";
import type { Operation } from "../model/operation.ts";
import { type Said, saidShape } from "./agent-bodies.ts";
import {
  type AgentCount,
  agentCount,
  argumentsIn,
  type CountedCall,
  callNumbered,
  countAdmitted,
  countAsked,
  countMark,
  countReplied,
  countSettled,
  countTime,
  countUnanswered,
  endBatch,
  isUsable,
  type SettledCall,
} from "./agent-count.ts";
import { type Families, joinFamily } from "./agent-family.ts";
import { type Asking, addOutcomes, addSaid, begunAsking, requestNow } from "./agent-request.ts";
import { comingUp, type Due, dueOf, endingsOf, supports } from "./agent-rules.ts";
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
  /** Digest of the last reply where it is an answer, else null; undefined when the reply cannot be read. */
  answer: Digest | null | undefined;
  readonly count: AgentCount;
  readonly asks: Asking;
}

export async function agentAudit(
  context: Context,
  placed: Placed,
  start: Bodies["agent_started"],
  families: Families,
): Promise<AgentAudit> {
  const { tools, version } = start;
  const { family, fault } = joinFamily(families, start, placed.entry.chain);
  if (fault !== null) report(context, placed, "agent_family_differs", fault);
  const count = agentCount(start, family);
  if (version !== AGENT_VERSION) {
    const message = `version ${version} of the agent's rules, which this auditor does not know`;
    report(context, placed, "entry_unknown", message);
    count.unsure = true;
  }
  const asks = await begunAsking(context, placed, start);
  if (count.unsure) asks.conversation = undefined;
  return { tools, step: 0, attempt: 0, asking: false, calls: new Map(), answer: null, count, asks };
}

export function environmentOf({ environment }: Bodies["agent_started"]) {
  return digestOf(TAGS.environment, environment);
}

type AgentEntry =
  | "agent_asked"
  | "agent_replied"
  | "agent_unanswered"
  | "agent_marked"
  | "agent_paused"
  | "run_resumed";

export async function judgeTurn<Type extends AgentEntry>(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  type: Type,
  body: Bodies[Type],
): Promise<void> {
  const { count } = agent;
  if ("ms" in body) judgeTime(context, placed, body.ms, count.ms);
  switch (type) {
    case "run_resumed":
      // Whoever was asked by a process that has gone is heard of no more.
      if (agent.asking) countUnanswered(count, { kind: "stopped", retry: true }, null);
      agent.asking = false;
      endBatch(count);
      break;
    case "agent_asked":
      judgeAsked(context, agent, placed, body as Bodies["agent_asked"]);
      break;
    case "agent_marked":
      judgeMark(context, agent, placed, body as Bodies["agent_marked"]);
      break;
    case "agent_paused":
      countTime(count, (body as Bodies["agent_paused"]).ms);
      break;
    default:
      await judgeHeard(context, agent, placed, body as Bodies["agent_replied"]);
  }
  remember(count);
}

function judgeAsked(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  body: Bodies["agent_asked"],
): void {
  const { count } = agent;
  const { step, attempt } = body;
  const again = step === agent.step && attempt === agent.attempt + 1;
  const next = step === agent.step + 1 && attempt === 1;
  const due = dueOf(count);
  if (agent.asking || !(again || next)) {
    const open = agent.asking ? ", which is open" : "";
    differs(
      context,
      placed,
      `it asks turn ${step}.${attempt} behind ${agent.step}.${agent.attempt}${open}`,
    );
  } else if (due !== (again ? "again" : "turn") && !count.unsure && DUE[due] !== undefined) {
    differs(context, placed, `it asks turn ${step}.${attempt}, and ${DUE[due]}`);
  } else if (next && step > 1 && count.start.markers && !count.marked && due === "turn") {
    differs(context, placed, `turn ${agent.step} has no marker`);
  }
  judgeGoingOn(context, agent, placed);
  const request = requestNow(agent.asks, count);
  if (request !== undefined && request !== body.request) {
    const message = `what it asks with is ${request}, and it says ${body.request}`;
    report(context, placed, "agent_request_differs", message);
  }
  Object.assign(agent, { step, attempt, asking: true, calls: new Map(), answer: null });
  countAsked(count, body);
}

/** Behind an answer, and a reply that is of no use, nothing goes on at all. */
const DUE: { readonly [due in Due]?: string } = {
  turn: "the turn before it is done",
  again: "the turn before it has no reply",
  calls: "a call of the turn before it has no outcome",
};

/** Nothing is asked and nothing done behind what ends a run. */
function judgeGoingOn(context: Context, { count }: AgentAudit, placed: Placed): void {
  const [ending] = endingsOf(count);
  if (ending === undefined) return;
  const message = `it goes on with ${placed.entry.type} behind ${ending.reason}: ${ending.why}`;
  report(context, placed, "agent_went_on", message);
}

function judgeMark(
  context: Context,
  { count, step }: AgentAudit,
  placed: Placed,
  { step: marked, marker, ms }: Bodies["agent_marked"],
): void {
  if (!count.start.markers || count.marked || marked !== step) {
    differs(context, placed, `turn ${marked} has no marker to come`);
    countTime(count, ms);
  } else {
    countMark(count, marker, ms);
  }
}

async function judgeHeard(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  body: Bodies["agent_replied"] | Bodies["agent_unanswered"],
): Promise<void> {
  const { count } = agent;
  const { step, attempt } = body;
  if (!agent.asking || step !== agent.step || attempt !== agent.attempt) {
    differs(context, placed, `it answers turn ${step}.${attempt}, which is not open`);
  }
  agent.asking = false;
  if (!("usage" in body)) return countUnanswered(count, body, body.ms);
  const said = await saidIn(context, placed, body);
  const usable = said === undefined || isUsable(said, body.stop);
  const calls = usable ? (said?.calls ?? []) : [];
  const first = count.asked;
  countReplied(count, body, said);
  addSaid(agent.asks, usable ? said : undefined);
  await addOutcomes(context, placed, agent.asks, count);
  agent.calls = count.unread
    ? undefined
    : new Map(calls.map((call, at) => [first + at, call] as const));
  agent.answer = said === undefined ? undefined : answerIn(said, body.stop);
}

/** A reply is an answer when it came to its end, asks for nothing and says something. */
function answerIn({ content, calls }: Said, stop: string): Digest | null {
  const whole = stop === "end" && calls.length === 0 && content.trim() !== "";
  return whole ? digestOf(TAGS.result, content) : null;
}

/** A run is completed by the model's answer and by nothing else, and ends by what its entries show. */
export function judgeAnswer(
  context: Context,
  { asking, answer, count }: AgentAudit,
  placed: Placed,
  { reason, result, ms }: Bodies["run_ended"],
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
  judgeTime(context, placed, ms, count.ms);
  const [first] = endingsOf(count);
  const instead = reason === "completed" && first !== undefined && first.reason !== reason;
  // Up to its end it may have seen all that its family had written.
  remember(count);
  if (instead || !supports(count, reason, ms)) {
    const shown = first === undefined ? "nothing that ends it" : `${first.reason}: ${first.why}`;
    const message = `it ended by ${reason}, and its entries show ${shown}`;
    report(context, placed, "agent_end_unsupported", message);
  }
  countTime(count, ms);
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

/** The operation is a call that the model has asked for in the present turn, its turn now, and was not made before. */
export function judgeAdmitted(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  operation: Operation,
  ms: number,
): void {
  const { tool } = operation;
  const known = agent.tools.find(({ name }) => name === tool.name);
  if (known?.category !== tool.category || known.definition !== tool.definition) {
    const message = `${tool.name} as ${tool.category} is not among the tools that the run began with`;
    report(context, placed, "operation_foreign", message);
  }
  // Reads of one turn are admitted in any order.
  judgeTime(context, placed, ms, agent.count.counted);
  judgeAsking(context, agent, placed, operation);
  const call = judgeTurnOf(context, agent, placed, operation);
  if (call !== undefined) countAdmitted(agent.count, call, ms);
  remember(agent.count);
}

/** A person was asked about calls of the model, and about nothing else. */
export function judgeShown(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  operations: readonly Operation[],
): void {
  for (const operation of operations) judgeAsking(context, agent, placed, operation);
  const [first] = operations;
  if (first === undefined) return;
  const call = judgeTurnOf(context, agent, placed, first);
  if (call !== undefined) {
    call.shown = true;
    agent.count.back.add(call.number);
  }
  remember(agent.count);
}

/** What came of a call. Null for an operation that cannot be read. */
export async function judgeOutcome(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  operation: Operation | null,
  settled: SettledCall | undefined,
): Promise<void> {
  const { count } = agent;
  if (operation === null || settled === undefined) {
    count.unsure = true;
    agent.asks.conversation = undefined;
    return;
  }
  let call = callNumbered(count, operation.call);
  if (!settled.admitted) {
    judgeAsking(context, agent, placed, operation);
    call = judgeTurnOf(context, agent, placed, operation);
  }
  if (call !== undefined) countSettled(count, call, settled);
  await addOutcomes(context, placed, agent.asks, count);
  remember(count);
}

function judgeAsking(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  { node, index, call, tool, arguments: args }: Operation,
): void {
  const unasked = (message: string) => report(context, placed, "call_unasked", message);
  if (index !== null || call === null || node !== `step-${agent.step}`) {
    return unasked(`an agent in turn ${agent.step} has no operation ${node}/${call ?? ""}`);
  }
  if (agent.calls === undefined) return;
  const asked = agent.calls.get(call);
  const wanted = argumentsIn(asked?.arguments ?? "");
  const same = wanted !== undefined && textOf(wanted) === textOf(args);
  if (asked?.name !== tool.name || !same) {
    const what = asked === undefined ? "nothing" : `${asked.name} ${asked.arguments.slice(0, 200)}`;
    unasked(`call ${call} is of ${tool.name}, and the model asked for ${what}`);
  }
}

/** The call, if it may be made now for all that was made before. */
function judgeTurnOf(
  context: Context,
  agent: AgentAudit,
  placed: Placed,
  { call: number, attempt }: Operation,
): CountedCall | undefined {
  const { count } = agent;
  const call = callNumbered(count, number);
  if (call === undefined) return undefined;
  if (call.status !== "open" || attempt !== call.broken + 1) {
    const stands =
      call.status === "open" ? `attempt ${call.broken + 1} is next` : STANDS[call.status];
    report(context, placed, "call_repeated", `attempt ${attempt} of call ${number}: ${stands}`);
    return undefined;
  }
  if (count.batch.has(call.number) && !count.back.has(call.number)) {
    // One that waited for a person without a word may go on together with those that have come up since.
    const goesOn = call.shown && count.inFlight === 0 && endingsOf(count).length === 0;
    if (goesOn) count.batch = new Set([...count.batch, ...comingUp(count).numbers]);
    return call;
  }
  // Those that were under way have come back, so the run has looked at what it came to.
  judgeGoingOn(context, agent, placed);
  const { numbers, over } = comingUp(count);
  count.batch = numbers;
  count.back = new Set();
  if (numbers.has(call.number) || count.unsure) return call;
  if (over === null)
    differs(context, placed, `call ${number} was made before those in front of it`);
  else if (numbers.size > 0) {
    report(
      context,
      placed,
      "agent_went_on",
      `call ${number} is behind ${over.reason}: ${over.why}`,
    );
  }
  return call;
}

const STANDS = { in_flight: "it is under way", settled: "it has its outcome" };

/** What a run knows of its family is what was there when it last wrote something; the rest it may not have seen. */
function remember(count: AgentCount): void {
  count.known = { calls: count.family.calls, ms: count.family.ms };
}

/** What a run has worked only grows, whoever goes on with it. */
function judgeTime(context: Context, placed: Placed, ms: number, before: number): void {
  if (ms < before) differs(context, placed, `it had worked ${before} ms before, and ${ms} now`);
}

function differs(context: Context, placed: Placed, message: string): void {
  report(context, placed, "agent_turn_differs", message);
}
