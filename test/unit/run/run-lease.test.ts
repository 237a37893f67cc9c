import { afterAll, describe, expect, it } from "vitest";
import type { ToolOutcome } from "../../../src/ports/tool.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  FENCED_PAYMENT,
  hostAt,
  INPUTS,
  movedClock,
  OPEN,
  procedureOf,
  refusal,
  TWO_FENCED,
} from "../../support/gate.ts";
import { decision, KEYS } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

describe("the lease of a run", () => {
  it("lasts as long as its tool may take, and is lost after that (B004)", async () => {
    const directory = places.fresh();
    const clock = movedClock();
    let answer = (_: ToolOutcome) => {};
    let begun = () => {};
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const of = bank({
      tool: {
        call: () =>
          new Promise((resolve) => {
            answer = resolve;
            begun();
          }),
      },
    });
    const times = { clock, leaseMs: 1_000, callMs: 30_000 };
    const host = await hostAt(directory, of, { ...OPEN, ...times });
    const other = await hostAt(directory, of, { ...OPEN, ...times });
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    const advanced = run.advanceAsync(host);
    await started;
    clock.move(1_001);
    expect(await refusal(procedure.resume(other, run.id))).toBe("run_busy");
    clock.move(29_000);
    expect(await refusal(procedure.resume(other, run.id))).toBe("run_busy");
    clock.move(1_000);
    const resumed = await procedure.resume(other, run.id);
    expect(resumed.state).toBe("uncertain");
    answer({ kind: "done", result: "paid" });
    expect(await refusal(advanced)).toBe("lease_lost");
    await host.close();
    await other.close();
  });

  it("is nobody's while a person is waited for: whoever has the answer goes on", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    const other = await hostAt(directory, of);
    const resumed = await procedure.resume(other, run.id);
    const approval = decision(asked(resumed), KEYS.alice, "alice");
    expect(await refusal(run.advanceAsync(host, { approval }))).toBe("lease_lost");
    expect(of.pay.calls).toHaveLength(0);
    // The decision was filed all the same: it is on the host's chain, not on the run's.
    expect(await resumed.advanceAsync(other)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await other.close();
    await host.close();
  });

  it("is given back when a run cannot be resumed, so that the next try need not wait", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    const another = procedureOf(host, TWO_FENCED);
    expect(await refusal(another.resume(host, run.id))).toBe("other_procedure");
    const resumed = await procedure.resume(host, run.id);
    expect(resumed.state).toBe("awaiting_approval");
    await host.close();
  });
});
