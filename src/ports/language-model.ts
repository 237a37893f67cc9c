import type { JsonValue } from "../base/json.ts";
import type { ModelIdentity, ModelUsage, PendingModel } from "../model/run.ts";

/** One answer of a model, as it came: nothing about it is trusted or checked yet. */
export interface ModelReply {
  readonly answer: JsonValue;
  readonly usage: ModelUsage;
}

/**
 * A language model from outside. It is asked one boundary at a time, sees only what `PendingModel` shows, and
 * returns data: no answer grants anything, and the run reads it by the node's output type.
 */
export interface LanguageModel {
  /** What a reused answer depends on; the same for as long as the answers come from the same source. */
  readonly identity: ModelIdentity;
  /**
   * @throws RoteError `provider_error` when no answer can be had; the run stays where it is.
   */
  answer(question: PendingModel, signal?: AbortSignal): Promise<ModelReply>;
}
