import { RoteError } from "../base/error.ts";
import type { RunLimits } from "../model/plan.ts";

const NAMES = ["max_steps", "max_runtime_ms", "max_tokens", "max_tokens_per_answer"] as const;

/**
 * The limits of one run: the recipe's, lowered where the host asks for less. A host that states more than the
 * recipe allows gets the recipe's limit; nothing raises it.
 *
 * @throws RoteError `bad_limit` for an unknown name or anything but a whole number from 0.
 */
export function lowerLimits(own: RunLimits, given: Partial<RunLimits>): RunLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!(NAMES as readonly string[]).includes(name)) {
      throw badLimit(name, `unknown; expected ${NAMES.join(", ")}`);
    }
    if (!Number.isSafeInteger(value) || value < 0) throw badLimit(name, "not a count");
  }
  return Object.freeze({
    max_steps: lower(own, given, "max_steps"),
    max_runtime_ms: lower(own, given, "max_runtime_ms"),
    max_tokens: lower(own, given, "max_tokens"),
    max_tokens_per_answer: lower(own, given, "max_tokens_per_answer"),
  });
}

function lower(own: RunLimits, given: Partial<RunLimits>, name: (typeof NAMES)[number]): number {
  return Math.min(own[name], given[name] ?? own[name]);
}

function badLimit(name: string, why: string): RoteError {
  return new RoteError("bad_limit", `limit "${name}": ${why}`, { limit: name });
}
