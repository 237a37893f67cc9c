/**
 * A `ChatModel` over a model of the AI SDK.
 *
 * The SDK writes the request: messages, tools and schemas in the form that the provider and the model at hand take. What
 * comes back is read here, from the wire, because the SDK's reading loses what the port promises: missing counts of
 * tokens become zero, arguments are written anew with their numbers rounded, missing ids are invented. Since it reads
 * nothing, it also cannot try again.
 */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { RoteError } from "../base/error.ts";
import type { ChatReply } from "../model/chat.ts";
import type { ModelIdentity } from "../model/run.ts";
import { type ChatModel, type ChatRequest, providerError } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import { type Answer, exchange, type Fetch, type Wire } from "./exchange.ts";
import { failureOf, wordsIn } from "./failed.ts";
import { readAnthropicReply } from "./reply-anthropic.ts";
import { readOpenAiReply } from "./reply-openai.ts";
import { sdkRequest } from "./sdk-request.ts";
import { type Shown, showing } from "./shown.ts";
import { Malformed } from "./wire-json.ts";
import { wireNames } from "./wire-names.ts";

/** The forms of replies that are read, and with them how they count tokens. */
export const WIRES = ["openai", "anthropic"] as const;
export type WireName = (typeof WIRES)[number];

/** A model of the AI SDK, version 6 of `ai`. Named by its shape, so that its packages are needed by those alone who use it. */
export interface SdkModel {
  /** Must be `v3`. */
  readonly specificationVersion: string;
  doGenerate(options: never): PromiseLike<unknown>;
}

export interface SdkChatOptions {
  readonly identity: ModelIdentity;
  /** The SDK's model; it must make its requests with this `fetch`. Called for every reply. */
  readonly model: (fetch: Fetch) => SdkModel;
  readonly wire: WireName;
  /** Keys that no message may repeat. */
  readonly secrets?: readonly string[];
  /** Milliseconds from a request to the end of its answer. Default 300,000; the agent loop has a limit of its own. */
  readonly timeoutMs?: number;
  /** Bytes of an answer at most. Default 16 MiB. */
  readonly maxResponseBytes?: number;
  /** What makes the requests. Default Node's own, and nothing over TLS where the environment switches certificates off. */
  readonly fetch?: Fetch;
}

export interface ChatPorts {
  /** Tells how long a date in `retry-after` is away. */
  readonly clock: Clock;
  /** Makes the requests where the options name nothing else. */
  readonly fetch: Fetch;
}

export function sdkChat(options: SdkChatOptions, { clock, fetch }: ChatPorts): ChatModel {
  const shown = showing(options.secrets ?? []);
  const wire: Wire = {
    fetch: options.fetch ?? fetch,
    timeoutMs: options.timeoutMs ?? 300_000,
    maxResponseBytes: options.maxResponseBytes ?? 16 * 1024 * 1024,
    shown,
  };
  return {
    identity: options.identity,
    async reply(request, signal) {
      signal?.throwIfAborted();
      const names = wireNames(request);
      const one = exchange(wire, signal);
      let written: unknown;
      try {
        const model = options.model(one.fetch);
        if (!isVersion3(model)) throw otherVersion(options.identity, model);
        await model.doGenerate(sdkRequest(request, names, signal));
      } catch (error) {
        written = error;
      }
      const answer = one.taken();
      if (answer === undefined) throw unwritable(written, shown);
      const failure = failureOf(answer, shown, clock);
      if (failure !== undefined) throw failure;
      const reply = read(options.wire, answer, request, shown);
      const calls = reply.calls.map((call) => ({ ...call, name: names.from(call.name) }));
      return { ...reply, calls };
    },
  };
}

function read(wire: WireName, { text, status }: Answer, request: ChatRequest, shown: Shown) {
  try {
    return replyOn(wire, text, request);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const { message } = wordsIn(text);
    const said = message === "" ? "" : `; the provider says: ${message}`;
    throw providerError("malformed", shown(`the answer is no reply: ${error.message}${said}`), {
      status,
    });
  }
}

function replyOn(wire: WireName, text: string, { answerSchema, tools }: ChatRequest): ChatReply {
  switch (wire) {
    case "openai":
      return readOpenAiReply(text);
    case "anthropic": {
      const own = tools.some(({ name }) => name === "json");
      return readAnthropicReply(text, answerSchema !== null && !own);
    }
  }
}

function isVersion3(model: SdkModel): model is SdkModel & LanguageModelV3 {
  return model.specificationVersion === "v3";
}

function otherVersion({ provider, name }: ModelIdentity, model: SdkModel): RoteError {
  return new RoteError(
    "bad_model",
    `${provider}:${name} is a model of another version of the AI SDK (${String(model.specificationVersion)}, expected v3)`,
  );
}

/** The error is the SDK's, and may quote anything of the request: only its kind is told. */
function unwritable(error: unknown, shown: Shown): RoteError {
  if (error instanceof RoteError) return error;
  const name = error instanceof Error ? error.name : "no error";
  return providerError("refused", shown(`no request can be written for this model (${name})`));
}
