import { afterAll, describe, expect, it } from "vitest";
import type { Warrant } from "../../../src/model/trust.ts";
import type { ToolOutcome } from "../../../src/ports/tool.ts";
import { envelopeDigest } from "../../../src/trust/signed-document.ts";
import { signWarrant } from "../../../src/trust/warrant.ts";
import { directories } from "../../support/directories.ts";
import {
  bank,
  begin,
  CHECK,
  hostAt,
  ONE_PAYMENT,
  ONE_READ,
  OPEN,
  paid,
  pay,
  procedureOf,
  recipeOf,
  said,
} from "../../support/gate.ts";
import { KEYS, madeTool, nowSeconds, ORIGIN, registration } from "../../support/host.ts";
import { seeded, someNonce, textOf } from "../../support/trust.ts";

const places = directories();
afterAll(() => places.remove());

/** A bank whose payments count against amounts, answered in turn. */
function counted(answer: (count: number) => ToolOutcome | Promise<ToolOutcome>) {
  const made = madeTool("bank.pay", (_, count) => answer(count));
  const amount = { value: "/amount", currency: "/currency" };
  return { ...made, tools: [registration(made, "effect", { amount })] };
}

describe("a budget", () => {
  it("is reserved when it is taken: of four runs at once that each fit, one comes through (B054)", async () => {
    const of = counted(paid);
    const budget = { run: {}, host: { amounts: { EUR: "1000" } } };
    const host = await hostAt(null, of, { ...OPEN, budget });
    expect((await begin(host, ONE_PAYMENT, { account: "0", amount: "900" })).run.state).toBe(
      "verified",
    );
    const procedure = procedureOf(host);
    const environment = host.environment(procedure.plan);
    const runs = ["1", "2", "3", "4"].map((account) =>
      procedure.start({ account, amount: "60" }, { environment }),
    );
    await Promise.all(runs.map((run) => run.advanceAsync(host)));
    const states = runs.map((run) => said(run).join(": ")).sort();
    expect(states).toEqual([
      "exhausted: budget_exceeded",
      "exhausted: budget_exceeded",
      "exhausted: budget_exceeded",
      "verified: completed",
    ]);
    expect(of.calls).toHaveLength(2);
    const refused = runs.find((run) => run.state === "exhausted");
    expect(refused?.report.failure?.message).toContain("would be 1020 of 1000");
    expect((await begin(host, ONE_PAYMENT, { account: "5", amount: "40" })).run.state).toBe(
      "verified",
    );
    await host.close();
  });

  it("is given back for what certainly did not happen, and only for that", async () => {
    const answers: readonly (readonly [() => ToolOutcome | Promise<ToolOutcome>, string])[] = [
      [() => ({ kind: "not_applied", code: "closed", message: "" }), "verified"],
      [() => ({ kind: "refused", code: "limit", message: "" }), "verified"],
      [() => Promise.reject(new Error("no reply")), "exhausted"],
    ];
    for (const [answer, then] of answers) {
      const of = counted((count) => (count === 1 ? answer() : paid()));
      const budget = { run: {}, host: { effects: 1, operations: 1, amounts: { EUR: "50" } } };
      const host = await hostAt(null, of, { ...OPEN, budget });
      expect((await begin(host)).run.state).not.toBe("verified");
      expect((await begin(host)).run.state).toBe(then);
      await host.close();
    }
  });

  it("of a run is each run's own, of the host all runs' together, over restarts", async () => {
    const directory = places.fresh();
    const of = counted(paid);
    const budget = { run: { effects: 1 }, host: { effects: 2 } };
    const states = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const host = await hostAt(directory, of, { ...OPEN, budget });
      states.push((await begin(host)).run.state);
      await host.close();
    }
    expect(states).toEqual(["verified", "verified", "exhausted"]);
    const host = await hostAt(null, counted(paid), { ...OPEN, budget });
    const two = recipeOf([CHECK, pay("one", ["check"]), pay("two", ["one"])]);
    expect(said((await begin(host, two)).run)).toEqual(["exhausted", "budget_exceeded"]);
    await host.close();
  });

  it("that does not name a currency lets nothing be spent in it; an amount that cannot be read is refused", async () => {
    const budget = { run: { amounts: { EUR: "1000" } }, host: {} };
    const of = counted(paid);
    const host = await hostAt(null, of, { ...OPEN, budget });
    const inDollars = recipeOf([
      CHECK,
      pay(
        "pay",
        ["check"],
        {},
        {
          arguments: {
            op: "record",
            fields: {
              amount: { input: "amount" },
              currency: { op: "literal", value: "USD", type: "text" },
            },
          },
        },
      ),
    ]);
    expect(said((await begin(host, inDollars)).run)).toEqual(["exhausted", "budget_exceeded"]);
    for (const amount of ["-1", "1e3", "12.50", "", " 5"]) {
      const { run } = await begin(host, ONE_PAYMENT, { account: "7", amount });
      expect(said(run)).toEqual(["exhausted", "amount_unreadable"]);
    }
    expect(of.calls).toHaveLength(0);
    await host.close();
  });

  it("counts reads as operations", async () => {
    const host = await hostAt(null, bank(), { budget: { run: { operations: 0 }, host: {} } });
    expect(said((await begin(host, ONE_READ)).run)).toEqual(["exhausted", "budget_exceeded"]);
    await host.close();
  });
});

