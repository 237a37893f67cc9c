/**
 * Language models by name (`rote/llm`). Each provider's package is optional and loaded when a model of it is first opened;
 * keys come from environment variables.
 */
import { RoteError } from "../base/error.ts";
import { readJson } from "../base/json.ts";
import { isFree, type RunBound, upperBound } from "../llm/cost.ts";
import { languageModel } from "../llm/language-model.ts";
import {
  isProvider,
  type NamedOptions,
  namedChat,
  PROVIDERS,
  type Variables,
} from "../llm/providers.ts";
import { type ModelAttempt, type RetryPolicy, retryingChat } from "../llm/retry.ts";
import { type SdkChatOptions, sdkChat } from "../llm/sdk-chat.ts";
import { IN_ENGLISH } from "../model/in-english.ts";
import { type PriceTable, priceTableSchema } from "../model/prices.ts";
import type { ModelIdentity } from "../model/run.ts";
import { systemClock } from "../os/clock.ts";
import { systemRandom } from "../os/random.ts";
import { systemTimers } from "../os/timers.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { LanguageModel } from "../ports/language-model.ts";
import { certainFetch } from "./certain-fetch.ts";
import { problemsIn } from "./problems.ts";

export {
  type Cost,
  type CostBound,
  costOf,
  type RunBound,
  type Used,
  upperBound,
} from "../llm/cost.ts";
export type { Fetch } from "../llm/exchange.ts";
export type { NamedOptions, Variables } from "../llm/providers.ts";
export type { ModelAttempt, RetryPolicy } from "../llm/retry.ts";
export type { SdkChatOptions, SdkModel, WireName } from "../llm/sdk-chat.ts";
export type { ChatCall, ChatMessage, ChatReply, ChatStop, ChatUsage } from "../model/chat.ts";
export type { ModelPrice, PriceTable } from "../model/prices.ts";
export type { ChatModel, ChatRequest, ChatTool } from "../ports/chat-model.ts";
export type { LanguageModel } from "../ports/language-model.ts";

const PORTS = { clock: systemClock, fetch: certainFetch };

export interface OpenModelOptions extends NamedOptions {
  /** Where keys and URLs come from. Default the environment of the process. */
  readonly variables?: Variables;
  /** That somebody has agreed to paying for the model. Default false: a model that costs money is not opened. */
  readonly acceptCost?: boolean;
  /** What the user's tokens cost. It also says which models are free; without it, only local ones are. */
  readonly prices?: PriceTable;
  /** What the run will need at most: the refusal of a paid model then says what it could cost. Needs `prices`. */
  readonly bound?: RunBound;
}

export interface OpenLanguageModelOptions extends OpenModelOptions {
  readonly retry?: RetryPolicy;
  readonly onAttempt?: (attempt: ModelAttempt) => void;
  readonly maxOutputTokens?: number;
  /** Default true; false for servers that refuse a JSON Schema for their answer. */
  readonly schemas?: boolean;
}

/**
 * A model for the agent loop, one request a call: the loop itself asks again, and records every attempt.
 *
 * @param name `provider:model`, for example `anthropic:claude-sonnet-5-5` or `ollama:qwen3`
 * @throws RoteError `bad_model` `model_key_missing` `package_missing` `cost_not_accepted`: nothing was sent
 */
export async function openChatModel(
  name: string,
  options: OpenModelOptions = {},
): Promise<ChatModel> {
  const variables = options.variables ?? process.env;
  const model = await namedChat(name, variables, options, PORTS);
  if (options.acceptCost !== true && isPaid(model.identity, options.prices)) {
    throw new RoteError(
      "cost_not_accepted",
      `${name} costs money, and nobody has agreed to that; ${priceTold(model.identity, options)}`,
      { hint: "agree to the cost (`acceptCost`)" },
    );
  }
  return model;
}

/**
 * A model for the boundaries of procedures, asked again when that makes sense.
 *
 * @throws RoteError as `openChatModel`
 */
export async function openLanguageModel(
  name: string,
  options: OpenLanguageModelOptions = {},
): Promise<LanguageModel> {
  return languageModelOf(await openChatModel(name, options), options);
}

/** The same from any chat model. */
export function languageModelOf(
  model: ChatModel,
  options: Pick<
    OpenLanguageModelOptions,
    "retry" | "onAttempt" | "maxOutputTokens" | "schemas"
  > = {},
): LanguageModel {
  const { maxOutputTokens, schemas } = options;
  return languageModel(model, {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(schemas === undefined ? {} : { schemas }),
    retrying: retryingOf(options),
  });
}

/** A chat model that is asked again when that makes sense. Not for the agent loop, which does so itself. */
export function withRetry(
  model: ChatModel,
  options: Pick<OpenLanguageModelOptions, "retry" | "onAttempt"> = {},
): ChatModel {
  return retryingChat(model, retryingOf(options));
}

/** A chat model over a model of the AI SDK, version 6, that speaks one of the wires that are read. */
export function sdkChatModel(options: SdkChatOptions): ChatModel {
  return sdkChat(options, PORTS);
}

function retryingOf({ retry, onAttempt }: Pick<OpenLanguageModelOptions, "retry" | "onAttempt">) {
  return {
    ports: { clock: systemClock, random: systemRandom, timers: systemTimers },
    ...(retry === undefined ? {} : { policy: retry }),
    ...(onAttempt === undefined ? {} : { onAttempt }),
  };
}

/** By what the user states, else by the provider's name; what is not known to be free is paid for. */
export function isPaid(model: ModelIdentity, prices?: PriceTable): boolean {
  const free = prices === undefined ? undefined : isFree(prices, model);
  if (free !== undefined) return !free;
  return !isProvider(model.provider) || PROVIDERS[model.provider].paid;
}

function priceTold(model: ModelIdentity, { prices, bound }: OpenModelOptions): string {
  if (prices === undefined || bound === undefined) return "what it costs is not known here";
  const { amount, currency, label } = upperBound(prices, model, bound);
  if (amount === null) return "what it costs is not known here";
  return `at most ${amount} ${currency} (${label})`;
}

/** @throws RoteError `bad_prices` */
export function readPrices(document: Uint8Array | string): PriceTable {
  const read = readJson(document);
  if (!read.ok) {
    const { line, column, message } = read.error;
    throw new RoteError("bad_prices", `line ${line}, column ${column}: ${message}`);
  }
  const table = priceTableSchema.safeParse(read.value, IN_ENGLISH);
  if (table.success) return table.data;
  const problems = problemsIn(table.error);
  throw new RoteError("bad_prices", problems.slice(0, 5).join("; "), { problems });
}
