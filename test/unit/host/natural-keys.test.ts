import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";
import { PAYLOAD_TYPES, type Reconciliation } from "../../../src/model/trust.ts";
import type { ToolOutcome } from "../../../src/ports/tool.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  begin,
  CHECK,
  entriesOf,
  hostAt,
  OPEN,
  paid,
  pay,
  procedureOf,
  recipeOf,
  refusal,
  said,
} from "../../support/gate.ts";
import { decision, KEYS, madeTool, nowSeconds, ORIGIN, registration } from "../../support/host.ts";
import { signRaw } from "../../support/trust.ts";

const places = directories();
afterAll(() => places.remove());

const key = (expression: unknown) => ({ key: expression });
const KEYED = recipeOf([CHECK, pay("pay", ["check"], {}, key({ input: "account" }))]);

/** A payment tool that answers as told, in turn; the last answer stays. */
function target(...answers: readonly (() => ToolOutcome | Promise<ToolOutcome>)[]) {
  const made = madeTool("bank.pay", (_, count) => {
    const answer = answers[Math.min(count, answers.length) - 1];
    if (answer === undefined) throw new Error("no answer");
    return answer();
  });
  const amount = { value: "/amount", currency: "/currency" };
  return { ...made, tools: [registration(made, "effect", { amount })] };
}

const lost = () => Promise.reject(new Error("no reply"));
const closed = (): ToolOutcome => ({ kind: "not_applied", code: "closed", message: "" });
const no = (): ToolOutcome => ({ kind: "refused", code: "limit", message: "" });

function uncertainIn(host: Host, run: Run): string {
  const [admitted] = entriesOf(host, run.id, "admitted");
  const { digest } = (admitted?.entry.body ?? {}) as { digest?: string };
  if (digest === undefined) throw new Error("nothing was admitted");
  return digest;
}

function reconciliation(
  run: string,
  operation: string,
  change: Partial<Reconciliation> = {},
): JsonValue {
  const document = {
    type: "rote-reconciliation/v1",
    audience: ORIGIN,
    run,
    operation,
    found: "not_done",
    evidence: "looked at the account",
    reconciler: "carl",
    at: nowSeconds(),
    ...change,
  };
  return signRaw(PAYLOAD_TYPES.reconciliation, document, KEYS.reconciler);
}

describe("a natural key", () => {
  it("is taken once, by whichever run: another amount makes no other deed (B005, B020)", async () => {
    const of = target(paid);
    const host = await hostAt(null, of, OPEN);
    const first = await begin(host, KEYED, { account: "A-1/2024-05", amount: "25701" });
    expect(first.run.state).toBe("verified");
    const second = await begin(host, KEYED, { account: "A-1/2024-05", amount: "25702" });
    expect(said(second.run)).toEqual(["denied", "duplicate_key"]);
    // Whoever is refused is told where to look.
    expect(second.run.report.failure?.message).toContain(first.run.id);
    const other = await begin(host, KEYED, { account: "A-1/2024-06", amount: "25701" });
    expect(other.run.state).toBe("verified");
    expect(of.calls).toHaveLength(2);
    await host.close();
  });

  it("that is taken is told before anybody is asked: an approval could not be used", async () => {
    const of = target(paid);
    const host = await hostAt(null, of);
    const first = await begin(host, KEYED);
    const approval = decision(asked(first.run), KEYS.alice, "alice");
    expect(await first.run.advanceAsync(host, { approval })).toBe("verified");
    const second = await begin(host, KEYED);
    expect([...said(second.run), second.run.pendingRequest]).toEqual([
      "denied",
      "duplicate_key",
      null,
    ]);
    expect(entriesOf(host, second.run.id, "approval_requested")).toHaveLength(0);
    expect(of.calls).toHaveLength(1);
    await host.close();
  });

  it('is one for one value, however it is written, and tells 7 from "7" (B013)', async () => {
    const of = target(paid);
    const host = await hostAt(null, of, OPEN);
    const keyed = (value: unknown) => {
      const expression = { op: "literal", value, type: "json" };
      return recipeOf([CHECK, pay("pay", ["check"], {}, key(expression))]);
    };
    const values = [{ a: 1, b: 2 }, { b: 2, a: 1 }, 7, "7", [7], { a: 1 }];
    const states = [];
    for (const value of values) states.push((await begin(host, keyed(value))).run.state);
    expect(states).toEqual(["verified", "denied", "verified", "verified", "verified", "verified"]);
    await host.close();
  });

  it("may be long: two that differ at their end only are two, and both end up in short records", async () => {
    const of = target(paid);
    const host = await hostAt(null, of, OPEN);
    const account = "x".repeat(200_000);
    const states = [];
    for (const end of ["a", "b", "a"]) {
      const { run } = await begin(host, KEYED, { account: `${account}${end}`, amount: "1" });
      states.push(run.state);
    }
    expect(states).toEqual(["verified", "verified", "denied"]);
    await host.close();
  });

  it("of two elements of one list, is refused before any of them", async () => {
    const of = target(paid);
    const host = await hostAt(null, of, OPEN);
    const each = { list: { input: "rows" }, as: "row", limit: 9 };
    const rows = recipeOf(
      [
        {
          ...CHECK,
          step: { ...CHECK.step, value: { op: "literal", value: true, type: "boolean" } },
        },
        pay(
          "pay",
          ["check"],
          { each, output: { list: "text" } },
          {
            key: { item: "row" },
            arguments: {
              op: "record",
              fields: {
                amount: { op: "literal", value: "1", type: "text" },
                currency: { op: "literal", value: "EUR", type: "text" },
              },
            },
          },
        ),
      ],
      { inputs: { rows: { list: "text" } } },
    );
    const { run } = await begin(host, rows, { rows: ["a", "b", "a"] });
    expect(said(run)).toEqual(["denied", "duplicate_operation"]);
    expect(of.calls).toHaveLength(0);
    await host.close();
  });

  it("is free again when it is certain that nothing happened", async () => {
    for (const nothing of [closed, no]) {
      const of = target(nothing, paid);
      const host = await hostAt(null, of, OPEN);
      const first = await begin(host, KEYED);
      expect(first.run.state).toBe("failed");
      const second = await begin(host, KEYED);
      expect(second.run.state).toBe("verified");
      await host.close();
    }
  });

  it("of an uncertain effect stays taken: ordering it again under another run is refused (B007)", async () => {
    const of = target(lost, paid);
    const host = await hostAt(null, of, OPEN);
    const first = await begin(host, KEYED);
    expect(said(first.run)).toEqual(["uncertain", "uncertain_operation"]);
    const second = await begin(host, KEYED);
    expect(said(second.run)).toEqual(["denied", "duplicate_key"]);
    expect(of.calls).toHaveLength(1);
    await host.close();
  });

  it("that was refused by another check is not taken", async () => {
    const of = target(paid);
    const budget = { run: {}, host: { effects: 0 } };
    const directory = places.fresh();
    const poor = await hostAt(directory, of, { ...OPEN, budget });
    expect(said((await begin(poor, KEYED)).run)).toEqual(["exhausted", "budget_exceeded"]);
    await poor.close();
    const rich = await hostAt(directory, of, OPEN);
    expect((await begin(rich, KEYED)).run.state).toBe("verified");
    await rich.close();
  });
});

