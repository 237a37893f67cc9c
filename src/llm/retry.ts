/**
 * Asking again, for faults that say that it makes sense. Only whole requests to models are repeated, never tools, and
 * every attempt is told of. An agent counts and records its own attempts: a model that is given to one is not wrapped in
 * this, or the two would multiply.
 */
import { RoteError } from "../base/error.ts";
import { err, ok, type Result } from "../base/result.ts";
import { type ChatUsage, UNKNOWN_CHAT_USAGE } from "../model/chat.ts";
import type { ModelIdentity } from "../model/run.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { Timers } from "../ports/timers.ts";

export interface RetryPolicy {
  /** Requests in all, the first one included. Default 3. */
  readonly attempts?: number;
  /** Milliseconds before the second request, doubled before each further one. Default 500. */
  readonly firstDelayMs?: number;
  /** The longest wait of our own choosing. Default 30,000. */
  readonly maxDelayMs?: number;
  /** No attempt begins later than this after the first one, however long the provider asks to wait. Default 120,000. */
  readonly withinMs?: number;
}

/** One request and what came of it. */
export interface ModelAttempt {
  readonly model: ModelIdentity;
  /** From 1. */
  readonly attempt: number;
  /** Null for a reply. */
  readonly fault: {
    /** The kind of a `provider_error`, else the code of the error. */
    readonly kind: string;
    readonly message: string;
    readonly status: number | null;
  } | null;
  /** As reported with a reply, even if it was no use; unknown without one. */
  readonly usage: ChatUsage;
  /** Milliseconds until the next attempt; null when there is none. */
  readonly waitMs: number | null;
}

export interface RetryPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
}

export interface Retrying {
  readonly policy?: RetryPolicy;
  readonly ports: RetryPorts;
  /** Told of every attempt, when it is over. */
  readonly onAttempt?: (attempt: ModelAttempt) => void;
}

/** The same model, asked again where that makes sense. */
export function retryingChat(model: ChatModel, retrying: Retrying): ChatModel {
  return {
    identity: model.identity,
    reply: (request, signal) =>
      withRetries(model.identity, retrying, signal, async () => {
        const reply = await model.reply(request, signal);
        return { outcome: ok(reply), usage: reply.usage };
      }),
  };
}

/** What came of one request; a failure that is thrown has no known usage. */
export interface Attempted<T> {
  readonly outcome: Result<T, RoteError>;
  readonly usage: ChatUsage;
}

/**
 * @throws the last fault
 */
export async function withRetries<T>(
  model: ModelIdentity,
  { policy = {}, ports, onAttempt = () => undefined }: Retrying,
  signal: AbortSignal | undefined,
  ask: () => Promise<Attempted<T>>,
): Promise<T> {
  const { attempts = 3, withinMs = 120_000 } = policy;
  const begun = ports.clock.monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    const { outcome, usage } = await attempted(ask);
    if (outcome.ok) {
      onAttempt({ model, attempt, fault: null, usage, waitMs: null });
      return outcome.value;
    }
    const fault = faultOf(outcome.error);
    const wait = attempt < attempts && fault.retry ? delay(policy, ports, attempt, fault) : null;
    const late = wait !== null && ports.clock.monotonicMs() + wait - begun > withinMs;
    const waitMs = late || signal?.aborted === true ? null : wait;
    const { kind, message, status } = fault;
    onAttempt({ model, attempt, fault: { kind, message, status }, usage, waitMs });
    if (waitMs === null) throw outcome.error;
    await pause(ports.timers, waitMs, signal);
  }
}

async function attempted<T>(ask: () => Promise<Attempted<T>>) {
  try {
    return await ask();
  } catch (error) {
    return { outcome: err(error), usage: UNKNOWN_CHAT_USAGE };
  }
}

interface Fault {
  readonly kind: string;
  readonly message: string;
  readonly status: number | null;
  readonly retry: boolean;
  readonly retryAfterMs: number;
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof RoteError)) {
    const message = "the request was given up, or its adapter broke";
    return { kind: "unknown", message, status: null, retry: false, retryAfterMs: 0 };
  }
  const { kind, retry, status, retry_after_ms: wait } = error.data;
  return {
    kind: error.code === "provider_error" && typeof kind === "string" ? kind : error.code,
    message: error.message,
    status: typeof status === "number" ? status : null,
    retry: error.code === "provider_error" && retry === true,
    retryAfterMs: typeof wait === "number" ? wait : 0,
  };
}

/** Half of it by chance, so that many that failed together do not come back together; never before the provider says. */
function delay(
  { firstDelayMs = 500, maxDelayMs = 30_000 }: RetryPolicy,
  { random }: RetryPorts,
  attempt: number,
  { retryAfterMs }: Fault,
): number {
  const longest = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
  const [high = 0, low = 0] = random.bytes(2);
  const share = (high * 256 + low) / 65_536;
  return Math.max(retryAfterMs, Math.ceil(longest / 2 + (longest / 2) * share));
}

/** @throws the signal's reason */
async function pause(timers: Timers, ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = () => {
      cancel();
      resolve();
    };
    const cancel = timers.deadline(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
  signal?.throwIfAborted();
}