describe("a warrant at the gate", () => {
  const holder = seeded(50);
  const identity = { name: "agent", key: textOf(holder) };
  // One moment for all: a child that is signed a second later must not outlive its parent.
  const now = nowSeconds();
  const warrant = (change: Partial<Warrant> = {}, key = KEYS.issuer) =>
    signWarrant(
      {
        type: "rote-warrant/v1",
        parent: null,
        issuer: "ida",
        holder_key: textOf(holder),
        audience: ORIGIN,
        tools: ["bank.pay"],
        constraints: [],
        max_effects: 1,
        max_reads: 0,
        not_before: now - 60,
        expires: now + 3600,
        nonce: someNonce(1),
        ...change,
      },
      key,
    );

  it("is spent once, over all runs and processes that hold it", async () => {
    const directory = places.fresh();
    const of = bank();
    const options = { ...OPEN, identity, warrant: [warrant()] };
    const states = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const host = await hostAt(directory, of, options);
      states.push(said((await begin(host)).run));
      await host.close();
    }
    expect(states).toEqual([
      ["verified", "completed"],
      ["denied", "warrant_spent"],
    ]);
  });

  it("that is handed on is spent from its root: two children do not make two", async () => {
    const directory = places.fresh();
    const of = bank();
    const parent = warrant({ max_effects: 1 });
    const states = [];
    for (const child of [51, 52].map(seeded)) {
      const handed = warrant(
        { parent: envelopeDigest(parent), holder_key: textOf(child), nonce: someNonce(2) },
        holder,
      );
      const host = await hostAt(directory, of, {
        ...OPEN,
        identity: { name: "child", key: textOf(child) },
        warrant: [parent, handed],
      });
      states.push(said((await begin(host)).run)[1]);
      await host.close();
    }
    expect(states).toEqual(["completed", "warrant_spent"]);
  });

  it("is no bearer token: who does not hold its key does nothing with it", async () => {
    const of = bank();
    for (const who of [{ name: "agent" }, { name: "agent", key: textOf(seeded(51)) }]) {
      const host = await hostAt(null, of, { ...OPEN, identity: who, warrant: [warrant()] });
      expect(said((await begin(host)).run)).toEqual(["denied", "identity_not_holder"]);
      await host.close();
    }
    expect(of.pay.calls).toHaveLength(0);
  });

  it("covers reads as well, and names the link that is wrong (B030)", async () => {
    const host = await hostAt(null, bank(), {
      ...OPEN,
      identity,
      warrant: [warrant({ tools: ["bank.balance"] })],
    });
    expect(said((await begin(host, ONE_READ)).run)).toEqual(["denied", "warrant_spent"]);
    await host.close();
    const chain = [warrant(), warrant({ parent: `sha256:${"0".repeat(64)}` }, holder)];
    const other = await hostAt(null, bank(), { ...OPEN, identity, warrant: chain });
    const { run } = await begin(other);
    expect(run.report.failure?.message).toContain("warrant 1 of the chain");
    expect(run.report.failure?.message).toContain("wrong_parent");
    await other.close();
  });
});
