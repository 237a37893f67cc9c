/** What is a right end, and what a record is held against. */
import { canonicalText } from "../../src/base/canonical.ts";
import type { JsonValue } from "../../src/base/json.ts";
import type { Kept } from "./job.ts";
import type { Counted, Scenario } from "./scenario.ts";

/** Words for the ends of peers, and the reasons of ours in place of which each is as right. */
const WORDS: { readonly [word: string]: readonly string[] } = {
  turn_limit: ["repeated_action", "no_progress", "consecutive_errors"],
  tool_error: ["uncertain_operation"],
  timed_out: ["uncertain_operation"],
};

/** A method without a word for why it stopped may say the next best thing that is true. */
export function isRight(reason: string, { ends }: Scenario): boolean {
  return ends.includes(reason) || (WORDS[reason] ?? []).some((word) => ends.includes(word));
}

/** Every effect at the target stands in the record as a call of its own, and every call with a result is at the target. */
export function tellsOf(kept: Kept, { effects }: Counted, { tools }: Scenario): boolean {
  const category = new Map(tools.map((tool) => [tool.name, tool.category]));
  const calls = kept.calls.filter(({ tool }) => category.get(tool) === "effect");
  const left = new Map<string, number>();
  const add = (args: JsonValue, by: number) => {
    const key = canonicalText(args);
    const count = (left.get(key) ?? 0) + by;
    left.set(key, count);
    return count;
  };
  for (const args of effects) add(args, 1);
  for (const { args, outcome } of calls) {
    if (outcome === "done" && add(args, -1) < 0) return false;
  }
  // A call whose outcome the record leaves open may have come to the target or not.
  for (const { args, outcome } of calls) {
    if (outcome === "open" && (left.get(canonicalText(args)) ?? 0) > 0) add(args, -1);
  }
  return kept.whole && [...left.values()].every((count) => count === 0);
}
