/**
 * What tokens cost, by the user's own prices, to the last digit. A cost that a provider reports is not looked at. What is
 * unknown makes the cost unknown: it is never zero because nobody counted.
 */
import type { ChatUsage } from "../model/chat.ts";
import type { ModelPrice, PriceTable } from "../model/prices.ts";
import type { ModelIdentity } from "../model/run.ts";

export interface Used {
  readonly model: ModelIdentity;
  readonly usage: ChatUsage;
}

export interface Cost {
  readonly currency: string;
  /** Exact decimal text; null when it is unknown. */
  readonly amount: string | null;
  /** Why it is unknown, each reason once; empty when it is known. */
  readonly unknown: readonly string[];
}

export function costOf(table: PriceTable, used: readonly Used[]): Cost {
  const unknown = new Set<string>();
  let sum = 0n;
  for (const { model, usage } of used) {
    const price = priceOf(table, model);
    if (price === undefined) unknown.add(`the table has no price for ${named(model)}`);
    else sum += costUnder(price, usage, (reason) => unknown.add(`${named(model)}: ${reason}`));
  }
  return {
    currency: table.currency,
    amount: unknown.size === 0 ? decimalText(sum) : null,
    unknown: [...unknown],
  };
}

export function priceOf(table: PriceTable, model: ModelIdentity): ModelPrice | undefined {
  const name = named(model);
  return Object.hasOwn(table.models, name) ? table.models[name] : undefined;
}

function named({ provider, name }: ModelIdentity): string {
  return `${provider}:${name}`;
}

function costUnder(price: ModelPrice, usage: ChatUsage, missing: (reason: string) => void): bigint {
  const { input_tokens: input, output_tokens: output } = usage;
  if (input === null || output === null) {
    missing("the provider did not report its tokens");
    return 0n;
  }
  if (usage.cached_input_tokens === null && price.cached_input !== undefined) {
    missing("the provider did not report what came from its cache");
  }
  const cached = usage.cached_input_tokens ?? 0;
  const written = usage.cache_write_tokens ?? 0;
  const counts = [input - cached - written, cached, written, output];
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) {
    missing("its counts of tokens contradict each other");
    return 0n;
  }
  return (
    times(input - cached - written, price.input) +
    partly(cached, price.cached_input, () => missing("cached input has no price")) +
    partly(written, price.cache_write, () => missing("input written to the cache has no price")) +
    times(output, price.output)
  );
}

function partly(tokens: number, price: string | undefined, missing: () => void): bigint {
  if (tokens > 0 && price === undefined) missing();
  return times(tokens, price ?? "0");
}

export interface RunBound {
  /** Requests at most, repeated ones included. */
  readonly calls: number;
  /** Tokens that one request can have at most: the context of the model, if nothing smaller is certain. */
  readonly inputTokensPerCall: number;
  /** Tokens that one reply can have at most, as the provider is told. */
  readonly outputTokensPerCall: number;
}

export interface CostBound extends Cost {
  /** Says what it is, wherever it is shown. */
  readonly label: "upper-bound estimate, not a bill";
}

/** The most that a run can cost, before anything is paid: every request of full size, at the dearest price of input. */
export function upperBound(table: PriceTable, model: ModelIdentity, bound: RunBound): CostBound {
  const label = "upper-bound estimate, not a bill";
  const { currency } = table;
  const price = priceOf(table, model);
  if (price === undefined) {
    const unknown = [`the table has no price for ${named(model)}`];
    return { label, currency, amount: null, unknown };
  }
  const { calls, inputTokensPerCall: input, outputTokensPerCall: output } = bound;
  const wrong = Object.entries({ calls, input, output }).flatMap(([name, count]) =>
    Number.isSafeInteger(count) && count >= 0 ? [] : [`the bound of ${name} is no count`],
  );
  if (wrong.length > 0) return { label, currency, amount: null, unknown: wrong };
  const prices = [price.input, price.cached_input ?? "0", price.cache_write ?? "0"];
  const dearest = prices.map((one) => times(input, one)).reduce(larger);
  const amount = decimalText(BigInt(calls) * (dearest + times(output, price.output)));
  return { label, currency, amount, unknown: [] };
}

function larger(left: bigint, right: bigint): bigint {
  if (left > right) return left;
  return right;
}

/** Whether the user states that the model costs nothing; undefined when the table does not name it. */
export function isFree(table: PriceTable, model: ModelIdentity): boolean | undefined {
  const price = priceOf(table, model);
  return price === undefined ? undefined : Object.values(price).every((one) => units(one) === 0n);
}

/** Prices have up to 12 digits after the point, and are for a million tokens. */
const PRICE_SCALE = 12;
const SCALE = PRICE_SCALE + 6;

function times(tokens: number, price: string): bigint {
  return BigInt(tokens) * units(price);
}

function units(price: string): bigint {
  const [whole = "0", fraction = ""] = price.split(".");
  return BigInt(whole + fraction.padEnd(PRICE_SCALE, "0"));
}

function decimalText(amount: bigint): string {
  const digits = String(amount).padStart(SCALE + 1, "0");
  const fraction = digits.slice(-SCALE).replace(/0+$/, "");
  const whole = digits.slice(0, -SCALE);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
