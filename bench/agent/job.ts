/** What a process is told to play, and what it says; the same for every method that has processes of its own. */
import type { JsonValue } from "../../src/base/json.ts";
import type { ChatReply } from "../../src/model/chat.ts";
import type { Scenario, World } from "./scenario.ts";

/** Two jobs in one folder are one piece of work. */
export interface PlayJob {
  readonly kind: "play";
  readonly scenario: string;
  /** Where the target and the method keep their files. */
  readonly directory: string;
  /** From the beginning; where it was left; with the answer of a reviewer who says no. */
  readonly from: "start" | "resume" | "reject";
  /**
   * SIGKILL at the n-th place: before each write of its record, while the model is asked, behind each effect. Or at the
   * n-th of those at which the model is asked.
   */
  readonly die?: { readonly at: "place" | "model"; readonly nth: number };
  /** SIGSTOP when the model is asked for the first time. */
  readonly sleeps?: boolean;
  /** Milliseconds that the model takes. */
  readonly modelMs?: number;
}

/** Reads what was kept, in the end. */
export interface LookJob {
  readonly kind: "look";
  readonly scenario: string;
  readonly directory: string;
}

/** One run of so many turns with one call each. */
export interface CostJob {
  readonly kind: "cost";
  /** Null keeps it in memory. */
  readonly directory: string | null;
  readonly turns: number;
  /** The model is done with it after so many milliseconds of processor time. */
  readonly limitMs: number;
}

export type Job = PlayJob | LookJob | CostJob;

/** One call of an effect as the record has it: with a result, begun without one, or known not to have been run. */
export interface RecordedCall {
  readonly tool: string;
  readonly args: JsonValue;
  readonly outcome: "done" | "open" | "not_run";
}

/** What a method has kept; null where it keeps nothing. */
export interface Kept {
  /** By the method's own check of its record; true where it has none. */
  readonly whole: boolean;
  readonly calls: readonly RecordedCall[];
}

/** A whole run. */
export interface Spent {
  /** Fewer than were wanted when the limit came first. */
  readonly turns: number;
  readonly ms: number;
  readonly cpuMs: number;
}

export type Answer =
  | { readonly reason: string }
  | { readonly kept: Kept | null }
  | { readonly spent: Spent }
  | { readonly problem: string };

export type Said = Answer | { readonly asleep: true } | { readonly ready: true };

/** What a method has to play with. */
export interface Work {
  readonly scenario: Scenario;
  readonly directory: string;
  readonly from: PlayJob["from"];
  readonly world: World;
  /** Passed before each write of the record: a place to die at. */
  readonly place: () => void;
}

/** Look-ups, one in each turn, until it says `done`. */
export interface CostScript {
  /** How many turns it is meant to be. */
  readonly turns: number;
  /** By the replies there have been alone, so that the model costs the same in every turn. */
  readonly reply: (replies: number) => ChatReply;
}

/** A method, in a process of its own. */
export interface Player {
  /** The reason why it stopped, by the method's own word for it or that of `WORDS`. */
  play(work: Work): Promise<string>;
  look(scenario: Scenario, directory: string): Promise<Kept | null>;
  /** Makes everything that a run needs; the run itself is what is measured, and may be called again. */
  cost(directory: string | null, script: CostScript): Promise<() => Promise<void>>;
}
