/**
 * One process's hold on one agent run: its lease, its present state, and the one way in which events happen.
 *
 * - S1 An event is checked against the state, then recorded, then folded. What is not durable has not happened.
 * - S2 Who lost the lease writes nothing more.
 */
import type { Digest } from "../base/digest.ts";
import { digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { type HostParts, leaseLost, type OpenRequest } from "../host/index.ts";
import { agentStateOf } from "../model/agent-states.ts";
import type { ChatModel, ChatTool } from "../ports/chat-model.ts";
import type { Append, AppendRefusal, Lease } from "../ports/journal.ts";
import type { AgentEvent } from "./event.ts";
import { familyCounter } from "./family.ts";
import { apply } from "./fold.ts";
import type { AgentState, Stop } from "./state.ts";
import { refuseFault } from "./transitions.ts";

/** What the application is asked for a marker of its progress with. */
export interface Progress {
  readonly run: string;
  readonly step: number;
}

/** Tells how far the application is: as long as it says the same, nothing moves. */
export type ProgressMarker = (progress: Progress) => JsonValue | Promise<JsonValue>;

export interface Session {
  readonly run: string;
  readonly parts: HostParts;
  readonly lease: Lease;
  readonly model: ChatModel;
  readonly tools: readonly ChatTool[];
  readonly offered: Digest;
  readonly marker: ProgressMarker | null;
  state: AgentState;
  /** Requests for approval of the run, oldest first. */
  readonly requests: OpenRequest[];
  readonly cancel: AbortController;
  /** Monotonic time at which the work in progress began; null when there is none. */
  enteredMs: number | null;
  /** Active time that the family's counter has. */
  countedMs: number;
}

/** Active time of the run in whole milliseconds: the work in progress included, waiting left out. */
export function activeMs({ state, parts, enteredMs }: Session): number {
  if (enteredMs === null) return state.activeMs;
  return state.activeMs + Math.max(0, Math.round(parts.clock.monotonicMs() - enteredMs));
}

/** What of it the family's counter does not have yet. */
export function uncountedMs(session: Session): number {
  return activeMs(session) - session.countedMs;
}

/**
 * Lets an event happen that this process records itself. Refusals of a counter are returned, and nothing has happened.
 *
 * @throws RoteError `lease_lost`, `internal_error` for an event that the state does not admit
 */
export async function put(
  session: Session,
  event: AgentEvent & { readonly ms: number },
  append: Omit<Append, "lease">,
): Promise<AppendRefusal | null> {
  refuseFault(session.state, event);
  const spent = event.ms - session.countedMs;
  const appended = await session.parts.journal.append({
    lease: session.lease,
    ...append,
    count: [
      ...(append.count ?? []),
      { counter: familyCounter(session, "active_ms"), add: BigInt(spent), limit: null },
    ],
  });
  if (!appended.ok) {
    if (appended.error.code === "lease_lost") throw leaseLost(session.run);
    return appended.error;
  }
  session.countedMs = event.ms;
  take(session, event);
  return null;
}

/** An event that is on record. */
export function take(session: Session, event: AgentEvent): void {
  const before = session.state.activeMs;
  session.state = apply(session.state, event);
  // The time that stands in the event is not counted again, and that of writing it down is not lost.
  if (session.enteredMs !== null) session.enteredMs += session.state.activeMs - before;
}

/** The one terminal entry, with the signed tree head in the same commit. */
export async function finish(session: Session, stop: Stop): Promise<void> {
  const { reason, message, code } = stop;
  const ms = activeMs(session);
  const answer = reason === "completed" ? session.state.answer : null;
  const failure =
    reason === "completed"
      ? null
      : { reason, node: null, message: message ?? reason, ...(code === null ? {} : { code }) };
  const body = {
    state: agentStateOf(reason),
    reason,
    failure,
    stopped: null,
    result: answer === null ? null : digestOf(TAGS.result, answer),
    ms,
  };
  await put(
    session,
    { type: "ended", reason, message: failure?.message ?? null, code, ms },
    {
      entries: [{ chain: session.run, type: "run_ended", body }],
      seal: true,
      release: true,
    },
  );
}

/** Puts the run down with nothing in flight, for whoever resumes it. */
export async function pause(session: Session): Promise<void> {
  const ms = activeMs(session);
  await put(
    session,
    { type: "paused", ms },
    { entries: [{ chain: session.run, type: "agent_paused", body: { ms } }], release: true },
  );
}
