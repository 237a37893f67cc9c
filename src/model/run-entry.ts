/** Bodies of a run's entries as they are read back: what does not fit was not written by us, or by another version. */
import * as z from "zod/mini";
import { count, digest, model, reason } from "./entry-parts.ts";
import { RUN_MODES } from "./run.ts";

const node = z.string().check(z.minLength(1));
const index = z.nullable(count);

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
  qualification: z.nullable(z.string()),
});

export const answeredBody = z.object({
  node,
  index,
  usage: z.nullable(
    z.strictObject({ input_tokens: z.nullable(count), output_tokens: z.nullable(count) }),
  ),
  model,
  source: z.enum(["supplied", "learned"]),
});

export const nodeBody = z.object({ node });

export const endedBody = z.object({
  stopped: z.nullable(
    z.strictObject({
      type: z.literal("stopped"),
      reason,
      message: z.string(),
      code: z.exactOptional(z.string()),
      evaluations: count,
    }),
  ),
});
