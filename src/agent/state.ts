/** The state of an agent run: a fold over its events and nothing else. */
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { AgentStart } from "../model/agent.ts";
import type { Unanswered } from "../model/agent-entry.ts";
import type { AgentStateName } from "../model/agent-states.ts";
import { agentStateOf } from "../model/agent-states.ts";
import type { ChatMessage } from "../model/chat.ts";
import type { StopReason } from "../model/stop.ts";
import type { ToolCategory } from "../model/trust.ts";
import type { Grown, Known } from "./grown.ts";

export type Phase =
  | "created"
  | "model_pending"
  | "decision_received"
  | "tool_pending"
  | "approval_pending"
  | "tool_executing"
  | "observation_recorded";

export interface AgentState {
  readonly start: AgentStart;
  readonly phase: Phase;
  readonly paused: boolean;
  /** Turns of the model so far. */
  readonly step: number;
  readonly turn: TurnState;
  readonly conversation: Conversation;
  /** Calls of the present turn, in the order in which the model asked for them. */
  readonly calls: readonly CallState[];
  /** Calls of all turns so far: the number of the next one. */
  readonly callsAsked: number;
  readonly usage: UsageState;
  readonly streak: Streak;
  readonly errors: { readonly inARow: number; readonly total: number };
  readonly progress: ProgressState;
  /** Fingerprints of calls that a reviewer has rejected. */
  readonly rejected: Known;
  readonly activeMs: number;
  /** The text of the model's last reply that has any: the answer, once the run is completed. */
  readonly answer: string | null;
  readonly end: Stop | null;
}

export interface Stop {
  readonly reason: StopReason;
  readonly message: string | null;
  readonly code: string | null;
}

/** The present turn of the model. */
export interface TurnState {
  readonly attempt: number;
  /** Asked, and neither answered nor known to be lost. */
  readonly asking: boolean;
  /** Attempts that failed by themselves; those that somebody stopped are not counted. */
  readonly failed: number;
  readonly lastFault: Fault | null;
  /** What the model answered; null before it did. */
  readonly said: "calls" | "answer" | { readonly unusable: string } | null;
}

export interface Fault {
  readonly kind: Unanswered;
  readonly message: string;
  readonly retry: boolean;
  readonly retryAfterMs: number | null;
}

export interface Conversation {
  readonly messages: Grown<ChatMessage>;
  /** Of all messages, each linked to the one before it: made in the same time however many there are. */
  readonly digest: Digest;
}

export interface CallState {
  /** In the run, from 0. Ids of providers repeat; these do not. */
  readonly number: number;
  /** The provider's. */
  readonly id: string;
  readonly name: string;
  readonly fingerprint: Digest;
  /** Undefined for a call that no tool can be called with. */
  readonly arguments: JsonValue | undefined;
  readonly category: ToolCategory | null;
  readonly status: "open" | "requested" | "executing" | "settled";
  /** Attempts that broke. */
  readonly broken: number;
  /** What the model is told. */
  readonly observation: Observation | null;
  /** What came of it ends the run as soon as nothing is in flight. */
  readonly stop: Stop | null;
}

export interface Observation {
  readonly content: JsonValue;
  readonly error: boolean;
}

/** Tokens; `null` is unknown, and stays so whatever is added. */
export interface UsageState {
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  /** What the limits are held against: an unknown is charged with what was set aside for it. */
  readonly charged: { readonly input: number; readonly output: number; readonly total: number };
  readonly replies: number;
  readonly attempts: number;
}

/** Identical calls in a row, up to the last one that is settled with all before it. */
export interface Streak {
  readonly fingerprint: Digest | null;
  readonly count: number;
  readonly observation: Digest | null;
}

export interface ProgressState {
  /** Fingerprints of what reads have answered and effects have done. */
  readonly seen: Known;
  /** Turns in a row without anything new. */
  readonly quiet: number;
  /** What was done in each of those turns, for telling the period. */
  readonly actions: Grown<Digest>;
  readonly marker: Digest | null;
  /** The last turn's marker is recorded. */
  readonly marked: boolean;
}

export function stateName({ end, paused, phase }: AgentState): AgentStateName {
  if (end !== null) return agentStateOf(end.reason);
  return paused ? "paused" : phase;
}

/**
 * What of the present turn ends the run: that an outcome is unknown before anything else, and the first in the model's
 * order, whichever was known first.
 */
export function stoppingOf({ calls }: AgentState): Stop | null {
  const stops = calls.flatMap(({ stop }) => stop ?? []);
  return stops.find(({ reason }) => reason === "uncertain_operation") ?? stops[0] ?? null;
}

/** In flight: admitted, without an outcome. */
export function isExecuting({ calls }: AgentState): boolean {
  return calls.some(({ status }) => status === "executing");
}

export function callNumbered({ calls }: AgentState, number: number): CallState | undefined {
  return calls.find((call) => call.number === number);
}
