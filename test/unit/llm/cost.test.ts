import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, readPrices, upperBound } from "../../../src/app/llm.ts";
import { RoteError } from "../../../src/base/error.ts";
import type { ChatUsage } from "../../../src/model/chat.ts";

const MODEL = { provider: "p", name: "m" };
const tableOf = (price: Record<string, string>) =>
  readPrices(JSON.stringify({ version: 1, currency: "USD", models: { "p:m": price } }));
const usage = (more: Partial<ChatUsage>): ChatUsage => ({
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: null,
  cache_write_tokens: null,
  ...more,
});
const cost = (price: Record<string, string>, ...used: readonly Partial<ChatUsage>[]) =>
  costOf(
    tableOf(price),
    used.map((one) => ({ model: MODEL, usage: usage(one) })),
  );

describe("a cost", () => {
  it("is exact to the last digit", () => {
    expect(
      cost({ input: "0.30", output: "1.20" }, { input_tokens: 7327, output_tokens: 1830 }),
    ).toEqual({ currency: "USD", amount: "0.0043941", unknown: [] });
    expect(cost({ input: "0.000000000001", output: "0" }, { input_tokens: 1 }).amount).toBe(
      "0.000000000000000001",
    );
    expect(cost({ input: "3", output: "0" }, { input_tokens: 2_000_000 }).amount).toBe("6");
    expect(cost({ input: "3", output: "15" }).amount).toBe("0");
  });

  it("counts every token once, at the price of its own kind (B065)", () => {
    const price = { input: "3", output: "15", cached_input: "0.30", cache_write: "3.75" };
    expect(
      cost(price, {
        input_tokens: 5000,
        cached_input_tokens: 4000,
        cache_write_tokens: 600,
        output_tokens: 40,
      }).amount,
    ).toBe("0.00525");
  });

  it("is unknown when anything in it is, never zero (B064)", () => {
    const price = { input: "3", output: "15" };
    for (const unclear of [
      { input_tokens: null },
      { output_tokens: null },
      { input_tokens: 10, cached_input_tokens: 5 },
      { input_tokens: 10, cache_write_tokens: 5 },
      { input_tokens: 10, cached_input_tokens: 11 },
      { output_tokens: 1.5 },
    ]) {
      const { amount, unknown } = cost(price, { input_tokens: 1000 }, unclear);
      expect(amount).toBeNull();
      expect(unknown).toHaveLength(1);
    }
    const cached = { ...price, cached_input: "0.30" };
    expect(cost(cached, { input_tokens: 10 }).unknown).toEqual([
      "p:m: the provider did not report what came from its cache",
    ]);
    const other = costOf(tableOf(price), [
      { model: { provider: "p", name: "other" }, usage: usage({}) },
    ]);
    expect(other.amount).toBeNull();
    expect(other.unknown).toEqual(["the table has no price for p:other"]);
  });

  it("is the sum of its parts, however they are grouped", () => {
    const count = fc.nat(10_000_000);
    const price = { input: "0.123456789012", output: "98765.4321" };
    fc.assert(
      fc.property(fc.array(fc.tuple(count, count), { maxLength: 5 }), (used) => {
        const input = used.reduce((sum, [tokens]) => sum + tokens, 0);
        const output = used.reduce((sum, [, tokens]) => sum + tokens, 0);
        const parts = used.map(([input_tokens, output_tokens]) => ({
          input_tokens,
          output_tokens,
        }));
        expect(cost(price, ...parts)).toEqual(
          cost(price, { input_tokens: input, output_tokens: output }),
        );
      }),
    );
  });
});

describe("an upper bound", () => {
  const bound = { calls: 10, inputTokensPerCall: 1000, outputTokensPerCall: 100 };

  it("is what a run of full requests costs at the dearest price of input, and says what it is", () => {
    const price = { input: "3", output: "15", cached_input: "0.30", cache_write: "3.75" };
    expect(upperBound(tableOf(price), MODEL, bound)).toEqual({
      label: "upper-bound estimate, not a bill",
      currency: "USD",
      amount: "0.0525",
      unknown: [],
    });
  });

  it("is never below what such a run costs", () => {
    const price = { input: "3", output: "15", cached_input: "0.30", cache_write: "3.75" };
    const most = Number(upperBound(tableOf(price), MODEL, bound).amount);
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.nat(100), (input, part, output) => {
        const cached = Math.min(input, part);
        const one = {
          input_tokens: input,
          cached_input_tokens: cached,
          cache_write_tokens: input - cached,
          output_tokens: output,
        };
        const used = Array.from({ length: bound.calls }, () => one);
        expect(Number(cost(price, ...used).amount)).toBeLessThanOrEqual(most);
      }),
    );
  });

  it("is unknown without a price, or for what is no count (B066)", () => {
    const table = tableOf({ input: "3", output: "15" });
    const other = { provider: "p", name: "other" };
    expect(upperBound(table, other, bound).amount).toBeNull();
    for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const { amount, unknown } = upperBound(table, MODEL, { ...bound, calls: wrong });
      expect(amount).toBeNull();
      expect(unknown).toEqual(["the bound of calls is no count"]);
    }
  });
});

describe("a table of prices", () => {
  it("takes decimal text only, and names what is wrong (B066)", () => {
    for (const input of ["NaN", "-5", "1e309", "0.", ".5", "01", "", "0.1234567890123"]) {
      expect(() => tableOf({ input, output: "1" })).toThrow(
        expect.objectContaining({
          code: "bad_prices",
          message: expect.stringContaining("/models/p:m/input"),
        }),
      );
    }
    const slashed = '{"version":1,"currency":"USD","models":{"p:a/b":{"input":"1"}}}';
    expect(() => readPrices(slashed)).toThrow("/models/p:a~1b/output: ");
    const number = '{"version":1,"currency":"USD","models":{"p:m":{"input":1,"output":"1"}}}';
    expect(() => readPrices(number)).toThrow(RoteError);
    expect(() => readPrices('{"version":1,"version":1}')).toThrow("line 1");
  });
});
