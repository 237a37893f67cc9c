/** The limits of a run: what it is given, and when one ends it. */
import { RoteError } from "../base/error.ts";
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from "../model/agent.ts";
import { itemsOf } from "./grown.ts";
import type { AgentState, Stop } from "./state.ts";

const MOST_RESERVED = 4_096;
const NULLABLE = [
  "max_input_tokens",
  "max_output_tokens",
  "max_total_tokens",
  "max_reply_tokens",
] as const;
const FROM_ZERO = ["reserve_tokens", "retry_delay_ms"] as const;
const NAMES = Object.keys(DEFAULT_AGENT_LIMITS) as readonly (keyof AgentLimits)[];

/**
 * The limits that are given, the defaults for the others, and nothing above `above`, those of the parent.
 *
 * @throws RoteError `bad_limit`
 */
export function agentLimits(
  given: Partial<AgentLimits>,
  above: AgentLimits | null = null,
): AgentLimits {
  for (const [name, value] of Object.entries(given)) {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) throw badLimit(name, `unknown; expected ${NAMES.join(", ")}`);
    const least = isAmong(FROM_ZERO, name) ? 0 : 1;
    const none = value === null && isAmong(NULLABLE, name);
    if (!none && (!Number.isSafeInteger(value) || Number(value) < least)) {
      throw badLimit(name, `not a whole number from ${least}`);
    }
  }
  const own = { ...DEFAULT_AGENT_LIMITS, ...given };
  const limits = above === null ? own : lowered(own, above);
  const tightest = tightestOf(limits);
  const wanted = given.reserve_tokens ?? reserveFor(tightest);
  // What is unknown is charged no lower in a child.
  const least = Math.min(above?.reserve_tokens ?? 0, tightest ?? 0);
  const reserve = Math.max(wanted, least);
  if (tightest !== null && reserve > tightest) {
    throw badLimit("reserve_tokens", `${reserve} is more than the limit of ${tightest} tokens`);
  }
  return Object.freeze({ ...limits, reserve_tokens: reserve });
}

/** A child has nothing that its parent has not. */
function lowered(own: AgentLimits, above: AgentLimits): AgentLimits {
  const least = Object.fromEntries(NAMES.map((name) => [name, lower(own[name], above[name])]));
  return { ...own, ...least };
}

function lower(mine: number | null, theirs: number | null): number | null {
  return mine === null || theirs === null ? (mine ?? theirs) : Math.min(mine, theirs);
}

function tightestOf(limits: AgentLimits): number | null {
  const { max_input_tokens: input, max_output_tokens: output, max_total_tokens: total } = limits;
  const set = [input, output, total].filter((limit) => limit !== null);
  return set.length === 0 ? null : Math.min(...set);
}

function reserveFor(tightest: number | null): number {
  return tightest === null ? 0 : Math.min(MOST_RESERVED, Math.ceil(tightest / 10));
}

function isAmong(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

function badLimit(name: string, why: string): RoteError {
  return new RoteError("bad_limit", `limit "${name}": ${why}`, { limit: name });
}

/** What a turn of the model may write at most: what is left of the limits, if they say anything. */
export function replyTokens({ start, usage }: AgentState): number | null {
  const {
    max_reply_tokens: reply,
    max_output_tokens: output,
    max_total_tokens: total,
  } = start.limits;
  const left = [
    reply,
    output === null ? null : output - usage.charged.output,
    total === null ? null : total - usage.charged.total,
  ].filter((limit) => limit !== null);
  return left.length === 0 ? null : Math.max(1, Math.min(...left));
}

export function overTime({ start, activeMs }: AgentState): Stop | null {
  const limit = start.limits.max_active_ms;
  return activeMs > limit ? stop("max_runtime", `${activeMs} ms of ${limit} were worked`) : null;
}

/** More was used than allowed: what came in after that is not acted on. */
export function overTokens(state: AgentState): Stop | null {
  return overBy(state, 0, (used, limit) => used > limit);
}

/** What the next attempt sets aside is not there any more. */
export function outOfTokens(state: AgentState): Stop | null {
  const { reserve_tokens: reserve } = state.start.limits;
  return overBy(state, reserve, (used, limit) => used >= limit || used + reserve > limit);
}

function overBy(
  { start, usage }: AgentState,
  reserve: number,
  isOver: (used: number, limit: number) => boolean,
): Stop | null {
  const { limits } = start;
  const kinds = [
    ["input", usage.charged.input, limits.max_input_tokens],
    ["output", usage.charged.output, limits.max_output_tokens],
    ["total", usage.charged.total, limits.max_total_tokens],
  ] as const;
  for (const [kind, used, limit] of kinds) {
    if (limit === null || !isOver(used, limit)) continue;
    const aside = reserve === 0 ? "" : `, and the next call sets ${reserve} aside`;
    return stop("token_budget_exceeded", `${kind}: ${used} of ${limit} tokens are used${aside}`);
  }
  return null;
}

export function outOfSteps({ start, step }: AgentState): Stop | null {
  const limit = start.limits.max_steps;
  return step >= limit ? stop("max_steps", `${step} of ${limit} turns are done`) : null;
}

export function tooManyErrors({ start, errors }: AgentState): Stop | null {
  const limit = start.limits.consecutive_errors;
  if (errors.inARow < limit) return null;
  return stop("consecutive_errors", `${errors.inARow} calls in a row had no result`);
}

export function noProgress({ start, progress }: AgentState): Stop | null {
  if (progress.quiet < start.limits.no_progress) return null;
  const period = periodOf(itemsOf(progress.actions).slice(-progress.quiet));
  const what =
    period === null
      ? ""
      : `, with the same calls every ${period === 1 ? "turn" : `${period} turns`}`;
  return stop("no_progress", `${progress.quiet} turns in a row brought nothing new${what}`);
}

/** The smallest number of turns after which the same ones come again, in all of these. */
function periodOf(turns: readonly string[]): number | null {
  for (let period = 1; period <= turns.length / 2; period += 1) {
    if (turns.every((turn, at) => at < period || turn === turns[at - period])) return period;
  }
  return null;
}

export function stop(reason: Stop["reason"], message: string, code: string | null = null): Stop {
  return { reason, message, code };
}
