/**
 * A conversation with a language model that may ask for tools: the shapes that are sent, come back and are kept in the
 * journal. Everything that came from a model is data as it came; nothing here is trusted, repaired or completed.
 */
import type { JsonValue } from "../base/json.ts";

/** A tool call as the model asked for it. */
export type ChatCall = {
  /** The provider's own id, to pair the result with. Providers reuse them; it identifies nothing in the journal. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the provider's text, unread: it may be cut off, empty, or no JSON at all. */
  readonly arguments: string;
};

export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | {
      readonly role: "assistant";
      /** Empty when the model only asked for tools. */
      readonly content: string;
      readonly calls: readonly ChatCall[];
      readonly carry?: JsonValue;
    }
  | {
      readonly role: "tool";
      /** `id` and `name` of the call that this answers. */
      readonly call: string;
      readonly name: string;
      readonly content: JsonValue;
      /** The call gave no result: `content` says why. */
      readonly error: boolean;
    };

/**
 * Tokens as the provider reported them, brought to one convention by its adapter. What was not reported is null
 * (`unknown`), never zero.
 */
export type ChatUsage = {
  /** All that was read, what came from or went into a cache included. */
  readonly input_tokens: number | null;
  /** All that was written, reasoning included. */
  readonly output_tokens: number | null;
  /** The part of `input_tokens` that was read from the provider's cache. */
  readonly cached_input_tokens: number | null;
  /** The part of `input_tokens` that was written to the provider's cache. */
  readonly cache_write_tokens: number | null;
};

export const UNKNOWN_CHAT_USAGE: ChatUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
};

/**
 * Why the model stopped writing. `length`: it was cut off, so nothing in the reply is whole. `filtered`: the provider
 * withheld something. `other`: unknown to the adapter, and not to be taken for an end.
 */
export const CHAT_STOPS = ["end", "calls", "length", "filtered", "other"] as const;
export type ChatStop = (typeof CHAT_STOPS)[number];

export type ChatReply = {
  readonly content: string;
  /** In the order in which the model asked for them. */
  readonly calls: readonly ChatCall[];
  readonly stop: ChatStop;
  readonly usage: ChatUsage;
  /**
   * What the provider wants back with this message when the conversation goes on, such as signed thoughts: for its
   * adapter alone to read. Left out when there is nothing.
   */
  readonly carry?: JsonValue;
  /** What the provider calls this response and the model behind it; null where it does not say. */
  readonly response: { readonly id: string | null; readonly model: string | null };
};

/**
 * What can be wrong with a provider, and whether asking once more, unchanged, makes sense. In `data.kind` of a
 * `provider_error`.
 */
export const PROVIDER_FAULTS = {
  /** Too many requests; `data.retry_after_ms` when it said how long to wait. */
  rate_limited: { retry: true },
  /** No whole answer within the time. */
  timeout: { retry: true },
  /** Not reached, or it failed on its side. */
  unavailable: { retry: true },
  /** It answered with what is no answer: truncated, not JSON, or of another shape. */
  malformed: { retry: true },
  /** It will not answer this request: key, quota, unknown model, invalid or prohibited content. */
  refused: { retry: false },
} as const satisfies Readonly<Record<string, { readonly retry: boolean }>>;
export type ProviderFault = keyof typeof PROVIDER_FAULTS;