describe("a reconciliation", () => {
  it("not_done frees the key and gives the budget back; the run stays uncertain, and nothing is dispatched", async () => {
    const of = target(lost, paid);
    const budget = { run: {}, host: { effects: 1, amounts: { EUR: "50" } } };
    const host = await hostAt(null, of, { ...OPEN, budget });
    const { run } = await begin(host, KEYED);
    expect(said((await begin(host, KEYED, { account: "8", amount: "50" })).run)).toEqual([
      "exhausted",
      "budget_exceeded",
    ]);
    const told = await host.reconcile(reconciliation(run.id, uncertainIn(host, run)));
    expect(told.found).toBe("not_done");
    expect(of.calls).toHaveLength(1);
    const again = await procedureOf(host, KEYED).resume(host, run.id);
    expect(again.state).toBe("uncertain");
    expect(again.report.independently_verified).toBe(false);
    expect((await begin(host, KEYED)).run.state).toBe("verified");
    await host.close();
  });

  it("done keeps the key taken and the budget spent, and verifies nothing", async () => {
    const of = target(lost, paid);
    const budget = { run: {}, host: { effects: 1 } };
    const host = await hostAt(null, of, { ...OPEN, budget });
    const { run } = await begin(host, KEYED);
    await host.reconcile(reconciliation(run.id, uncertainIn(host, run), { found: "done" }));
    expect(said((await begin(host, KEYED)).run)[0]).not.toBe("verified");
    const again = await procedureOf(host, KEYED).resume(host, run.id);
    expect(again.state).toBe("uncertain");
    await host.close();
  });

  it("is made once, whatever it says, and not by two at once", async () => {
    const of = target(lost);
    const host = await hostAt(null, of, OPEN);
    const { run } = await begin(host, KEYED);
    const operation = uncertainIn(host, run);
    const both = [
      reconciliation(run.id, operation, { found: "done" }),
      reconciliation(run.id, operation),
    ];
    const told = await Promise.all(both.map((one) => refusal(host.reconcile(one))));
    expect(told.sort()).toEqual(["not refused", "reconciliation_refused: already_reconciled"]);
    const again = reconciliation(run.id, operation, { evidence: "looked again" });
    expect(await refusal(host.reconcile(again))).toBe("reconciliation_refused: already_reconciled");
    const entries = partsOf(host).journal.read(HOST_CHAIN);
    expect(entries.filter(({ entry }) => entry.type === "reconciled")).toHaveLength(1);
    await host.close();
  });

  it("is about an uncertain operation of this host, signed by the reconciler it names", async () => {
    const of = target(lost, paid);
    const host = await hostAt(null, of, OPEN);
    const { run } = await begin(host, KEYED);
    const done = await begin(host, KEYED, { account: "8", amount: "1" });
    const operation = uncertainIn(host, run);
    const bad: readonly (readonly [JsonValue, string])[] = [
      [null, "malformed_envelope"],
      [
        signRaw(PAYLOAD_TYPES.reconciliation, { found: "not_done" }, KEYS.reconciler),
        "malformed_document",
      ],
      [reconciliation(run.id, operation, { reconciler: "alice" }), "wrong_reconciler"],
      [reconciliation(run.id, operation, { audience: "other.example/x" }), "wrong_audience"],
      [reconciliation(run.id, `sha256:${"0".repeat(64)}`), "unknown_operation"],
      [reconciliation(done.run.id, operation), "unknown_operation"],
      [reconciliation("run-nowhere", operation), "unknown_operation"],
      [reconciliation(done.run.id, uncertainIn(host, done.run)), "not_uncertain"],
      [reconciliation(run.id, operation, { at: nowSeconds() + 3600 }), "dated_ahead"],
    ];
    for (const [envelope, fault] of bad) {
      expect(await refusal(host.reconcile(envelope))).toBe(`reconciliation_refused: ${fault}`);
    }
    expect(said((await begin(host, KEYED)).run)).toEqual(["denied", "duplicate_key"]);
    await host.close();
  });
});
