import { afterAll, describe, expect, it } from "vitest";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  FENCED_PAYMENT,
  hostAt,
  movedClock,
  OPEN,
  pay,
  recipeOf,
  refusal,
  TWO_FENCED,
} from "../../support/gate.ts";
import { decision, KEYS, POLICY } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

describe("a batch behind a fence", () => {
  it("is approved by one signature, each operation of it used up once", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host, TWO_FENCED);
    expect(asked(run).operations).toHaveLength(2);
    expect(host.pendingRequests()).toHaveLength(1);
    const approval = decision(asked(run), KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { approval })).toBe("verified");
    expect(of.pay.calls).toHaveLength(2);
    expect(host.pendingRequests()).toEqual([]);
    await host.close();
  });

  it("waits again for what is left when the signature ran out in between; what was done is not done again", async () => {
    const clock = movedClock();
    const of = bank({
      tool: {
        call: (call: never) => {
          of.pay.calls.push(call);
          clock.move(1_000_000);
          return Promise.resolve({ kind: "done", result: "slow" });
        },
      },
    });
    const host = await hostAt(null, of, { clock });
    const { run } = await begin(host, TWO_FENCED);
    const request = asked(run);
    const approval = decision(request, KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { approval })).toBe("awaiting_approval");
    expect(of.pay.calls).toHaveLength(1);
    expect(asked(run).nonce).toBe(request.nonce);
    expect(host.pendingRequests().map(({ nonce }) => nonce)).toEqual([request.nonce]);
    const now = Math.floor(clock.wallMs() / 1000);
    const window = { not_before: now, expires: now + 60 };
    const again = decision(request, KEYS.bob, "bob", window);
    expect(await run.advanceAsync(host, { approval: again })).toBe("verified");
    expect(of.pay.calls).toHaveLength(2);
    await host.close();
  });

  it("is asked about again as a whole when something of it changed while it waited", async () => {
    const directory = places.fresh();
    const of = bank();
    const first = await hostAt(directory, of);
    const { run, procedure } = await begin(first, TWO_FENCED);
    const stale = decision(asked(run), KEYS.alice, "alice");
    await first.fileDecision(stale);
    await run.closeAsync();
    await first.close();
    const host = await hostAt(directory, of, { budget: { run: { effects: 9 }, host: {} } });
    const resumed = await procedure.resume(host, run.id);
    expect(await resumed.advanceAsync(host)).toBe("awaiting_approval");
    const request = asked(resumed);
    expect([request.node, request.operations.length, request.replaces]).toEqual([
      "fence",
      2,
      "budget_changed",
    ]);
    // The replacement is on record, and the request before it can be answered no more.
    expect(host.pendingRequests().map(({ nonce }) => nonce)).toEqual([request.nonce]);
    expect(await refusal(host.fileDecision(stale))).toBe("approval_refused: no_pending_request");
    const approval = decision(request, KEYS.alice, "alice");
    expect(await resumed.advanceAsync(host, { approval })).toBe("verified");
    expect(of.pay.calls).toHaveLength(2);
    await host.close();
  });

  it("is never done without an approval, although the policy alone would allow it", async () => {
    const of = bank();
    const host = await hostAt(null, of, OPEN);
    const { run } = await begin(host, FENCED_PAYMENT);
    expect(run.state).toBe("awaiting_approval");
    expect(of.pay.calls).toHaveLength(0);
    await host.close();
  });

  it("that the gate refuses ends the run at the fence, in a way that can be read back", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of, {
      policy: { ...POLICY, deny: ["tool:effect:bank.pay"] },
    });
    const { run, procedure } = await begin(host, TWO_FENCED);
    expect([run.state, run.report.failure?.code]).toEqual(["denied", "policy_denied"]);
    const again = await procedure.resume(host, run.id);
    expect([again.state, again.report.failure?.code]).toEqual(["denied", "policy_denied"]);
    expect(of.pay.calls).toHaveLength(0);
    await host.close();
  });

  it("over a budget together is not asked about, although each operation alone is within it", async () => {
    const of = bank({ review: { amount: { value: "/amount", currency: "/currency" } } });
    const budget = { run: { amounts: { EUR: "80" } }, host: {} };
    const host = await hostAt(null, of, { budget });
    const { run } = await begin(host, TWO_FENCED);
    expect([run.state, run.report.failure?.code]).toEqual(["exhausted", "budget_exceeded"]);
    expect(run.pendingRequest).toBeNull();
    await host.close();
  });

  it("of more operations than one signature covers ends the run instead of asking the impossible", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const each = { list: { input: "rows" }, as: "row", limit: 2000 };
    const step = { arguments: { op: "record", fields: { row: { item: "row" } } } };
    const many = recipeOf(
      [
        {
          ...CHECK,
          step: { ...CHECK.step, value: { op: "literal", value: true, type: "boolean" } },
        },
        { id: "fence", after: ["check"], step: { kind: "approval", effects: ["pay"] } } as never,
        pay("pay", ["fence"], { each, output: { list: "text" } }, step),
      ],
      { inputs: { rows: { list: "text" } } },
    );
    const rows = (count: number) => ({ rows: Array.from({ length: count }, (_, at) => `r${at}`) });
    const { run } = await begin(host, many, rows(1001));
    expect([run.state, run.report.reason]).toEqual(["exhausted", "max_steps"]);
    const most = await begin(host, many, rows(1000));
    const approval = decision(asked(most.run), KEYS.alice, "alice");
    expect(asked(most.run).operations).toHaveLength(1000);
    await host.fileDecision(approval);
    await host.close();
    expect(of.pay.calls).toHaveLength(0);
  });
});
