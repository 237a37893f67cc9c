/** Bodies of an agent run's own entries as they are read back; what does not fit was not written by this version. */
import * as z from "zod/mini";
import type { JsonValue } from "../base/json.ts";
import { STOPPING } from "./agent.ts";
import { CHAT_STOPS, PROVIDER_FAULTS, type ProviderFault } from "./chat.ts";
import { count, digest, model, reason } from "./entry-parts.ts";
import { TOOL_CATEGORIES } from "./trust.ts";

const positive = z.int().check(z.minimum(1));
const tokens = z.nullable(count);

/** Counts and times that a run is held to. */
export const agentLimitsSchema = z.strictObject({
  max_steps: positive,
  max_tool_calls: positive,
  max_active_ms: positive,
  max_input_tokens: z.nullable(positive),
  max_output_tokens: z.nullable(positive),
  max_total_tokens: z.nullable(positive),
  reserve_tokens: count,
  max_reply_tokens: z.nullable(positive),
  repeated_action: positive,
  no_progress: positive,
  consecutive_errors: positive,
  model_attempts: positive,
  model_timeout_ms: positive,
  retry_delay_ms: count,
  parallel_calls: positive,
});

/** What was asked for: inline beside the rest, or as a blob. */
export const agentTask = z.strictObject({
  goal: z.string(),
  instructions: z.nullable(z.string()),
  recalled: z.nullable(z.string()),
});

export const agentStartedBody = z.object({
  mode: z.literal("agent"),
  version: count,
  tools: z.array(
    z.strictObject({
      name: z.string(),
      category: z.enum(TOOL_CATEGORIES),
      definition: digest,
      poll: z.boolean(),
      key: z.array(z.string()),
    }),
  ),
  limits: agentLimitsSchema,
  stop_on: z.array(z.enum(STOPPING)),
  markers: z.boolean(),
  model,
  environment: z.strictObject({
    policy: z.string(),
    tools: z.string(),
    credentials: z.string(),
    evidence: z.string(),
    host_configuration: z.nullable(z.string()),
  }),
  identity: z.string(),
  intent: z.nullable(digest),
  parent: z.nullable(z.string()),
  root: z.nullable(z.strictObject({ run: z.string(), limits: agentLimitsSchema })),
});

const turn = { step: positive, attempt: positive, ms: count };

export const agentAskedBody = z.strictObject({ ...turn, request: digest });

export const agentRepliedBody = z.object({
  ...turn,
  stop: z.enum(CHAT_STOPS),
  usage: z.strictObject({
    input_tokens: tokens,
    output_tokens: tokens,
    cached_input_tokens: tokens,
    cache_write_tokens: tokens,
  }),
  response: z.strictObject({ id: z.nullable(z.string()), model: z.nullable(z.string()) }),
});

/** What the model said: one member, since either part of it may be large. */
export const agentSaid = z.strictObject({
  content: z.string(),
  calls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  carry: z.exactOptional(z.custom<JsonValue>((value) => value !== undefined)),
});

/** `stopped`: told to, by a pause, a cancellation or the end of the run's time. */
export const UNANSWERED = [
  ...(Object.keys(PROVIDER_FAULTS) as readonly ProviderFault[]),
  "stopped",
] as const;
export type Unanswered = (typeof UNANSWERED)[number];

export const agentUnansweredBody = z.strictObject({
  ...turn,
  kind: z.enum(UNANSWERED),
  message: z.string(),
  retry: z.boolean(),
  retry_after_ms: z.nullable(count),
});

export const agentMarkedBody = z.strictObject({ step: positive, marker: digest, ms: count });

export const agentPausedBody = z.strictObject({ ms: count });

export const agentEndedBody = z.object({
  reason,
  failure: z.nullable(
    z.strictObject({
      reason,
      node: z.nullable(z.string()),
      message: z.string(),
      code: z.exactOptional(z.string()),
    }),
  ),
  result: z.nullable(digest),
  ms: count,
});
