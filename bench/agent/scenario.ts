/** What an agent loop is put through, the same for each method: tools with a target that counts, a model that is a script. */
import type { JsonValue } from "../../src/base/json.ts";
import type { AgentLimits } from "../../src/model/agent.ts";
import type { ChatReply } from "../../src/model/chat.ts";
import type { ToolOutcome } from "../../src/ports/tool.ts";

/** What is done to the target, whoever asked for it. */
export interface World {
  /** Arguments of every effect that reached the target, in order. */
  readonly effects: JsonValue[];
  /** Model calls that were made. */
  asked: number;
}

export interface ScenarioTool {
  readonly name: string;
  readonly category: "read" | "effect";
  readonly repeatable?: boolean;
  call(world: World, args: JsonValue, signal: AbortSignal): Promise<ToolOutcome> | ToolOutcome;
}

/** A turn of the script: a reply, or a fault of the provider. */
export type Turn = Partial<ChatReply> | { readonly fault: "timeout" | "unavailable" };

export interface Scenario {
  readonly name: string;
  readonly set: "seed" | "harder";
  readonly tools: readonly ScenarioTool[];
  /** The turn for a conversation with so many replies in it. */
  readonly turn: (replies: number) => Turn;
  readonly limits?: Partial<AgentLimits>;
  /**
   * `interrupt`: the process goes away behind the receipt of the first effect, and the work is taken up again.
   * `boundaries`: at each write in turn. `twice`: two take it up at once. `stale`: the first one wakes up after the second
   * has finished. `approval`: a reviewer is asked and does not answer. `reject`: the reviewer says no.
   */
  readonly drama?: "interrupt" | "boundaries" | "twice" | "stale" | "reject" | "approval";
  /** True when nothing but a limit or a refusal can end it well. */
  readonly runaway: boolean;
  /** Effects that the goal wants at the target, at most. */
  readonly wanted: number;
  /** Reasons that are a right end. */
  readonly ends: readonly string[];
}

/** What came of it. */
export interface Score {
  /** Ended by itself before the outside harness had to, with no effect too many; null where it ends anyway. */
  readonly contained: boolean | null;
  /** Taken up again to a right end; null where nothing is taken up. */
  readonly resumed: boolean | null;
  /** Exactly one recorded reason, and a right one. */
  readonly terminal: boolean;
  /** The record is whole and says what happened; null where there is none to look at. */
  readonly trace: boolean | null;
  readonly duplicates: number;
  readonly steps: number;
  readonly reason: string | null;
}

export function world(): World {
  return { effects: [], asked: 0 };
}

/** Effects at the target beyond those that were wanted. */
export function duplicatesIn({ effects }: World, { wanted }: Scenario): number {
  return Math.max(0, effects.length - wanted);
}

export const HARNESS_STEPS = 6;
