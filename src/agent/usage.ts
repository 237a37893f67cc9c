/**
 * Tokens of a run: as reported, and as charged against its limits. What is not reported is unknown and makes the sum
 * unknown; it is charged with what was set aside for the attempt. Nothing that is reported can lower a sum.
 */
import type { AgentLimits } from "../model/agent.ts";
import type { Unanswered } from "../model/agent-entry.ts";
import type { ChatUsage } from "../model/chat.ts";
import type { UsageState } from "./state.ts";

export const NO_USAGE: UsageState = {
  input: 0,
  output: 0,
  cached: 0,
  charged: { input: 0, output: 0, total: 0 },
  replies: 0,
  attempts: 0,
};

export interface Charge {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export function chargeFor({ reserve_tokens: reserve }: AgentLimits, usage: ChatUsage): Charge {
  const { input_tokens: input, output_tokens: output } = usage;
  return {
    input: input ?? reserve,
    output: output ?? reserve,
    total: input === null || output === null ? (input ?? output ?? 0) + reserve : input + output,
  };
}

/** What an attempt without a reply is charged with. */
export function chargeForLost({ reserve_tokens: reserve }: AgentLimits, kind: Unanswered): Charge {
  const charge = mayHaveWorked(kind) ? reserve : 0;
  return { input: charge, output: charge, total: charge };
}

/** A provider that refused a request did no work on it; one of which nothing whole was heard may have. */
export function mayHaveWorked(kind: Unanswered): boolean {
  switch (kind) {
    case "rate_limited":
    case "unavailable":
    case "refused":
      return false;
    case "timeout":
    case "malformed":
    case "stopped":
      return true;
  }
}

export function withReply(before: UsageState, limits: AgentLimits, usage: ChatUsage): UsageState {
  return {
    input: sum(before.input, usage.input_tokens),
    output: sum(before.output, usage.output_tokens),
    cached: sum(before.cached, usage.cached_input_tokens),
    charged: charged(before.charged, chargeFor(limits, usage)),
    replies: before.replies + 1,
    attempts: before.attempts,
  };
}

export function withoutReply(
  before: UsageState,
  limits: AgentLimits,
  kind: Unanswered,
): UsageState {
  const charge = chargeForLost(limits, kind);
  return {
    ...before,
    ...(mayHaveWorked(kind) ? { input: null, output: null, cached: null } : {}),
    charged: charged(before.charged, charge),
  };
}

function sum(before: number | null, more: number | null): number | null {
  return before === null || more === null ? null : before + more;
}

function charged(before: Charge, more: Charge): Charge {
  return {
    input: before.input + more.input,
    output: before.output + more.output,
    total: before.total + more.total,
  };
}
