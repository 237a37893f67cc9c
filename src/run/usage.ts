/** Tokens: what is reported, what is charged. Missing usage is unknown, never zero. */
import { RoteError } from "../base/error.ts";
import type { RunLimits } from "../model/plan.ts";
import type { ModelUsage } from "../model/run.ts";

/** What an answer costs its run: an unknown part is charged as if the answer had used all that one answer may. */
export function chargeOf(usage: ModelUsage | null, limits: RunLimits): number {
  const input = usage?.input_tokens ?? null;
  const output = usage?.output_tokens ?? null;
  if (input !== null && output !== null) return input + output;
  return Math.max(limits.max_tokens_per_answer, input ?? output ?? 0);
}

/**
 * Usage as the caller gives it, copied.
 *
 * @throws RoteError `bad_model_usage` for anything but counts and nulls.
 */
export function readUsage(usage: ModelUsage): ModelUsage {
  const { input_tokens, output_tokens } = usage;
  return { input_tokens: count(input_tokens), output_tokens: count(output_tokens) };
}

function count(tokens: unknown): number | null {
  if (tokens === null || tokens === undefined) return null;
  if (typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0) return tokens;
  throw new RoteError(
    "bad_model_usage",
    "tokens must be whole numbers from 0, or null when unknown",
  );
}

/** Sums over answers; one unknown makes the sum unknown. */
export function sumTokens(
  usages: readonly (ModelUsage | null)[],
  member: "input_tokens" | "output_tokens",
): number | "unknown" {
  let sum = 0;
  for (const usage of usages) {
    const tokens = usage?.[member] ?? null;
    if (tokens === null) return "unknown";
    sum += tokens;
  }
  return sum;
}
