/**
 * What the entries of an agent's run come to, counted by the auditor alone: turns, tokens, time, calls, and what of them
 * was repeated, failed or brought something new. Nothing is reported here.
 *
 * - N1 Calls count in the order in which the model asked for them, whichever came to its end first.
 * - N2 What cannot be read (a blob that is missing) makes the count unsure, and then nothing is concluded from it.
 */
import { canonicalText } from "../base/canonical.ts";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { shortened } from "../base/text.ts";
import { GATE_CODES, type GateCode, type Outcome } from "../model/operation.ts";
import type { StopReason } from "../model/stop.ts";
import type { Said } from "./agent-bodies.ts";
import { type Family, spend, type Tokens } from "./agent-family.ts";
import type { Bodies } from "./bodies.ts";
import { createSeen, type Seen } from "./seen.ts";

type Start = Bodies["agent_started"];

export interface AgentCount {
  readonly start: Start;
  readonly family: Family;
  /** Something that the rest depends on could not be read. */
  unsure: boolean;
  /** What the model said once could not be read: from then on nobody knows the numbers of calls. */
  unread: boolean;
  step: number;
  /** What the model said in its present turn; null before it did. */
  said: "calls" | "answer" | "unusable" | null;
  /** Attempts of the turn that failed by themselves, and the last fault. */
  failed: number;
  fault: { readonly kind: string; readonly retry: boolean } | null;
  /** Charged so far. */
  readonly tokens: Tokens;
  /** Active milliseconds, and how many of them the family has. */
  ms: number;
  counted: number;
  /** Calls of all turns so far: the number of the next one. */
  asked: number;
  /** What this run must have known of its family when it last wrote something. */
  known: { readonly calls: number; readonly ms: number };
  /** Calls of the present turn, in the model's order, and how many of them are settled with all before them. */
  calls: CountedCall[];
  settled: number;
  /** Numbers of the calls that are under way together, and of those the ones that have come back. */
  batch: ReadonlySet<number>;
  back: Set<number>;
  /** How many calls are admitted and have no receipt. */
  inFlight: number;
  /** The call that ends the run: one that is uncertain before any other, then the first in the model's order. */
  ending: CountedCall | null;
  streak: { readonly action: string | null; readonly times: number; readonly seen: string | null };
  errors: number;
  /** Turns in a row that brought nothing new. */
  quiet: number;
  marker: string | null;
  marked: boolean;
  readonly seen: Seen;
}

export interface CountedCall {
  readonly number: number;
  readonly id: string;
  readonly name: string;
  /** Tool and arguments, however they were spelled. */
  readonly action: string;
  readonly category: string | null;
  status: "open" | "in_flight" | "settled";
  /** A person was asked about it. */
  shown: boolean;
  broken: number;
  came: Came | null;
  /** Why the run ends by it. */
  stop: StopReason | null;
}

interface Came {
  /** Of an error; null for a result. */
  readonly code: string | null;
  /** What the model was told, for comparing. */
  readonly seen: string;
  /** The same in full, until it is in the conversation; undefined when it is unknown. */
  told: Told;
}

/** What a model is told of a call: as it stands in the entry, or as the blob that the entry names. */
export type Told = { readonly content: JsonValue } | { readonly blob: string } | undefined;

export function agentCount(start: Start, family: Family): AgentCount {
  return {
    start,
    family,
    unsure: false,
    unread: false,
    step: 0,
    said: null,
    failed: 0,
    fault: null,
    tokens: { input: 0, output: 0, total: 0 },
    ms: 0,
    counted: 0,
    asked: 0,
    known: { calls: family.calls, ms: family.ms },
    calls: [],
    settled: 0,
    batch: new Set(),
    back: new Set(),
    inFlight: 0,
    ending: null,
    streak: { action: null, times: 0, seen: null },
    errors: 0,
    quiet: 0,
    marker: null,
    marked: true,
    seen: createSeen(),
  };
}

export function countAsked(count: AgentCount, { step, attempt, ms }: Bodies["agent_asked"]): void {
  const { reserve_tokens: reserve } = count.start.limits;
  if (attempt === 1) {
    Object.assign(count, { said: null, failed: 0, fault: null });
    Object.assign(count, { calls: [], settled: 0, inFlight: 0, ending: null });
    count.family.steps += 1;
  }
  count.step = step;
  spend(count.family.tokens, { input: reserve, output: reserve, total: reserve });
  countTime(count, ms);
}

