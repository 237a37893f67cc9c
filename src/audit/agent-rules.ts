/**
 * Why an agent's run could not go on, by the limits and rules that it began with and by what its entries come to: the
 * auditor's own reading of them. What only a host can know (that somebody cancelled, that it is another host) is not here.
 */
import type { StopReason } from "../model/stop.ts";
import type { AgentCount, CountedCall } from "./agent-count.ts";
import { limitsTokens, overTokens } from "./agent-family.ts";

export interface Ending {
  readonly reason: StopReason;
  readonly why: string;
}

/** What would come next. `again`: another attempt at the turn that was asked. */
export type Due = "turn" | "again" | "calls" | "answer" | "unusable";

export function dueOf({ said, step, calls, settled }: AgentCount): Due {
  switch (said) {
    case null:
      return step === 0 ? "turn" : "again";
    case "calls":
      return settled === calls.length ? "turn" : "calls";
    default:
      return said;
  }
}

/** All that ends the run before it does what is due, in the order in which they count; none when it may go on. */
export function endingsOf(count: AgentCount): readonly Ending[] {
  const found = [...atAnyTime(count), ...before(count, dueOf(count))];
  return count.unsure ? found.filter(({ reason }) => COUNTED.includes(reason)) : found;
}

/** Reasons that do not depend on what came of calls. */
const COUNTED: readonly StopReason[] = ["max_steps", "max_runtime", "token_budget_exceeded"];

function* atAnyTime({ start, ending, ms, tokens }: AgentCount): Generator<Ending> {
  const { limits } = start;
  if (ending !== null && ending.stop !== null) {
    const { stop, number, name, came } = ending;
    yield { reason: stop, why: `call ${number} of ${name}: ${came?.code}` };
  }
  if (ms > limits.max_active_ms) yield outOfTime(`${ms} ms of ${limits.max_active_ms}`);
  const over = overTokens(limits, tokens, 0);
  if (over !== null) yield outOfTokens(over);
}

function before(count: AgentCount, due: Due): Iterable<Ending> {
  switch (due) {
    case "answer":
      return [{ reason: "completed", why: "its model had given its answer" }];
    case "unusable":
      return [{ reason: "invalid_model_response", why: "the reply was of no use" }];
    case "turn":
      return [...inARow(count), ...beforeTurn(count), ...beforeAsking(count)];
    case "again":
      return [...beforeAttempt(count), ...beforeAsking(count)];
    case "calls": {
      const { numbers, over } = comingUp(count);
      const stopped = numbers.size === 0 && over !== null ? [over] : [];
      return [...inARow(count), ...stopped, ...familyTime(count)];
    }
  }
}

/** Calls that no tool could be called with are repeated in vain as well. */
function* inARow({ start, errors, streak }: AgentCount): Generator<Ending> {
  const { consecutive_errors: most, repeated_action: times } = start.limits;
  if (errors >= most) {
    yield {
      reason: "consecutive_errors",
      why: `${errors} calls of ${most} in a row had no result`,
    };
  }
  if (errors > 0 && streak.times >= times) yield repeated(streak.times, times);
}

function* beforeTurn({ start, quiet, step, family }: AgentCount): Generator<Ending> {
  const { no_progress: still, max_steps: most } = start.limits;
  if (quiet >= still) {
    yield { reason: "no_progress", why: `${quiet} turns of ${still} in a row brought nothing new` };
  }
  if (step >= most) yield tooMany(`${step} turns of ${most}`);
  const together = family.limits.max_steps;
  if (family.steps >= together)
    yield tooMany(`${family.steps} turns of ${together} with the family`);
}

function* beforeAttempt({ start, fault, failed }: AgentCount): Generator<Ending> {
  const { model_attempts: most } = start.limits;
  if (fault === null) return;
  const refused = fault.kind !== "stopped" && !fault.retry;
  if (refused || failed >= most) {
    const why = `${failed} attempts of ${most} failed, the last one by ${fault.kind}`;
    yield { reason: "provider_error", why };
  }
}

