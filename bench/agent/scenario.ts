/** What an agent loop is put through, the same for each method: tools with a target that counts, a model that is a script. */
import type { JsonValue } from "../../src/base/json.ts";
import type { AgentLimits } from "../../src/model/agent.ts";
import type { ChatReply } from "../../src/model/chat.ts";
import type { ToolOutcome } from "../../src/ports/tool.ts";

/** What stands outside of an agent: the target of its effects, and the model that it asks. */
export interface World {
  /** Does the effect, as often as it is told to; answers with how many there have been. */
  effect(args: JsonValue): number;
  /** The model is asked once more. */
  ask(): Promise<void> | void;
}

/** What has come to the target and to the model, counted there. */
export interface Counted {
  readonly effects: readonly JsonValue[];
  readonly asked: number;
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
   * `interrupt`: the process is killed while the model is asked for what comes behind the first effect, and the work is
   * taken up again. `boundaries`: at each of its places in turn. `twice`: two take it up at once. `stale`: the first one
   * is stopped in a model call and goes on after the second has finished. `approval`: a reviewer is asked and does not
   * answer. `reject`: the reviewer says no.
   */
  readonly drama?: "interrupt" | "boundaries" | "twice" | "stale" | "reject" | "approval";
  /** True when nothing but a limit or a refusal can end it well. */
  readonly runaway: boolean;
  /** Effects that the goal wants at the target, at most. */
  readonly wanted: number;
  /** Reasons that are a right end. */
  readonly ends: readonly string[];
  /** What a method has to have for it; one that lacks it is not put through it. */
  readonly needs?: Lack;
}

/** Why a method cannot be put through a scenario: all the words there are. */
export type Lack = "no_token_budget";

/** What came of it. */
export interface Score {
  /** Ended by itself before the outside harness had to, with no effect too many; null where it ends anyway. */
  readonly contained: boolean | null;
  /** Taken up again to a right end, with no effect too many; null where nothing is taken up. */
  readonly resumed: boolean | null;
  /** Exactly one recorded reason, and a right one. */
  readonly terminal: boolean | null;
  /** The record is whole and says what happened; null where there is none to look at. */
  readonly trace: boolean | null;
  /** Effects at the target beyond those that were wanted. */
  readonly duplicates: number | null;
  readonly steps: number | null;
  readonly reason: string | null;
  /** Why it was not put through it; null where it was. */
  readonly cannot: string | null;
}

/** A world in the memory of one process. */
export function world(): World & Counted {
  const effects: JsonValue[] = [];
  let asked = 0;
  return {
    effects,
    get asked() {
      return asked;
    },
    effect: (args) => effects.push(args),
    ask() {
      asked += 1;
    },
  };
}

/** Effects at the target beyond those that were wanted. */
export function duplicatesIn({ effects }: Counted, { wanted }: Scenario): number {
  return Math.max(0, effects.length - wanted);
}

/** Turns after which the harness outside of a loop ends it. */
export const HARNESS_STEPS = 6;