/** `said` undefined when what the model said cannot be read. */
export function countReplied(
  count: AgentCount,
  { usage, stop, ms }: Bodies["agent_replied"],
  said: Said | undefined,
): void {
  const { reserve_tokens: reserve } = count.start.limits;
  const { input_tokens: input, output_tokens: output } = usage;
  const known = (input ?? 0) + (output ?? 0);
  charge(count, {
    input: input ?? reserve,
    output: output ?? reserve,
    total: input === null || output === null ? known + reserve : known,
  });
  countTime(count, ms);
  endBatch(count);
  if (said === undefined) {
    count.unsure = true;
    count.unread = true;
    return;
  }
  count.family.calls += said.calls.length;
  if (!isUsable(said, stop)) {
    count.said = "unusable";
    return;
  }
  count.said = said.calls.length > 0 ? "calls" : "answer";
  count.marked = false;
  count.calls = said.calls.map((call, at) => countedCall(count, count.asked + at, call));
  count.asked += said.calls.length;
  for (const call of count.calls) noteEnding(count, call);
  advance(count);
}

/** A reply that was cut off, filtered or is empty: nothing of it is done. */
export function isUsable({ content, calls }: Said, stop: string): boolean {
  if (stop === "calls") return calls.length > 0;
  return stop === "end" && (calls.length > 0 || content.trim() !== "");
}

/** An attempt that had no reply, or of which nothing was heard when its process had gone. */
export function countUnanswered(
  count: AgentCount,
  fault: { readonly kind: string; readonly retry: boolean },
  ms: number | null,
): void {
  const { reserve_tokens: reserve } = count.start.limits;
  const worked = !["rate_limited", "unavailable", "refused"].includes(fault.kind);
  const used = worked ? reserve : 0;
  const lost = { input: used, output: used, total: used };
  // What a process that has gone had set aside stays with its family.
  if (ms !== null) charge(count, lost);
  else spend(count.tokens, lost);
  count.failed += ms === null || fault.kind !== "stopped" ? 1 : 0;
  count.fault = fault;
  if (ms !== null) countTime(count, ms);
}

function charge(count: AgentCount, used: Tokens): void {
  const { reserve_tokens: reserve } = count.start.limits;
  spend(count.tokens, used);
  spend(count.family.tokens, {
    input: used.input - reserve,
    output: used.output - reserve,
    total: used.total - reserve,
  });
}

/** Time that stands in an entry of the run's own. */
export function countTime(count: AgentCount, ms: number): void {
  count.family.ms += ms - count.counted;
  count.counted = ms;
  count.ms = ms;
}

export function countMark(count: AgentCount, marker: string, ms: number): void {
  countTime(count, ms);
  if (marker === count.marker) count.quiet += 1;
  else count.quiet = 0;
  count.marker = marker;
  count.marked = true;
}

/** Nobody is at work any more: whoever goes on begins with what stands. */
export function endBatch(count: AgentCount): void {
  count.batch = new Set();
  count.back = new Set();
}

/** The gate's entries tell the time, too; calls of one turn are admitted in any order. */
export function countAdmitted(count: AgentCount, call: CountedCall, ms: number): void {
  count.ms = Math.max(count.ms, ms);
  count.inFlight += 1;
  call.status = "in_flight";
}

export interface SettledCall {
  readonly admitted: boolean;
  readonly outcome: Outcome;
  /** Bare digest of the result; null when there is none, undefined when it cannot be read. */
  readonly result: string | null | undefined;
  /** The result itself, or the blob that it is kept as. */
  readonly kept: Told;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly final: boolean;
}

export function countSettled(count: AgentCount, call: CountedCall, given: SettledCall): void {
  const { admitted, outcome, result, kept, refusal, final } = given;
  if (call.status === "in_flight") count.inFlight -= 1;
  if (!final) {
    call.broken += 1;
    call.status = "open";
    return;
  }
  call.status = "settled";
  count.back.add(call.number);
  if (outcome === "done") {
    if (result === undefined) count.unsure = true;
    call.came = { code: null, seen: `=${result ?? ""}`, told: result == null ? undefined : kept };
  } else {
    const { code, message } = refusal ?? { code: outcome, message: outcome };
    call.came = { code, seen: `!${code}\n${message}`, told: errorOf(code, message) };
    call.stop = outcome === "uncertain" ? "uncertain_operation" : stopBy(count, admitted, code);
    noteEnding(count, call);
  }
  advance(count);
}

function noteEnding(count: AgentCount, call: CountedCall): void {
  if (call.stop === null) return;
  const { ending } = count;
  const [mine, other] = [call.stop, ending?.stop].map((stop) => stop === "uncertain_operation");
  const first = ending === null || (mine === other ? call.number < ending.number : mine);
  if (first) count.ending = call;
}

/** A call of the present turn. */
export function callNumbered(
  { calls, unread }: AgentCount,
  number: number | null,
): CountedCall | undefined {
  const [first] = calls;
  if (unread || first === undefined || number === null) return undefined;
  return calls[number - first.number];
}