function* beforeAsking(count: AgentCount): Generator<Ending> {
  const { start, tokens, family, known } = count;
  const { reserve_tokens: reserve } = start.limits;
  const over =
    overTokens(start.limits, tokens, Math.max(1, reserve)) ??
    overTokens(family.limits, family.tokens, reserve);
  if (over !== null) yield outOfTokens(over);
  const most = family.limits.max_tool_calls;
  if (known.calls > most) yield tooMany(`${known.calls} calls of ${most} with the family`);
  yield* familyTime(count);
}

function* familyTime({ family, known, ms, counted }: AgentCount): Generator<Ending> {
  const [worked, most] = [known.ms + ms - counted, family.limits.max_active_ms];
  if (worked > most) yield outOfTime(`${worked} ms of ${most} with the family`);
}

/**
 * Numbers of the calls that are made next: one effect, or reads up to the next effect, as far as the limits let them come;
 * and what does not let the one behind them, or any.
 */
export function comingUp(count: AgentCount): {
  readonly numbers: ReadonlySet<number>;
  readonly over: Ending | null;
} {
  const { numbers, over } = comingAlone(count);
  if (numbers.length === 0) return { numbers: new Set(), over };
  const { family, known, asked } = count;
  const left = family.limits.max_tool_calls - (known.calls - asked);
  const kept = numbers.filter((number) => number < left);
  if (kept.length === numbers.length) return { numbers: new Set(kept), over };
  const why = `call ${numbers[kept.length]} of ${left} that the family has left`;
  return { numbers: new Set(kept), over: tooMany(why) };
}

/** By the limits of the run itself. */
function comingAlone({ start, calls, settled, streak }: AgentCount): {
  readonly numbers: readonly number[];
  readonly over: Ending | null;
} {
  const { repeated_action: times, max_tool_calls: most, parallel_calls: together } = start.limits;
  const numbers: number[] = [];
  let { action, times: inARow } = streak;
  for (let at = settled; at < calls.length; at += 1) {
    const call = calls[at];
    if (call === undefined) break;
    inARow = call.action === action ? inARow + 1 : 1;
    ({ action } = call);
    if (call.status === "settled") continue;
    if (call.number >= most) return { numbers, over: tooMany(`call ${call.number} of ${most}`) };
    if (inARow >= times) return { numbers, over: repeated(inARow, times) };
    if (isEffect(call) && numbers.length > 0) break;
    numbers.push(call.number);
    if (isEffect(call) || numbers.length >= together) break;
  }
  return { numbers, over: null };
}

function isEffect({ category }: CountedCall): boolean {
  return category === "effect";
}

/** Ends that no count of entries can show. */
const FROM_OUTSIDE: readonly string[] = ["user_cancelled", "environment_changed"];

/**
 * True when the entries show that the run could end by `reason`. Called before the time of the end is counted.
 *
 * @param ms active time at the end
 */
export function supports(count: AgentCount, reason: string, ms: number): boolean {
  if (FROM_OUTSIDE.includes(reason)) return true;
  const { start, family, counted, unsure, unread } = count;
  if (reason === "max_runtime") {
    const worked = family.ms + ms - counted;
    // The alarm rings when the time is used up to the last millisecond.
    return ms >= start.limits.max_active_ms || worked >= family.limits.max_active_ms;
  }
  const holds = endingsOf(count).some((ending) => ending.reason === reason);
  if (holds || (unsure && !COUNTED.some((one) => one === reason))) return true;
  if (reason === "max_steps") return unread;
  // Another member may have given back what it had set aside since this one was refused.
  return reason === "token_budget_exceeded" && family.members > 1 && limitsTokens(family.limits);
}

function repeated(count: number, most: number): Ending {
  return {
    reason: "repeated_action",
    why: `the same call came for the ${count}th time in a row, of ${most}`,
  };
}

function tooMany(why: string): Ending {
  return { reason: "max_steps", why };
}

function outOfTime(why: string): Ending {
  return { reason: "max_runtime", why };
}

function outOfTokens(why: string): Ending {
  return { reason: "token_budget_exceeded", why };
}
