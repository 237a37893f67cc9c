/**
 * A run gone through once more from its record alone: the same decisions must follow from the same replies and results.
 *
 * - P1 There is nothing here that could be called: no model, no tool, no network, and nothing is written.
 * - P2 What is recorded is found by its content, never by its place. What is not found is a miss, and an error.
 * - P3 A recorded end that came from outside (a person, the clock, the family's limits, the host) is taken as it came;
 *   any other must follow from the state.
 */
import { RoteError } from "../base/error.ts";
import type { ReceiptParts } from "../host/index.ts";
import type { AgentStart } from "../model/agent.ts";
import type { StopReason } from "../model/stop.ts";
import { requestOf } from "./ask.ts";
import { agentEntries, agentEvents } from "./entries.ts";
import type { AgentEvent, EndedEvent } from "./event.ts";
import { apply, ofRecord } from "./fold.ts";
import { nextOf } from "./next.ts";
import { offeredTools } from "./offered.ts";
import type { AgentState, CallState } from "./state.ts";

export interface Replayed {
  readonly state: AgentState;
  /** Replies and results that were found on record. */
  readonly replies: number;
  readonly results: number;
  /** False for a run that has not ended: it was replayed as far as it goes. */
  readonly ended: boolean;
}

/** What is asked otherwise than on record. Of a run that differs in this, most is a miss. */
export interface ReplayChange {
  readonly goal?: string;
  readonly instructions?: string | null;
  readonly recalled?: string | null;
}

/** Ends that no state tells of by itself. */
const FROM_OUTSIDE: readonly StopReason[] = [
  "user_cancelled",
  "max_runtime",
  "environment_changed",
  "max_steps",
  "token_budget_exceeded",
];

/**
 * @throws RoteError `replay_miss` `replay_differs`, and `unknown_run` `other_kind` `journal_damaged` `other_semantics`
 */
export function replayAgent(parts: ReceiptParts, run: string, change: ReplayChange = {}): Replayed {
  const events = agentEvents(parts, agentEntries(parts, run));
  const record = ofRecord(run, () => recordedIn(events));
  const start = { ...record.start, ...change };
  const { tools, offered } = offeredTools(parts.journal, start.tools);
  let state = apply(null, { type: "started", start });
  let [replies, results] = [0, 0];
  for (;;) {
    const next = nextOf(state);
    switch (next.kind) {
      case "end":
        return {
          state: ended(state, record, next.stop.reason),
          replies,
          results,
          ended: record.end !== null,
        };
      case "ask": {
        const { digest } = requestOf(state, tools, offered);
        const exchange = record.exchanges.find((one) => !one.used && one.request === digest);
        if (exchange === undefined) {
          const recorded = record.exchanges.find(({ used }) => !used);
          if (recorded === undefined) return unended(state, record, replies, results);
          throw miss(
            `turn ${next.step}: asked is ${digest}, and the nearest on record, of turn ${recorded.step}, is ${recorded.request}`,
          );
        }
        // It was being asked when the record was read.
        if (exchange.events.length === 1 && !exchange.lost) {
          return unended(state, record, replies, results);
        }
        exchange.used = true;
        const { step, attempt } = next;
        for (const event of exchange.events) state = apply(state, { ...event, step, attempt });
        replies += exchange.events.some(({ type }) => type === "replied") ? 1 : 0;
        if (exchange.lost) state = apply(state, { type: "resumed" });
        break;
      }
      case "call": {
        const before = results;
        for (const call of next.calls) {
          const found = record.calls.find(
            (one) => !one.used && one.fingerprint === call.fingerprint,
          );
          // It was never its turn, or it waits for a person to this day.
          if (found?.settled === false) continue;
          const recorded = found ?? record.calls.find(({ used, settled }) => !used && settled);
          if (recorded === undefined) continue;
          if (found === undefined) {
            throw miss(
              `turn ${state.step}: recorded is ${recorded.name}, now it is ${call.name}, with other arguments or in another number`,
            );
          }
          found.used = true;
          state = settledAs(state, call, found.events);
          results += 1;
        }
        if (results === before) return unended(state, record, replies, results);
        break;
      }
      case "mark": {
        const marked = record.marks.shift();
        if (marked === undefined) return unended(state, record, replies, results);
        state = apply(state, marked);
        break;
      }
      case "wait":
        throw new TypeError("nothing of a replay is in flight");
    }
  }
}

