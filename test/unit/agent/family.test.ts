/** Runs and their children: one set of limits for all of them, and never more than the first one has. */
import { afterEach, describe, expect, it } from "vitest";
import { partsOf } from "../../../src/host/index.ts";
import type { ChatModel } from "../../../src/ports/chat-model.ts";
import { agentHosts, balance, calls, pay, runtimeOf, say, script } from "../../support/agent.ts";
import { bank, refusal } from "../../support/gate.ts";

const hosts = agentHosts("tail_uncovered");
const { made } = hosts;
afterEach(async () => expect(await hosts.close()).toEqual([]));

describe("a family of runs", () => {
  it("has the limits of its first one together (B034)", async () => {
    const host = await made(bank());
    const usage = { input_tokens: 300, output_tokens: 100 };
    const lines = [
      { ...(pay(1) as object), usage },
      { ...(say("ok") as object), usage },
    ];
    const limits = { max_total_tokens: 1_000, reserve_tokens: 100 };
    const runtime = runtimeOf(host, script(...lines), { defaults: { limits } });
    const parent = await runtime.run("pay");
    expect(parent).toMatchObject({ state: "completed", tokens: { input: 600 } });
    const child = await runtime.run("pay again", { parent: parent.run });
    expect(child).toMatchObject({ reason: "token_budget_exceeded", steps: 1 });
    const next = await runtime.run("and again", { parent: child.run });
    expect(next).toMatchObject({ reason: "token_budget_exceeded", steps: 0 });
  });

  it("has no more turns than its first one may, all together (B034)", async () => {
    const host = await made(bank());
    const lines = script(calls(balance(1)), calls(balance(2)), say("ok"));
    const runtime = runtimeOf(host, lines, { defaults: { limits: { max_steps: 5 } } });
    const parent = await runtime.run("look");
    expect(parent).toMatchObject({ reason: "completed", steps: 3 });
    const child = await runtime.run("look again", { parent: parent.run });
    expect(child).toMatchObject({ reason: "max_steps", steps: 2 });
  });

  it("admits exactly as many at once as the tokens that are left suffice for (B054)", async () => {
    const host = await made(bank());
    const usage = { input_tokens: 800, output_tokens: 100 };
    const limits = { max_total_tokens: 1_000, reserve_tokens: 60 };
    const first = runtimeOf(host, script({ ...(say("ok") as object), usage }), {
      defaults: { limits },
    });
    const { run: parent } = await first.run("begin");
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = 0;
    const slow: ChatModel = {
      identity: { provider: "scripted", name: "slow" },
      async reply() {
        asked += 1;
        await gate;
        return script({ say: "ok", usage: { input_tokens: 1, output_tokens: 1 } }).reply({
          messages: [],
          tools: [],
          maxOutputTokens: null,
          answerSchema: null,
        });
      },
    };
    const children = Array.from({ length: 4 }, () =>
      runtimeOf(host, slow, { defaults: { limits } }).run("child", { parent }),
    );
    while (asked === 0) await new Promise((resolve) => setImmediate(resolve));
    const refused = Promise.race(children);
    expect(await refused).toMatchObject({ reason: "token_budget_exceeded", steps: 0 });
    release();
    const ends = (await Promise.all(children)).map(({ reason }) => reason);
    expect(ends.sort()).toEqual([
      "completed",
      "token_budget_exceeded",
      "token_budget_exceeded",
      "token_budget_exceeded",
    ]);
    expect(partsOf(host).journal.total(`agent/${parent}/total_tokens`)).toBe(902n);
  });

  it("never has a tool that its parent has not", async () => {
    const host = await made(bank());
    const runtime = runtimeOf(host, script(say("ok")));
    const parent = await runtime.run("look", { tools: ["bank.balance"] });
    const wider = runtime.run("pay", { parent: parent.run, tools: ["bank.pay"] });
    expect(await refusal(wider)).toBe("tool_missing");
    const child = await runtime.run("look", { parent: parent.run });
    expect(runtime.inspect(child.run).tools.map(({ name }) => name)).toEqual(["bank.balance"]);
  });

  const usage = { input_tokens: 500, output_tokens: 100 };

  it("makes no call that a reply asks for when that reply took it over its tokens (B034)", async () => {
    const of = bank();
    const host = await made(of);
    const limits = { max_total_tokens: 1_000, reserve_tokens: 100 };
    const lines = [{ ...(say("ok") as object), usage }];
    const parent = await runtimeOf(host, script(...lines), { defaults: { limits } }).run("begin");
    const asks = script({ ...(pay(1) as object), usage }, say("Paid."));
    const child = await runtimeOf(host, asks).run("pay", { parent: parent.run });
    expect(child).toMatchObject({ reason: "token_budget_exceeded", steps: 1 });
    expect(of.pay.calls).toHaveLength(0);
    expect(runtimeOf(host, asks).replay(child.run)).toMatchObject({ ended: true });
  });

  it("makes no more tool calls than its first one may, also within one reply (B034)", async () => {
    const of = bank();
    const host = await made(of);
    const limits = { max_tool_calls: 4 };
    const five = calls(...[1, 2, 3, 4, 5].map((n) => ["bank.pay", { n }] as const));
    const first = script(calls(["bank.pay", { n: 8 }], ["bank.pay", { n: 9 }]), say("ok"));
    const parent = await runtimeOf(host, first, { defaults: { limits } }).run("begin");
    const child = await runtimeOf(host, script(five, say("ok"))).run("more", {
      parent: parent.run,
    });
    expect(child).toMatchObject({ reason: "max_steps" });
    expect(of.pay.calls).toHaveLength(4);
    expect(runtimeOf(host, first).replay(child.run)).toMatchObject({ ended: true, results: 2 });
  });

  it("keeps what its first one was held to: keys, polls, what is set aside", async () => {
    const of = bank();
    const host = await made(of);
    const limits = { max_total_tokens: 1_000, reserve_tokens: 300 };
    const keys = { "bank.pay": ["/account"] };
    const runtime = runtimeOf(host, script(pay(1), say("ok")));
    const parent = await runtime.run("begin", { limits, keys });
    const child = await runtimeOf(host, script(pay(2), say("ok"))).run("again", {
      parent: parent.run,
      limits: { reserve_tokens: 0 },
      keys: { "bank.pay": [] },
      polls: ["bank.balance"],
    });
    expect(child).toMatchObject({ reason: "duplicate_operation" });
    const { tools, limits: held } = runtime.inspect(child.run);
    expect(tools.map(({ key, poll }) => [key, poll])).toEqual([
      [[], false],
      [["/account"], false],
    ]);
    expect(held.reserve_tokens).toBe(300);
    expect(of.pay.calls).toHaveLength(1);
  });
});
