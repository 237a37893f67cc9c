/**
 * One call of one tool, after its admission is durable, and what its answer means.
 *
 * D1 The tool gets the arguments parsed back from the frozen bytes, and the operation's digest as idempotency key.
 * D2 Only the tool's own word that nothing happened makes an operation `failed_before_effect`, and that is final: nothing
 *    here knows better when to ask again. An exception, a time-out or an unreadable answer leaves open whether an effect
 *    happened: `uncertain`.
 * D3 Nothing is called twice here. A read's second attempt is a new admission.
 * D4 Whatever a tool does or answers, this resolves, with words that fit into a receipt: an admitted operation must not
 *    be left without one because its tool misbehaved.
 */

import { admitJson, type JsonValue } from "../base/json.ts";
import { type HostWord, isHostWord, type Outcome } from "../model/operation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Timers } from "../ports/timers.ts";
import type { Tool } from "../ports/tool.ts";
import { argumentsOf, type FrozenOperation } from "./operation.ts";
import { bounded, CODE_LENGTH } from "./words.ts";

export interface Dispatched {
  readonly outcome: Outcome;
  readonly result: JsonValue | undefined;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** Milliseconds since 1970 UTC; null when the tool was not called. */
  readonly started: number | null;
  readonly finished: number;
  /** A read that broke without the tool's word: it may be attempted again where the review says so. */
  readonly broken: boolean;
}

/** Code of an operation that was told to stop and certainly did not happen. */
export const CANCELLED = "cancelled" satisfies HostWord;

/** How long one call may take, in milliseconds, and who measures it. */
export interface CallTime {
  readonly callMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
}

export async function dispatch(
  tool: Tool,
  frozen: FrozenOperation,
  time: CallTime,
  cancel: AbortSignal,
): Promise<Dispatched> {
  const { clock } = time;
  if (cancel.aborted) return undone(clock, CANCELLED, "cancelled before it was dispatched");
  const started = clock.wallMs();
  const answer = await answerOf(tool, frozen, time, cancel);
  return { ...meaning(frozen, answer, cancel.aborted), started, finished: clock.wallMs() };
}

/** An admitted operation that is not dispatched. */
export function undone(clock: Clock, code: HostWord, message: string): Dispatched {
  return {
    outcome: "failed_before_effect",
    result: undefined,
    refusal: { code, message },
    started: null,
    finished: clock.wallMs(),
    broken: false,
  };
}

type Answer =
  | { readonly kind: "done"; readonly result: JsonValue }
  | { readonly kind: "refused" | "not_applied"; readonly code: string; readonly message: string }
  | { readonly kind: "malformed" | "broken"; readonly code: HostWord; readonly message: string };

async function answerOf(
  tool: Tool,
  frozen: FrozenOperation,
  { callMs, timers }: CallTime,
  cancel: AbortSignal,
): Promise<Answer> {
  try {
    const call = { arguments: argumentsOf(frozen), operationId: frozen.digest };
    return readAnswer(
      await within(timers, callMs, cancel, (signal) => tool.call({ ...call, signal })),
    );
  } catch (error) {
    if (error instanceof OutOfTime) return broken("timeout", `no answer within ${callMs} ms`);
    if (cancel.aborted) return broken(CANCELLED, "cancelled before there was an answer");
    return broken("tool_threw", messageOf(error));
  }
}

class OutOfTime extends Error {}

/**
 * What `work` resolves to, unless the time is over or `cancel` fires first: then it rejects, and `work` is told through
 * its signal. What ignores its signal does not hold the run.
 */
export async function within<T>(
  timers: Timers,
  ms: number,
  cancel: AbortSignal | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  // A signal of this call alone: many calls of one run may be under way, and none leaves a listener on the run's own.
  const signal = cancel === null ? stop.signal : AbortSignal.any([stop.signal, cancel]);
  let give = (_: Error) => {};
  const given = new Promise<never>((_, reject) => {
    give = reject;
  });
  let ended: Error | undefined;
  const end = () => {
    const why = ended ?? new Error("cancelled");
    ended = why;
    // Whoever listens to the signal may still say that nothing happened, if it can say so at once.
    timers.soon(() => give(why));
  };
  // Not unreferenced: a process must not end while it waits for an effect.
  const inTime = timers.deadline(ms, () => {
    ended = new OutOfTime();
    stop.abort();
  });
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  try {
    // The work is begun inside of a promise, so that one that throws at once is no different.
    return await Promise.race([given, Promise.resolve().then(() => work(signal))]);
  } catch (error) {
    // What broke because it was told to stop did not break by itself.
    throw ended ?? error;
  } finally {
    inTime();
    signal.removeEventListener("abort", end);
  }
}

/** What a tool resolves to is its own affair until it was read: types say what it should be, not what it is. */
function readAnswer(given: unknown): Answer {
  const { kind, code, message, result } = membersOf(given);
  switch (kind) {
    case "done": {
      const admitted = admitJson(result, { numbers: "finite" });
      if (admitted.ok) return { kind, result: admitted.value };
      const why = bounded(`the result is not JSON: ${admitted.error.message}`);
      return { kind: "malformed", code: "result_malformed", message: why };
    }
    case "refused":
    case "not_applied": {
      const word = bounded(code, CODE_LENGTH);
      const own = isHostWord(word) ? `tool_${word}` : word;
      return { kind, code: own, message: bounded(message) };
    }
    default: {
      const why = "the tool's answer has no known form";
      return { kind: "malformed", code: "answer_malformed", message: why };
    }
  }
}

function membersOf(given: unknown): { readonly [member: string]: unknown } {
  if (typeof given !== "object" || given === null) return {};
  return given as { readonly [member: string]: unknown };
}

function meaning(
  frozen: FrozenOperation,
  answer: Answer,
  cancelled: boolean,
): Pick<Dispatched, "outcome" | "result" | "refusal" | "broken"> {
  if (answer.kind === "done") {
    return { outcome: "done", result: answer.result, refusal: null, broken: false };
  }
  const { kind, code, message } = answer;
  const certain = kind === "refused" || kind === "not_applied";
  const outcome = outcomeOf(kind, isEffect(frozen));
  // Told to stop, and nothing happened: that is what it is called, whatever the tool calls it.
  const word = certain && cancelled ? CANCELLED : code;
  return {
    outcome,
    result: undefined,
    refusal: { code: word, message },
    broken: kind === "broken",
  };
}

/** A read that was answered with no was made; one that was not made gives back what was reserved for it. */
function outcomeOf(kind: Exclude<Answer["kind"], "done">, effect: boolean): Outcome {
  switch (kind) {
    case "not_applied":
      return "failed_before_effect";
    case "refused":
      return effect ? "failed_before_effect" : "refused";
    case "malformed":
    case "broken":
      return effect ? "uncertain" : "refused";
  }
}

function isEffect({ operation }: FrozenOperation): boolean {
  return operation.tool.category === "effect";
}

function broken(code: HostWord, message: string): Answer {
  return { kind: "broken", code, message };
}

/** Bounded; a tool's own text may be long and is not ours. */
function messageOf(error: unknown): string {
  try {
    return bounded(error instanceof Error ? error.message : "threw what is not an Error");
  } catch {
    return "threw an Error that cannot be read";
  }
}
