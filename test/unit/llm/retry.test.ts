import { describe, expect, it } from "vitest";
import { type ModelAttempt, type RetryPolicy, retryingChat } from "../../../src/llm/retry.ts";
import { UNKNOWN_CHAT_USAGE } from "../../../src/model/chat.ts";
import { type ChatModel, providerError } from "../../../src/ports/chat-model.ts";
import type { Timers } from "../../../src/ports/timers.ts";
import { manualClock } from "../../support/manual-clock.ts";

const REQUEST = { messages: [], tools: [], maxOutputTokens: null, answerSchema: null };
const USAGE = { ...UNKNOWN_CHAT_USAGE, input_tokens: 5, output_tokens: 1 };
const REPLY = {
  content: "x",
  calls: [],
  stop: "end",
  usage: USAGE,
  response: { id: null, model: null },
} as const;

/** A model that fails so often first, and how it is asked again: time passes when it is waited for. */
function trial(faults: readonly unknown[], policy: RetryPolicy = {}) {
  const clock = manualClock();
  const waits: number[] = [];
  const attempts: ModelAttempt[] = [];
  const gone = new AbortController();
  let asked = 0;
  const timers: Timers = {
    soon: (work) => work(),
    after: () => () => undefined,
    deadline(ms, work) {
      waits.push(ms);
      let cancelled = false;
      queueMicrotask(() => {
        clock.pass(ms);
        if (!cancelled) work();
      });
      return () => {
        cancelled = true;
      };
    },
  };
  const model: ChatModel = {
    identity: { provider: "p", name: "m" },
    reply() {
      const fault = faults[asked];
      asked += 1;
      return fault === undefined ? Promise.resolve(REPLY) : Promise.reject(fault as Error);
    },
  };
  const random = { bytes: (count: number) => new Uint8Array(count).fill(255) };
  const retrying = retryingChat(model, {
    policy,
    ports: { clock, random, timers },
    onAttempt: (attempt) => attempts.push(attempt),
  });
  const ask = () => retrying.reply(REQUEST, gone.signal);
  return { ask, waits, attempts, gone, identity: retrying.identity, asked: () => asked };
}

const limited = (retryAfterMs?: number) =>
  providerError("rate_limited", "slow down", {
    status: 429,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const failed = () => providerError("unavailable", "oops", { status: 503 });

describe("asking a model again", () => {
  it("makes as many requests as the policy says, tells of each, and ends with the last fault (B036)", async () => {
    const one = trial([failed(), limited(), failed(), failed()]);
    await expect(one.ask()).rejects.toMatchObject({ code: "provider_error", message: "oops" });
    expect(one.asked()).toBe(3);
    expect(
      one.attempts.map(({ attempt, fault, waitMs }) => [attempt, fault?.kind, waitMs]),
    ).toEqual([
      [1, "unavailable", one.waits[0]],
      [2, "rate_limited", one.waits[1]],
      [3, "unavailable", null],
    ]);
    expect(one.attempts.every(({ usage }) => usage.input_tokens === null)).toBe(true);
    expect(one.identity).toEqual({ provider: "p", name: "m" });
  });

  it("ends with the first reply, and its usage", async () => {
    const one = trial([failed()]);
    expect(await one.ask()).toBe(REPLY);
    expect(one.attempts[1]).toEqual({
      model: { provider: "p", name: "m" },
      attempt: 2,
      fault: null,
      usage: USAGE,
      waitMs: null,
    });
  });

  it("is for faults that say that it makes sense, and for no others", async () => {
    for (const fault of [providerError("refused", "no"), new Error("broken"), "a text"]) {
      const one = trial([fault]);
      await expect(one.ask()).rejects.toBe(fault);
      expect(one.asked()).toBe(1);
    }
  });

  it("waits twice as long each time, up to the longest wait, and never less than the provider says", async () => {
    const faults = [failed(), failed(), failed(), failed(), limited(9000)];
    const one = trial(faults, { attempts: 6, firstDelayMs: 1000, maxDelayMs: 3000 });
    await one.ask();
    expect(one.waits).toEqual([1000, 2000, 3000, 3000, 9000]);
  });

  it("does not wait for longer than it is given in all", async () => {
    const one = trial([limited(60_001)], { withinMs: 60_000 });
    await expect(one.ask()).rejects.toMatchObject({ code: "provider_error" });
    expect(one.waits).toEqual([]);
    const two = trial([limited(40_000), limited(40_000)], { withinMs: 60_000 });
    await expect(two.ask()).rejects.toMatchObject({ code: "provider_error" });
    expect(two.asked()).toBe(2);
  });

  it("ends when the caller gives up, also while it waits", async () => {
    const one = trial([failed()]);
    const asking = one.ask();
    queueMicrotask(() => one.gone.abort(new Error("paused")));
    await expect(asking).rejects.toThrow();
    expect(one.asked()).toBe(1);
  });
});
