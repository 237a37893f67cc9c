/**
 * The one port to language models: a conversation in, one reply out. Adapters of providers implement this and nothing
 * else; a `LanguageModel`, as procedures ask it at their boundaries, is made from one (`llm/`).
 *
 * - C1 One call is one request to the provider. Adapters do not retry, so that every attempt is counted and recorded
 *   where it is made.
 * - C2 What came is handed on as it came. Arguments stay text; broken, truncated or unknown calls are not repaired, left
 *   out, or renamed.
 * - C3 Usage follows one convention (`ChatUsage`); missing is null, and negative or broken numbers count as missing.
 * - C4 Failures are a RoteError `provider_error` with `providerError`'s data. No message or data contains a key.
 */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import {
  type ChatMessage,
  type ChatReply,
  PROVIDER_FAULTS,
  type ProviderFault,
} from "../model/chat.ts";
import type { ModelIdentity } from "../model/run.ts";

/** A tool as the model is told of it. */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object. */
  readonly inputSchema: JsonValue;
}

export interface ChatRequest {
  /** At most one `system` message of the application stands first; further ones may follow it. */
  readonly messages: readonly ChatMessage[];
  /** Empty: the model cannot ask for any. */
  readonly tools: readonly ChatTool[];
  /** The most that may be written; null leaves it to the provider. */
  readonly maxOutputTokens: number | null;
  /** The reply's content is to be JSON of this schema; null for free text. A request, not a promise: read it. */
  readonly answerSchema: JsonValue | null;
}

export interface ChatModel {
  /** Provider and name as configured; the same for as long as replies come from the same source. */
  readonly identity: ModelIdentity;
  /**
   * @throws RoteError `provider_error`; when `signal` is aborted, it rejects soon, with anything: whoever aborted knows
   */
  reply(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply>;
}

export interface ProviderErrorFacts {
  /** The HTTP status, where there was one. */
  readonly status?: number;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A `provider_error` with `data` `{kind, retry, status, retry_after_ms}`; the message is bounded and has no secrets. */
export function providerError(
  kind: ProviderFault,
  message: string,
  { status, retryAfterMs, cause }: ProviderErrorFacts = {},
): RoteError {
  return new RoteError(
    "provider_error",
    message,
    {
      kind,
      retry: PROVIDER_FAULTS[kind].retry,
      status: status ?? null,
      retry_after_ms: retryAfterMs ?? null,
    },
    cause,
  );
}
