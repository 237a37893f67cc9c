/** Compiled runs at a host: what is never reused, and what ends them. */
import { afterAll, describe, expect, it } from "vitest";
import { resumeIn } from "../../../src/app/journalled.ts";
import type { Procedure } from "../../../src/app/procedure.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Phase } from "../../../src/model/memory.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  CHECK,
  fence,
  hostAt,
  pay,
  procedureOf,
  READ,
  recipeOf,
} from "../../support/gate.ts";
import { decision, KEYS } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

/** Fails its check from 10 on. */
const UNDER_TEN = {
  version: 1,
  id: "under-ten",
  inputs: { n: "integer" },
  terminal: "check",
  nodes: [
    {
      id: "check",
      step: {
        kind: "verify",
        condition: { op: "less", left: { input: "n" }, right: 10 },
        value: { input: "n" },
      },
    },
  ],
};
/** Fails the verifier's rule from 10 on instead. */
const ANY = {
  ...UNDER_TEN,
  nodes: [{ id: "check", step: { kind: "pure", value: { input: "n" } } }],
};
const RULE = { op: "less", left: { input: "context/result" }, right: 10 };

const PHASES: readonly Phase[] = ["training", "training", "training", "shadow", "canary"];

async function qualifiedAt(host: Host, procedure: Procedure) {
  const environment = host.environment(procedure.plan);
  const memory = ProcedureMemory.at(host);
  for (const [n, phase] of PHASES.entries()) {
    const run = procedure.start({ n: String(n) }, { environment });
    await run.advanceAsync(host);
    await memory.observe(run, { phase });
  }
  return { environment, qualified: await memory.qualify(procedure, { environment }) };
}

/** The host with a memory that cannot write a demotion, as in a process that ends before it could. */
function dyingBeforeDemotion(host: Host): Host {
  const parts = partsOf(host);
  const procedures: ProcedureStore = {
    ...parts.procedures,
    demote() {
      throw new Error("the process ends here");
    },
  };
  return hostOf({ ...parts, procedures });
}

const failing = [
  ["a check", UNDER_TEN, { version: 1, id: "v", result: true }, "verify_failed"],
  ["the verifier", ANY, RULE, "verifier_rejected"],
] as const;

describe("a compiled run that fails its verification at a host", () => {
  it.each(failing)(
    "by %s, demotes when it is resumed, where its process ended before it could",
    async (_, recipe, verifier, reason) => {
      const directory = places.fresh();
      const first = await hostAt(directory, { tools: [] });
      const procedure = procedureOf(first, recipe, verifier);
      const { environment } = await qualifiedAt(first, procedure);
      const dying = dyingBeforeDemotion(first);
      const recalled = await ProcedureMemory.at(dying).recall(procedure, { environment });
      const run = recalled?.start({ n: "10" }, { environment });
      await expect(run?.advanceAsync(dying)).rejects.toThrow("the process ends here");
      await run?.closeAsync();
      await first.close();

      const second = await hostAt(directory, { tools: [] });
      const memory = ProcedureMemory.at(second);
      // Nobody has judged the run yet, so it stands.
      expect(await memory.recall(procedure, { environment })).toBeDefined();
      const resumed = await resumeIn(second, String(run?.id));
      expect(resumed.report).toMatchObject({ state: "rejected", reason });
      expect(await memory.recall(procedure, { environment })).toBeUndefined();
      await second.close();

      const third = await hostAt(directory, { tools: [] });
      expect(await ProcedureMemory.at(third).recall(procedure, { environment })).toBeUndefined();
      await third.close();
    },
  );

  it("is not recorded as ended before its demotion is written", async () => {
    const whole = await hostAt(null, { tools: [] });
    const procedure = procedureOf(whole, UNDER_TEN);
    const { environment } = await qualifiedAt(whole, procedure);
    const host = dyingBeforeDemotion(whole);
    const recalled = await ProcedureMemory.at(host).recall(procedure, { environment });
    const run = recalled?.start({ n: "10" }, { environment });
    for (const _ of ["at once", "when it is advanced again"]) {
      await expect(run?.advanceAsync(host)).rejects.toThrow("the process ends here");
    }
    const types = partsOf(host).journal.read(String(run?.id));
    expect(types.map(({ entry }) => entry.type)).toEqual(["run_started"]);
    await whole.close();
  });
});

const SAME = { op: "equal", left: { input: "amount" }, right: { input: "account" } };
/** Two equal reads, two equal expressions, two equal payments behind one fence. */
const EQUALS = recipeOf([
  { ...READ, id: "first" },
  { ...READ, id: "second", after: ["first"] },
  CHECK,
  { id: "a-sum", after: ["first"], step: { kind: "pure", value: SAME } },
  { id: "b-sum", after: ["first", "second"], step: { kind: "pure", value: SAME } },
  fence(["one", "two"], ["check", "a-sum", "b-sum"]),
  pay("one", ["fence"]),
  pay("two", ["one"]),
]);

describe("a compiled run at a host", () => {
  async function approved(host: Host, run: Run) {
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    return run.advanceAsync(host);
  }

  async function qualifiedBank(host: Host) {
    const procedure = procedureOf(host, EQUALS);
    const environment = host.environment(procedure.plan);
    const memory = ProcedureMemory.at(host);
    for (const [n, phase] of PHASES.entries()) {
      const run = procedure.start({ account: String(n), amount: "5" }, { environment });
      expect(await approved(host, run)).toBe("verified");
      await memory.observe(run, { phase });
    }
    const qualified = await memory.qualify(procedure, { environment });
    const start = (account: string) => qualified.start({ account, amount: "5" }, { environment });
    return { memory, procedure, environment, start };
  }

  it("reads again, asks again and pays again: only what is pure is taken from its twin (B067)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { start } = await qualifiedBank(host);
    const before = [of.balance.calls.length, of.pay.calls.length];
    expect(before).toEqual([10, 10]);
    for (const account of ["new", "new"]) {
      const run = start(account);
      expect(run.mode).toBe("compiled");
      expect(await approved(host, run)).toBe("verified");
      expect(run.report).toMatchObject({ reused_pure_nodes: 1, broker_attempts: 4 });
      expect(run.receipts).toHaveLength(4);
    }
    expect([of.balance.calls.length, of.pay.calls.length]).toEqual([14, 14]);
    await host.close();
  });

  it("admits nothing more once it was demoted elsewhere, approved as it may be", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { start, procedure, environment } = await qualifiedBank(host);
    const paid = of.pay.calls.length;
    const run = start("new");
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    const other = await hostAt(directory, of);
    await ProcedureMemory.at(other).demote(procedure, { environment, reason: "a complaint" });
    await other.close();
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report).toMatchObject({ reason: "not_qualified" });
    expect(of.pay.calls).toHaveLength(paid);
    await host.close();
  });

  it("is not admitted by a demotion that comes between its check and its admission", async () => {
    const of = bank();
    const whole = await hostAt(null, of);
    const { start, memory, procedure, environment } = await qualifiedBank(whole);
    const paid = of.pay.calls.length;
    const parts = partsOf(whole);
    let fall = false;
    const journal: Journal = {
      ...parts.journal,
      async append(request) {
        if (fall && request.entries[0]?.type === "admitted") {
          fall = false;
          await memory.demote(procedure, { environment, reason: "at that moment" });
        }
        return parts.journal.append(request);
      },
    };
    const host = hostOf({ ...parts, journal });
    const run = start("new");
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    fall = true;
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report.failure).toMatchObject({ code: "not_qualified" });
    expect(of.pay.calls).toHaveLength(paid);
    await whole.close();
  });
});
