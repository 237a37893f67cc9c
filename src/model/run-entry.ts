/** Bodies of a run's entries as they are read back: what does not fit was not written by us, or by another version. */
import { z } from "zod";
import { type Digest, isDigest } from "../base/digest.ts";
import { RUN_MODES } from "./run.ts";
import { STOP_REASONS, type StopReason, TERMINAL_STATES } from "./stop.ts";

const digest = z.custom<Digest>((value) => typeof value === "string" && isDigest(value));
const count = z.int().min(0);
const node = z.string().min(1);
const index = count.nullable();
const model = z.strictObject({ provider: z.string(), name: z.string() });
const REASONS: readonly StopReason[] = TERMINAL_STATES.flatMap((state) => [...STOP_REASONS[state]]);
const reason = z.custom<StopReason>((value) => REASONS.some((known) => known === value));

export const startedBody = z.object({
  plan: digest,
  verifier: digest,
  semantics: count,
  mode: z.enum(RUN_MODES),
  limits: z.strictObject({
    max_steps: count,
    max_runtime_ms: count,
    max_tokens: count,
    max_tokens_per_answer: count,
  }),
  models: z.record(z.string(), model),
  qualification: z.string().nullable(),
});

export const answeredBody = z.object({
  node,
  index,
  usage: z
    .strictObject({ input_tokens: count.nullable(), output_tokens: count.nullable() })
    .nullable(),
  model,
  source: z.enum(["supplied", "learned"]),
});

export const nodeBody = z.object({ node });

export const endedBody = z.object({
  stopped: z
    .strictObject({
      type: z.literal("stopped"),
      reason,
      message: z.string(),
      code: z.exactOptional(z.string()),
      evaluations: count,
    })
    .nullable(),
});
