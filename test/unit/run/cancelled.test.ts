import { afterAll, describe, expect, it } from "vitest";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  FENCED_PAYMENT,
  hostAt,
  INPUTS,
  ONE_PAYMENT,
  OPEN,
  pay,
  procedureOf,
  READ,
  recipeOf,
  refusal,
} from "../../support/gate.ts";
import { decision, KEYS, madeTool, registration } from "../../support/host.ts";
import { readBack, untimed } from "./read-back.ts";

const places = directories();
afterAll(() => places.remove());

describe("cancelling", () => {
  it("while an approval is waited for ends the run, and the approval comes too late", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const approval = decision(asked(run), KEYS.alice, "alice");
    expect(await run.cancelAsync()).toBe("cancelled");
    expect(run.pendingRequest).toBeNull();
    expect(host.pendingRequests()).toEqual([]);
    expect(await refusal(host.fileDecision(approval))).toBe("approval_refused: no_pending_request");
    expect(await run.advanceAsync(host, { approval })).toBe("cancelled");
    expect(of.pay.calls).toHaveLength(0);
    expect(await readBack(host, run, ONE_PAYMENT)).toEqual(untimed(run));
    await host.close();
  });

  it("by a process whose run was taken over meanwhile cancels nothing", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    const approval = decision(asked(run), KEYS.alice, "alice");
    const other = await hostAt(directory, of);
    const resumed = await procedure.resume(other, run.id);
    expect(await refusal(run.cancelAsync())).toBe("lease_lost");
    expect(await resumed.advanceAsync(other, { approval })).toBe("verified");
    await other.close();
    await host.close();
  });

  it("an effect in flight makes the run uncertain, and says so to who cancelled (B009)", async () => {
    let begun = () => {};
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const of = bank({
      tool: {
        call: () => {
          begun();
          return new Promise(() => {});
        },
      },
    });
    const host = await hostAt(null, of, OPEN);
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    const advanced = run.advanceAsync(host);
    await started;
    expect(await run.cancelAsync()).toBe("uncertain");
    expect(await advanced).toBe("uncertain");
    expect(await readBack(host, run, ONE_PAYMENT)).toEqual(untimed(run));
    await host.close();
  });

  it("before an effect is dispatched leaves it undone, its key free and its budget unspent (B009)", async () => {
    const of = bank();
    const budget = { run: {}, host: { effects: 1 } };
    const host = await hostAt(null, of, { ...OPEN, budget });
    const recipe = recipeOf([CHECK, pay("pay", ["check"], {}, { key: { input: "account" } })]);
    const procedure = procedureOf(host, recipe);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    const advanced = run.advanceAsync(host);
    // The admission is queued by then and not written yet.
    const cancelled = new Promise((resolve) => setImmediate(() => resolve(run.cancelAsync())));
    expect(await advanced).toBe("cancelled");
    expect(await cancelled).toBe("cancelled");
    expect(of.pay.calls).toHaveLength(0);
    expect(await readBack(host, run, recipe)).toEqual(untimed(run));
    const second = await begin(host, recipe);
    expect(second.run.state).toBe("verified");
    await host.close();
  });

  it("reads in flight ends the run as cancelled, not as failed", async () => {
    let begun = () => {};
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow = madeTool("bank.balance", () => {
      begun();
      return new Promise<never>(() => {});
    });
    const tools = [registration(slow, "read", { repeatable: true })];
    const host = await hostAt(null, { tools });
    const recipe = recipeOf([READ]);
    const procedure = procedureOf(host, recipe);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    const advanced = run.advanceAsync(host);
    await started;
    expect(await run.cancelAsync()).toBe("cancelled");
    expect(await advanced).toBe("cancelled");
    expect(slow.calls).toHaveLength(1);
    expect(await readBack(host, run, recipe)).toEqual(untimed(run));
    await host.close();
  });
});
