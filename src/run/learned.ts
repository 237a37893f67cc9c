/** When a learned answer may stand in for a model. */
import { type Digest, digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { LearnedAnswer, ModelExchange, ModelIdentity } from "../model/run.ts";

/** The commitment to a prompt that evidence and learned answers carry instead of the prompt. */
export function promptDigest(prompt: JsonValue): Digest {
  return digestOf(TAGS.prompt, prompt);
}

/**
 * The learned answer for a boundary, if there is one: always for a prompt that was seen, for another prompt only
 * when the answer was shown to hold for prompts never asked before; never from another model.
 */
export function learnedFor(
  learned: readonly LearnedAnswer[],
  node: string,
  prompt: JsonValue,
  model: ModelIdentity,
): LearnedAnswer | undefined {
  const candidates = candidatesFor(learned, node, model);
  return candidates.length === 0 ? undefined : chosen(candidates, promptDigest(prompt));
}

/** The same for a boundary of a finished run, of whose prompt only the commitment is left. */
export function learnedForExchange(
  learned: readonly LearnedAnswer[],
  exchange: Pick<ModelExchange, "node" | "prompt" | "model">,
): LearnedAnswer | undefined {
  return chosen(candidatesFor(learned, exchange.node, exchange.model), exchange.prompt);
}

function candidatesFor(
  learned: readonly LearnedAnswer[],
  node: string,
  model: ModelIdentity,
): readonly LearnedAnswer[] {
  return learned.filter(
    (one) =>
      one.node === node && one.model.provider === model.provider && one.model.name === model.name,
  );
}

function chosen(candidates: readonly LearnedAnswer[], prompt: Digest): LearnedAnswer | undefined {
  return (
    candidates.find((one) => one.prompts.includes(prompt)) ?? candidates.find((one) => one.varied)
  );
}
