/**
 * One attempt at a turn of the model: recorded before it is made, so that a process that dies in it has still counted it.
 *
 * - M1 A reply is what the provider sent, in a form that can be recorded, or it is no reply.
 * - M2 Only model calls are made again, each attempt under the same limits and counted with them.
 */

import { RoteError } from "../base/error.ts";
import { admitJson } from "../base/json.ts";
import { bounded, within } from "../host/index.ts";
import { agentSaid } from "../model/agent-entry.ts";
import {
  CHAT_STOPS,
  type ChatCall,
  type ChatReply,
  type ChatUsage,
  PROVIDER_FAULTS,
  type ProviderFault,
} from "../model/chat.ts";
import type { ChatRequest } from "../ports/chat-model.ts";
import type { Count } from "../ports/journal.ts";
import { requestDigest } from "./conversation.ts";
import { repliedBodyOf } from "./entries.ts";
import { familyCounter, limitsOf, overCalls, overFamily } from "./family.ts";
import { itemsOf } from "./grown.ts";
import { replyTokens, stop } from "./limits.ts";
import type { Next } from "./next.ts";
import { activeMs, put, type Session, uncountedMs } from "./session.ts";
import type { AgentState, Fault, Stop } from "./state.ts";
import { type Charge, chargeFor, chargeForLost } from "./usage.ts";

/** Longest wait between two attempts, whatever a provider asks for. */
const MOST_DELAY_MS = 60_000;

/** Ends by itself what the family of the run may not do any more; null when the turn was taken, or stopped. */
export async function ask(
  session: Session,
  { step, attempt }: Next & { readonly kind: "ask" },
  signal: AbortSignal,
): Promise<Stop | null> {
  if (attempt > 1) await delay(session, signal);
  if (signal.aborted) return null;
  const over = overFamily(session, uncountedMs(session)) ?? overCalls(session);
  if (over !== null) return over;
  const { request, digest } = requestOf(session.state, session.tools, session.offered);
  const ms = activeMs(session);
  const asked = { step, attempt, request: digest, ms };
  const refused = await put(
    session,
    { type: "asked", ...asked },
    {
      entries: [{ chain: session.run, type: "agent_asked", body: asked }],
      count: countsBefore(session, attempt),
      // Nobody may take the run over while its model has time to answer.
      holdMs: session.state.start.limits.model_timeout_ms,
    },
  );
  if (refused !== null) return familyStop(refused);
  const given = await replyTo(session, request, signal);
  const turn = { step, attempt, ms: activeMs(session) };
  if ("kind" in given) await unanswered(session, turn, given);
  else await replied(session, turn, given);
  return null;
}

export function requestOf(
  state: AgentState,
  tools: Session["tools"],
  offered: Session["offered"],
): { readonly request: ChatRequest; readonly digest: ReturnType<typeof requestDigest> } {
  const maxOutputTokens = replyTokens(state);
  const messages = itemsOf(state.conversation.messages);
  return {
    request: { messages, tools, maxOutputTokens, answerSchema: null },
    digest: requestDigest(state.conversation, offered, maxOutputTokens),
  };
}

async function replied(session: Session, turn: TurnAt, reply: ChatReply): Promise<void> {
  const { body, blobs } = repliedBodyOf(turn, reply);
  const charge = chargeFor(session.state.start.limits, reply.usage);
  const calls = BigInt(reply.calls.length);
  await put(
    session,
    { type: "replied", ...turn, reply },
    {
      entries: [{ chain: session.run, type: "agent_replied", body }],
      blobs,
      count: [
        ...settledCounts(session, charge),
        { counter: familyCounter(session, "calls"), add: calls, limit: null },
      ],
    },
  );
}

async function unanswered(session: Session, turn: TurnAt, fault: Fault): Promise<void> {
  const { kind, message, retry, retryAfterMs } = fault;
  const body = { ...turn, kind, message, retry, retry_after_ms: retryAfterMs };
  const charge = chargeForLost(session.state.start.limits, kind);
  await put(
    session,
    { type: "unanswered", ...turn, kind, message, retry, retryAfterMs },
    {
      entries: [{ chain: session.run, type: "agent_unanswered", body }],
      count: settledCounts(session, charge),
      holdMs: delayMs(session.state, session.state.turn.failed + 1, fault),
    },
  );
}

interface TurnAt {
  readonly step: number;
  readonly attempt: number;
  readonly ms: number;
}

