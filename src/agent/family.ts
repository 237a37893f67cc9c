/**
 * What a run shares with its children, and they with each other: the limits of the first one, counted in the journal.
 * Tokens and turns are set aside before each turn; what no reservation guards is looked at here, before anything is done.
 */

import type { HostParts } from "../host/index.ts";
import type { AgentLimits } from "../model/agent.ts";
import { stop } from "./limits.ts";
import type { AgentState, Stop } from "./state.ts";

interface Member {
  readonly run: string;
  readonly state: AgentState;
  readonly parts: Pick<HostParts, "journal">;
}

/** Counter of the whole family of a run. */
export function familyCounter({ run, state }: Pick<Member, "run" | "state">, what: string): string {
  return `agent/${state.start.root?.run ?? run}/${what}`;
}

/** Of the first run, which hold for all. */
export function limitsOf({ state: { start } }: Pick<Member, "state">): AgentLimits {
  return start.root?.limits ?? start.limits;
}

function spent(member: Member, what: string): bigint {
  return member.parts.journal.total(familyCounter(member, what));
}

/** Milliseconds of work that are left to all of them together. */
export function timeLeft(member: Member): number {
  return Number(BigInt(limitsOf(member).max_active_ms) - spent(member, "active_ms"));
}

/**
 * More was worked or used than they may together: what came in with that is not acted on. `uncountedMs` is what this one
 * has worked since it was last counted.
 */
export function overFamily(member: Member, uncountedMs: number): Stop | null {
  const limits = limitsOf(member);
  const left = timeLeft(member) - uncountedMs;
  if (left < 0) {
    const most = limits.max_active_ms;
    return stop("max_runtime", `the run and its children worked ${most - left} ms of ${most}`);
  }
  const kinds = ["input", "output", "total"] as const;
  for (const kind of kinds) {
    const [limit, used] = [limits[`max_${kind}_tokens`], spent(member, `${kind}_tokens`)];
    if (limit === null || used <= BigInt(limit)) continue;
    const message = `the run and its children: ${used} of ${limit} ${kind} tokens are used`;
    return stop("token_budget_exceeded", message);
  }
  return null;
}

/** They asked for more tool calls than they may together. */
export function overCalls(member: Member): Stop | null {
  const [asked, most] = [spent(member, "calls"), limitsOf(member).max_tool_calls];
  if (asked <= BigInt(most)) return null;
  return stop("max_steps", `the run and its children asked for ${asked} tool calls of ${most}`);
}

/** Of the calls of one run: from which number on the others have left none. */
export function callsLeft(member: Member): number {
  const others = spent(member, "calls") - BigInt(member.state.callsAsked);
  return Number(BigInt(limitsOf(member).max_tool_calls) - others);
}
