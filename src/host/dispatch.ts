/**
 * One call of one tool, after its admission is durable, and what its answer means.
 *
 * D1 The tool gets the arguments parsed back from the frozen bytes, and the operation's digest as idempotency key.
 * D2 Only the tool's own word that nothing happened makes an effect `failed_before_effect`. An exception, a time-out or
 *    an unreadable answer leaves open whether it happened: `uncertain`.
 * D3 Nothing is called twice here. A read's second attempt is a new admission.
 */

import { admitJson, type JsonValue } from "../base/json.ts";
import type { Outcome } from "../model/operation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import type { FrozenOperation } from "./operation.ts";

export interface Dispatched {
  readonly outcome: Outcome;
  readonly result: JsonValue | undefined;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** Milliseconds since 1970 UTC. */
  readonly started: number;
  readonly finished: number;
  /** A read that broke without the tool's word: it may be attempted again where the review says so. */
  readonly broken: boolean;
}

export async function dispatch(
  tool: Tool,
  frozen: FrozenOperation,
  callMs: number,
  clock: Clock,
  cancel: AbortSignal,
): Promise<Dispatched> {
  const started = clock.wallMs();
  const answer = await answerOf(tool, frozen, callMs, cancel);
  return { ...meaning(frozen, answer), started, finished: clock.wallMs() };
}

type Answer =
  | ToolOutcome
  | { readonly kind: "broken"; readonly code: string; readonly message: string };

async function answerOf(
  tool: Tool,
  frozen: FrozenOperation,
  callMs: number,
  cancel: AbortSignal,
): Promise<Answer> {
  const timeout = new AbortController();
  // Not unreferenced: a process must not end while it waits for an effect.
  const timer = setTimeout(() => timeout.abort(), callMs);
  const signal = AbortSignal.any([timeout.signal, cancel]);
  const call = { arguments: frozen.arguments, operationId: frozen.digest, signal };
  try {
    return await Promise.race([aborted(signal), tool.call(call)]);
  } catch (error) {
    if (timeout.signal.aborted) return broken("timeout", `no answer within ${callMs} ms`);
    if (cancel.aborted) return broken("cancelled", "cancelled before there was an answer");
    return broken("tool_threw", messageOf(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects when the signal fires: a tool that ignores its signal must not hold the run. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Error("aborted"));
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
}

function meaning(
  { operation }: FrozenOperation,
  answer: Answer,
): Pick<Dispatched, "outcome" | "result" | "refusal" | "broken"> {
  const effect = operation.tool.category === "effect";
  const nothing = { result: undefined, broken: false };
  switch (answer.kind) {
    case "done": {
      const admitted = admitJson(answer.result, { numbers: "finite" });
      if (admitted.ok) {
        return { outcome: "done", result: admitted.value, refusal: null, broken: false };
      }
      const message = `the result is not JSON: ${admitted.error.message}`;
      const refusal = { code: "result_malformed", message };
      return { ...nothing, outcome: effect ? "uncertain" : "refused", refusal };
    }
    case "refused":
    case "not_applied": {
      const refusal = { code: answer.code, message: answer.message };
      return { ...nothing, outcome: effect ? "failed_before_effect" : "refused", refusal };
    }
    case "broken": {
      const refusal = { code: answer.code, message: answer.message };
      return {
        result: undefined,
        broken: true,
        outcome: effect ? "uncertain" : "refused",
        refusal,
      };
    }
    default: {
      const refusal = { code: "answer_malformed", message: "the tool's answer has no known form" };
      return { ...nothing, outcome: effect ? "uncertain" : "refused", refusal };
    }
  }
}

function broken(code: string, message: string): Answer {
  return { kind: "broken", code, message };
}

/** Bounded; a tool's own text may be long and is not ours. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : "threw what is not an Error";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
