/** What an agent run says of itself, at any time: from its state alone. */
import type { AgentStateName } from "../model/agent-states.ts";
import type { StopReason } from "../model/stop.ts";
import { type AgentState, stateName } from "./state.ts";

/** Snake case, as documents are. Times in milliseconds. */
export interface AgentReport {
  readonly run: string;
  readonly state: AgentStateName;
  readonly reason: StopReason | null;
  readonly message: string | null;
  readonly code: string | null;
  /** The model's answer; only of a completed run. */
  readonly output: string | null;
  /** The last that the model said in a run that is not completed: part of an answer at best. */
  readonly partial: string | null;
  readonly steps: number;
  readonly model_calls: number;
  readonly tool_calls: number;
  readonly errors: number;
  readonly tokens: {
    readonly input: number | "unknown";
    readonly output: number | "unknown";
    readonly cached: number | "unknown";
  };
  /** Work, without waiting. */
  readonly active_ms: number;
  /** Wall clock from start to end, or to the last entry. */
  readonly total_ms: number;
}

export function reportOf(run: string, state: AgentState, totalMs: number): AgentReport {
  const { end, answer, usage } = state;
  const completed = end?.reason === "completed";
  const tokens = (count: number | null) => count ?? "unknown";
  return {
    run,
    state: stateName(state),
    reason: end?.reason ?? null,
    message: end?.message ?? null,
    code: end?.code ?? null,
    output: completed ? answer : null,
    partial: completed ? null : answer,
    steps: state.step,
    model_calls: usage.attempts,
    tool_calls: state.callsAsked,
    errors: state.errors.total,
    tokens: {
      input: tokens(usage.input),
      output: tokens(usage.output),
      cached: tokens(usage.cached),
    },
    active_ms: state.activeMs,
    total_ms: totalMs,
  };
}