function countedCall(
  { start }: AgentCount,
  number: number,
  { id, name, arguments: text }: Said["calls"][number],
): CountedCall {
  const tool = start.tools.find((one) => one.name === name);
  const args = argumentsIn(text);
  const action = `${name}\n${args === undefined ? `?${text}` : `=${canonicalText(args)}`}`;
  const common = {
    number,
    id,
    name,
    action,
    category: tool?.category ?? null,
    broken: 0,
    shown: false,
  };
  if (tool !== undefined && args !== undefined) {
    return { ...common, status: "open", came: null, stop: null };
  }
  const stop = start.stop_on.includes("invalid_call") ? "invalid_model_response" : null;
  const code = tool === undefined ? "unknown_tool" : "bad_arguments";
  const told = invalidCall(start, name, text);
  return { ...common, status: "settled", came: { code, seen: `!${code}`, told }, stop };
}

function errorOf(error: string, message: string): Told {
  return { content: { error, message } };
}

/** What the model is told of a name that is no tool's, and of arguments that no tool can be called with. */
function invalidCall({ tools }: Start, name: string, text: string): Told {
  if (!tools.some((one) => one.name === name)) {
    const names = tools.map((one) => one.name).join(", ");
    const called = JSON.stringify(shortened(name, NAME_LENGTH));
    return errorOf("unknown_tool", `there is no tool ${called}; there are: ${names}`);
  }
  const read = readJson(text, ARGUMENTS);
  const why = read.ok ? "an object" : `JSON: ${read.error.message}`;
  return errorOf("bad_arguments", `the arguments are not ${why}`);
}

const NAME_LENGTH = 128;
const ARGUMENTS = { numbers: "finite", maxBytes: 4 * 1024 * 1024 } as const;

/** What the model asked with, read as strictly as a host reads it; undefined when no tool can be called with it. */
export function argumentsIn(text: string): JsonValue | undefined {
  const read = readJson(text, ARGUMENTS);
  return read.ok && isJsonObject(read.value) ? read.value : undefined;
}

/** Refusals that are about the one call; after any other, no further call can be expected to pass. */
const ABOUT_ONE: readonly string[] = [
  "intent_not_covered",
  "warrant_not_covered",
  "policy_denied",
  "security_denied",
  "approval_rejected",
  "approval_expired",
  "duplicate_key",
] satisfies readonly GateCode[];

/** What a host says itself of an operation that somebody told it to break off. */
const BROKEN_OFF = "cancelled";

function stopBy({ start }: AgentCount, admitted: boolean, code: string): StopReason | null {
  const stops = (what: string) => start.stop_on.includes(what);
  if (["unknown_tool", "bad_arguments", "tool_arguments_invalid"].includes(code)) {
    return stops("invalid_call") ? "invalid_model_response" : null;
  }
  if (admitted) return code !== BROKEN_OFF && stops("tool_error") ? "tool_error" : null;
  if (!stops("refused") && ABOUT_ONE.includes(code)) return null;
  return isGateCode(code) ? GATE_CODES[code] : "internal_error";
}

function isGateCode(code: string): code is GateCode {
  return Object.hasOwn(GATE_CODES, code);
}

/** Takes in what is settled with all before it, and ends the turn behind the last call. */
function advance(count: AgentCount): void {
  const { calls, start } = count;
  for (let call = calls[count.settled]; call?.came != null; call = calls[count.settled]) {
    count.settled += 1;
    count.streak = { ...streakWith(count, call), seen: call.came.seen };
    const { code } = call.came;
    if (code === BROKEN_OFF) continue;
    if (code !== null) count.errors += 1;
    else if (count.errors < start.limits.consecutive_errors) count.errors = 0;
  }
  if (count.said === "calls" && count.settled === calls.length) observe(count);
}

/** A poll whose answer has changed has done something new. */
function streakWith({ streak, start }: AgentCount, { name, action, came }: CountedCall) {
  const again = streak.action === action;
  const poll = start.tools.some((tool) => tool.name === name && tool.poll);
  const changed = poll && again && came?.seen !== streak.seen;
  return { action, times: again && !changed ? streak.times + 1 : 1 };
}

function observe(count: AgentCount): void {
  let fresh = false;
  for (const { name, action, category, came } of count.calls) {
    if (came?.code === BROKEN_OFF) fresh = true;
    if (came === null || came.code !== null) continue;
    const brought = category === "effect" ? `did ${action}` : `saw ${name}\n${came.seen}`;
    if (count.seen.add(brought)) fresh = true;
  }
  if (count.start.markers) return;
  count.quiet = fresh ? 0 : count.quiet + 1;
  count.marked = true;
}