interface Recorded {
  readonly start: AgentStart;
  readonly exchanges: readonly Exchange[];
  readonly calls: readonly RecordedCall[];
  readonly marks: (AgentEvent & { readonly type: "marked" })[];
  readonly end: EndedEvent | null;
}

type TurnEvent = AgentEvent & { readonly type: "asked" | "replied" | "unanswered" };

interface Exchange {
  readonly step: number;
  readonly request: string;
  readonly events: TurnEvent[];
  /** The process ended before there was an answer. */
  lost: boolean;
  used: boolean;
}

interface RecordedCall {
  readonly number: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly events: (AgentEvent & { readonly type: "admitted" | "settled" })[];
  settled: boolean;
  used: boolean;
}

function recordedIn(events: readonly AgentEvent[]): Recorded {
  const exchanges: Exchange[] = [];
  const calls: RecordedCall[] = [];
  const marks: Recorded["marks"] = [];
  let end: EndedEvent | null = null;
  let state: AgentState | null = null;
  for (const event of events) {
    if (event.type === "resumed" && state?.turn.asking === true) {
      const open = exchanges.at(-1);
      if (open !== undefined) open.lost = true;
    }
    state = apply(state, event);
    switch (event.type) {
      case "asked":
        exchanges.push({
          step: event.step,
          request: event.request,
          events: [event],
          lost: false,
          used: false,
        });
        break;
      case "replied":
      case "unanswered":
        exchanges.at(-1)?.events.push(event);
        if (event.type === "replied") calls.push(...openCalls(state));
        break;
      case "admitted":
      case "settled": {
        const call = calls.find(({ number }) => number === event.call);
        call?.events.push(event);
        if (call !== undefined && event.type === "settled") call.settled = event.final;
        break;
      }
      case "marked":
        marks.push(event);
        break;
      case "ended":
        end = event;
        break;
      default:
        break;
    }
  }
  if (state === null) throw new TypeError("a record without its start");
  return { start: state.start, exchanges, calls, marks, end };
}

function openCalls({ calls }: AgentState): readonly RecordedCall[] {
  return calls
    .filter(({ status }) => status !== "settled")
    .map(({ number, name, fingerprint }) => ({
      number,
      name,
      fingerprint,
      events: [],
      settled: false,
      used: false,
    }));
}

function settledAs(
  state: AgentState,
  { number }: CallState,
  events: RecordedCall["events"],
): AgentState {
  return events.reduce((before, event) => apply(before, { ...event, call: number }), state);
}

function ended(state: AgentState, { end }: Recorded, reason: StopReason): AgentState {
  if (end === null) return state;
  if (end.reason === reason) return apply(state, end);
  throw differs(`the record ends with ${end.reason}, and from it follows ${reason}`);
}

/** Everything on record was gone through, and more would be wanted. */
function unended(state: AgentState, { end }: Recorded, replies: number, results: number): Replayed {
  if (end === null) return { state, replies, results, ended: false };
  if (!FROM_OUTSIDE.includes(end.reason)) {
    throw differs(`the record ends with ${end.reason}, and from it the run would go on`);
  }
  return { state: apply(state, end), replies, results, ended: true };
}

function miss(message: string): RoteError {
  return new RoteError("replay_miss", `Not on record: ${message}.`);
}

function differs(message: string): RoteError {
  return new RoteError("replay_differs", `The replay differs: ${message}.`);
}