async function replyTo(
  { parts, model, state }: Session,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ChatReply | Fault> {
  const { model_timeout_ms: ms } = state.start.limits;
  let late = false;
  try {
    const given = await within(parts.timers, ms, signal, async (stopped) => {
      stopped.addEventListener("abort", () => {
        late = !signal.aborted;
      });
      return model.reply(request, stopped);
    });
    return readReply(given) ?? faultWith("malformed", "the reply has not the form of one");
  } catch (error) {
    if (signal.aborted) return faultWith("stopped", "told to stop before there was a reply");
    if (late) return faultWith("timeout", `no reply within ${ms} ms`);
    return faultOf(error);
  }
}

/** What a model resolves to is its own affair until it was read. */
function readReply(given: unknown): ChatReply | undefined {
  const { content, calls, stop: why, usage, response, carry } = membersOf<ChatReply>(given);
  const known = CHAT_STOPS.find((one) => one === why);
  if (known === undefined || !Array.isArray(calls)) return undefined;
  const asked = calls.map((call: unknown) => {
    const { id, name, arguments: args } = membersOf<ChatCall>(call);
    return { id, name, arguments: args };
  });
  const admitted = admitJson(
    { content, calls: asked, ...(carry === undefined ? {} : { carry }) },
    { numbers: "finite" },
  );
  const said = admitted.ok ? agentSaid.safeParse(admitted.value) : undefined;
  if (said?.success !== true) return undefined;
  return {
    ...said.data,
    stop: known,
    usage: readUsage(usage),
    response: {
      id: typeof response?.id === "string" ? bounded(response.id) : null,
      model: typeof response?.model === "string" ? bounded(response.model) : null,
    },
  };
}

function membersOf<T>(given: unknown): Partial<T> {
  return typeof given === "object" && given !== null ? given : {};
}

/** What is no count is unknown, and a part that is larger than the whole makes both so. */
function readUsage(given: unknown): ChatUsage {
  const usage = membersOf<ChatUsage>(given);
  const input = countOf(usage.input_tokens);
  const cached = countOf(usage.cached_input_tokens);
  const written = countOf(usage.cache_write_tokens);
  const consistent = input === null || (cached ?? 0) + (written ?? 0) <= input;
  return {
    input_tokens: consistent ? input : null,
    output_tokens: countOf(usage.output_tokens),
    cached_input_tokens: consistent ? cached : null,
    cache_write_tokens: consistent ? written : null,
  };
}

function countOf(value: number | null | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function faultOf(error: unknown): Fault {
  if (error instanceof RoteError && error.code === "provider_error") {
    const { kind, retry, retry_after_ms: after } = error.data;
    const known = (Object.keys(PROVIDER_FAULTS) as ProviderFault[]).find((one) => one === kind);
    const named = known ?? "unavailable";
    return {
      kind: named,
      message: bounded(error.message),
      retry: typeof retry === "boolean" ? retry : PROVIDER_FAULTS[named].retry,
      retryAfterMs: countOf(typeof after === "number" ? after : null),
    };
  }
  return faultWith(
    "unavailable",
    bounded(error instanceof Error ? error.message : "the model broke"),
  );
}

function faultWith(kind: Fault["kind"], message: string): Fault {
  const retry = kind === "stopped" || PROVIDER_FAULTS[kind].retry;
  return { kind, message, retry, retryAfterMs: null };
}

function delayMs({ start }: AgentState, failed: number, { retryAfterMs }: Fault): number {
  const own = start.limits.retry_delay_ms * 2 ** Math.max(0, failed - 1);
  return Math.min(retryAfterMs ?? own, MOST_DELAY_MS);
}

async function delay(session: Session, signal: AbortSignal): Promise<void> {
  const { turn } = session.state;
  if (turn.lastFault === null || turn.lastFault.kind === "stopped") return;
  const ms = delayMs(session.state, turn.failed, turn.lastFault);
  if (ms === 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = session.parts.timers.deadline(ms, end);
    signal.addEventListener("abort", end);
  });
}

/** Counted before the attempt: a turn, and the tokens that are set aside for it. */
function countsBefore(session: Session, attempt: number): readonly Count[] {
  const limits = limitsOf(session);
  const reserve = BigInt(session.state.start.limits.reserve_tokens);
  const aside = (what: string, limit: number | null): Count => ({
    counter: familyCounter(session, what),
    add: reserve,
    limit: limit === null ? null : BigInt(limit),
  });
  const steps = { counter: familyCounter(session, "steps"), limit: BigInt(limits.max_steps) };
  return [
    { ...steps, add: attempt === 1 ? 1n : 0n },
    aside("input_tokens", limits.max_input_tokens),
    aside("output_tokens", limits.max_output_tokens),
    aside("total_tokens", limits.max_total_tokens),
  ];
}

/** What was set aside is given back, and what was used is counted, over the limit if it is. */
function settledCounts(session: Session, charge: Charge): readonly Count[] {
  const reserve = session.state.start.limits.reserve_tokens;
  const settle = (what: string, used: number): Count => ({
    counter: familyCounter(session, what),
    add: BigInt(used - reserve),
    limit: null,
  });
  return [
    settle("input_tokens", charge.input),
    settle("output_tokens", charge.output),
    settle("total_tokens", charge.total),
  ];
}

function familyStop(refused: { readonly code: string }): Stop {
  const { counter, total, limit } = refused as {
    readonly counter?: string;
    readonly total?: bigint;
    readonly limit?: bigint;
  };
  if (counter === undefined) {
    throw new RoteError("internal_error", `The journal refused a turn: ${refused.code}.`);
  }
  const what = counter.slice(counter.lastIndexOf("/") + 1);
  const message = `the run and its children: ${what} would be ${total} of ${limit}`;
  return stop(what === "steps" ? "max_steps" : "token_budget_exceeded", message);
}
