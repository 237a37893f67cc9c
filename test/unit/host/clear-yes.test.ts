import { describe, expect, it } from "vitest";
import type { OperationSecurity } from "../../../src/ports/security.ts";
import {
  bank,
  begin,
  CHECK,
  hostAt,
  INPUTS,
  OPEN,
  paid,
  pay,
  READ,
  recipeOf,
  said,
  VERIFIER,
} from "../../support/gate.ts";
import { madeTool, POLICY, registration } from "../../support/host.ts";

describe("a check that gives no clear yes", () => {
  const verdicts = (given: unknown): OperationSecurity => ({ evaluate: () => given as never });

  it("of operation security refuses: a promise, nothing, another word", async () => {
    const of = bank();
    const yes = { verdict: "allow", rule: "r", message: "" };
    for (const given of [
      Promise.resolve(yes),
      undefined,
      null,
      {},
      { verdict: "ALLOW" },
      { verdict: true },
      "allow",
    ]) {
      const host = await hostAt(null, of, { ...OPEN, security: verdicts(given) });
      expect(said((await begin(host)).run)).toEqual(["denied", "security_error"]);
      await host.close();
    }
    const host = await hostAt(null, of, { ...OPEN, security: verdicts(yes) });
    expect((await begin(host)).run.state).toBe("verified");
    await host.close();
  });

  it("of operation security may ask, where the policy alone would not", async () => {
    const security = verdicts({ verdict: "need_approval", rule: "r", message: "" });
    const host = await hostAt(null, bank(), { ...OPEN, security });
    expect((await begin(host)).run.state).toBe("awaiting_approval");
    await host.close();
  });

  it("of the tool's own arguments refuses: a promise, nothing, anything but null", async () => {
    for (const given of [undefined, Promise.resolve(null), false, 0, "", "amount is missing", {}]) {
      const of = bank({ tool: { fault: () => given } });
      const host = await hostAt(null, of, OPEN);
      expect(said((await begin(host)).run)).toEqual(["denied", "tool_arguments_invalid"]);
      expect(of.pay.calls).toHaveLength(0);
      await host.close();
    }
  });

  it("of the verifier, before each effect, sees what was done before it", async () => {
    const of = bank();
    const host = await hostAt(null, of, OPEN);
    const two = recipeOf([CHECK, pay("one", ["check"]), pay("two", ["one"])]);
    const none = {
      op: "equal",
      left: { op: "count", list: { input: "context/operations" } },
      right: 0,
    };
    const { run } = await begin(host, two, INPUTS, { ...VERIFIER, before_effect: none });
    expect(said(run)).toEqual(["rejected", "before_effect_refused"]);
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });
});

describe("the category of a tool", () => {
  it("comes from its review: hints of its server lower nothing (B027)", async () => {
    const wipe = madeTool("bank.pay", paid);
    const definition = {
      ...wipe.tool.definition,
      annotations: { readOnlyHint: true, destructiveHint: false },
    };
    const hinted = { ...wipe, tool: { ...wipe.tool, definition } };
    const unreviewed = await hostAt(null, { tools: [{ tool: hinted.tool, review: null }] });
    expect(said((await begin(unreviewed)).run)).toEqual(["denied", "tool_not_reviewed"]);
    await unreviewed.close();
    const host = await hostAt(null, { tools: [registration(hinted, "effect")] });
    expect((await begin(host)).run.state).toBe("awaiting_approval");
    const read = recipeOf([{ ...READ, step: { ...READ.step, tool: "bank.pay" } }]);
    expect(said((await begin(host, read)).run)).toEqual(["denied", "tool_wrong_category"]);
    await host.close();
    expect(wipe.calls).toHaveLength(0);
  });

  it("cannot be talked away by how the tool is registered: an effect under read permissions is an effect", async () => {
    const of = bank();
    const tools = of.tools.map((one) => ({ ...one, permissions: ["tool:read:bank.pay"] }));
    for (const profile of ["readonly", "standard"] as const) {
      const host = await hostAt(null, { tools }, { policy: { ...POLICY, profile } });
      const { run } = await begin(host);
      expect(run.state).toBe(profile === "readonly" ? "denied" : "awaiting_approval");
      await host.close();
    }
    expect(of.pay.calls).toHaveLength(0);
  });

  it("of an effect is no read's, although the recipe says so, nor the other way round", async () => {
    const of = bank();
    const host = await hostAt(null, of, OPEN);
    const effect = recipeOf([
      CHECK,
      pay("pay", ["check"], { output: "json" }, { tool: "bank.balance" }),
    ]);
    expect(said((await begin(host, effect)).run)).toEqual(["denied", "tool_wrong_category"]);
    expect(of.balance.calls).toHaveLength(0);
    await host.close();
  });

  it("of a renamed tool is nobody's: its review is of another (B031)", async () => {
    const of = bank();
    const [, paying] = of.tools;
    const definition = { ...of.pay.tool.definition, name: "bank.transfer" };
    const renamed = { tool: { ...of.pay.tool, definition }, review: paying?.review ?? null };
    const host = await hostAt(null, { tools: [renamed] }, OPEN);
    const recipe = recipeOf([CHECK, pay("pay", ["check"], {}, { tool: "bank.transfer" })]);
    expect(said((await begin(host, recipe)).run)).toEqual(["denied", "tool_review_invalid"]);
    expect(said((await begin(host)).run)).toEqual(["denied", "tool_unknown"]);
    await host.close();
  });
});
