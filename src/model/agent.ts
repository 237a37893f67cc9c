/**
 * Agent runs: their limits, their rules and what each begins with. A limit ends the run; nothing that a model or a tool
 * says raises one, and they hold over every resume and for all children together.
 */
import type { Digest } from "../base/digest.ts";
import type { Environment } from "./environment.ts";
import type { ModelIdentity } from "./run.ts";
import type { ToolCategory } from "./trust.ts";

/** Of the rules by which an agent's record is read; it moves when a recorded run would be read differently. */
export const AGENT_VERSION = 1;

export type AgentLimits = {
  /** Turns of the model. An attempt that failed belongs to its turn. Default 50. */
  readonly max_steps: number;
  /** Tool calls that the model may ask for, refused ones included. Default 200. */
  readonly max_tool_calls: number;
  /** Milliseconds of work, in the model and in tools; waiting for a person does not count. Default 30 minutes. */
  readonly max_active_ms: number;
  /** Tokens over all turns; null for no limit, which is the default. */
  readonly max_input_tokens: number | null;
  readonly max_output_tokens: number | null;
  readonly max_total_tokens: number | null;
  /**
   * Tokens that are set aside before a model call, given back when its usage is known, and charged when it stays
   * unknown. Default: a tenth of the tightest limit of tokens, at most 4,096; 0 without one.
   */
  readonly reserve_tokens: number;
  /** What one reply may have at most, as asked of the provider; null leaves it to the provider (default). */
  readonly max_reply_tokens: number | null;
  /** Identical calls in a row; the one that would reach it is not run. Default 3. */
  readonly repeated_action: number;
  /** Turns in a row that brought nothing new. Default 10. */
  readonly no_progress: number;
  /** Tool calls in a row without a result. Default 3. */
  readonly consecutive_errors: number;
  /** Attempts at one turn of the model. Default 3. */
  readonly model_attempts: number;
  /** Milliseconds that one attempt may take. Default 120,000. */
  readonly model_timeout_ms: number;
  /** Milliseconds before a second attempt, doubled for each further one, if the provider names none. Default 500. */
  readonly retry_delay_ms: number;
  /** Reads of one turn that run at the same time. Default 8. */
  readonly parallel_calls: number;
};

export const DEFAULT_AGENT_LIMITS: AgentLimits = {
  max_steps: 50,
  max_tool_calls: 200,
  max_active_ms: 1_800_000,
  max_input_tokens: null,
  max_output_tokens: null,
  max_total_tokens: null,
  reserve_tokens: 0,
  max_reply_tokens: null,
  repeated_action: 3,
  no_progress: 10,
  consecutive_errors: 3,
  model_attempts: 3,
  model_timeout_ms: 120_000,
  retry_delay_ms: 500,
  parallel_calls: 8,
};

/**
 * What of a tool call ends the run instead of being told to the model. `refused`: the gate said no. `tool_error`: the
 * tool failed, and certainly changed nothing. `invalid_call`: the model named no tool of the run, or its arguments do not
 * fit. An uncertain outcome always ends the run.
 */
export const STOPPING = ["refused", "tool_error", "invalid_call"] as const;
export type Stopping = (typeof STOPPING)[number];

/** Only what the gate refuses: a model that may try again would look for a way around it. */
export const DEFAULT_STOPS: readonly Stopping[] = ["refused"];

export type AgentTool = {
  readonly name: string;
  /** As reviewed when the run began. */
  readonly category: ToolCategory;
  readonly definition: Digest;
  /** It tells of something that changes: identical calls count as repeated only while the answers are the same. */
  readonly poll: boolean;
  /** JSON Pointers into the arguments: together the natural key of an effect, which no second effect may have. */
  readonly key: readonly string[];
};

/** The run at the top of a family, whose limits hold for all of them together. */
export type AgentRoot = { readonly run: string; readonly limits: AgentLimits };

/** What a run begins with; nothing else is needed to read its record. */
export type AgentStart = {
  readonly version: number;
  readonly goal: string;
  /** The application's instructions; null for none. */
  readonly instructions: string | null;
  /** What was recalled for this goal, as one bounded message; null for nothing. */
  readonly recalled: string | null;
  readonly tools: readonly AgentTool[];
  readonly limits: AgentLimits;
  readonly stop_on: readonly Stopping[];
  /** The application reports markers of progress, and they alone tell whether a turn brought anything. */
  readonly markers: boolean;
  readonly model: ModelIdentity;
  /** Of the host, for the tools named: another one later refuses. */
  readonly environment: Environment;
  readonly parent: string | null;
  readonly root: AgentRoot | null;
};
