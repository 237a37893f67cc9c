/** Runs at a host after something broke off, was cancelled, or ended in the middle of several operations. */
import { afterAll, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Append, Journal } from "../../../src/ports/journal.ts";
import type { ProbeOutcome, ToolOutcome } from "../../../src/ports/tool.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  hostAt,
  INPUTS,
  movedClock,
  ONE_PAYMENT,
  OPEN,
  pay,
  procedureOf,
  READ,
  recipeOf,
  refusal,
  VERIFIER,
} from "../../support/gate.ts";
import { decision, KEYS, madeTool, POLICY, registration } from "../../support/host.ts";
import { readBack, untimed } from "./read-back.ts";

const places = directories();
afterAll(() => places.remove());

/** The host with an `append` that may fail instead. */
function failing(host: Host, fails: (request: Append) => boolean): Host {
  const parts = partsOf(host);
  const journal: Journal = {
    ...parts.journal,
    append: (request) =>
      fails(request) ? Promise.reject(new Error("not now")) : parts.journal.append(request),
  };
  return hostOf({ ...parts, journal });
}

const writes = (type: string) => (request: Append) =>
  request.entries.some((entry) => entry.type === type);

function once(test: (request: Append) => boolean): (request: Append) => boolean {
  let left = 1;
  return (request) => test(request) && left-- > 0;
}

function typesOf(host: Host, run: Run): readonly string[] {
  return partsOf(host)
    .journal.read(run.id)
    .map(({ entry }) => entry.type);
}

describe("a call that broke off", () => {
  it("between dispatch and receipt leaves an operation that is found out about first, and is not done again", async () => {
    const of = bank();
    const whole = await hostAt(null, of, OPEN);
    const host = failing(whole, once(writes("receipt")));
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    expect(of.pay.calls).toHaveLength(1);
    expect(typesOf(host, run)).toEqual(["run_started", "admitted"]);
    expect(await run.advanceAsync(host)).toBe("uncertain");
    expect(of.pay.calls).toHaveLength(1);
    expect(typesOf(host, run)).toEqual(["run_started", "admitted", "receipt", "run_ended"]);
    expect(await readBack(whole, run, ONE_PAYMENT)).toEqual(untimed(run));
    await whole.close();
  });

  it("is found out about before a cancellation, which cannot hide it", async () => {
    const of = bank();
    const whole = await hostAt(null, of, OPEN);
    const host = failing(whole, once(writes("receipt")));
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    expect(await run.cancelAsync()).toBe("uncertain");
    await whole.close();
  });

  it("asks the tool that can tell, and goes on where it can", async () => {
    const of = bank({ tool: { probe: async () => ({ kind: "done", result: "paid after all" }) } });
    const whole = await hostAt(null, of, OPEN);
    const host = failing(whole, once(writes("receipt")));
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(run.result).toBe("paid after all");
    expect(of.pay.calls).toHaveLength(1);
    await whole.close();
  });

  it("asks nothing once its run was taken over: a probe could fence what the new holder has in flight (B052)", async () => {
    const directory = places.fresh();
    let probes = 0;
    const of = bank({
      tool: {
        probe: async () => {
          probes += 1;
          return { kind: "absent" };
        },
      },
    });
    const whole = await hostAt(directory, of, OPEN);
    const host = failing(whole, once(writes("receipt")));
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    const clock = movedClock();
    clock.move(3_600_000);
    const other = await hostAt(directory, of, { ...OPEN, clock });
    expect((await partsOf(other).journal.claim(run.id)).ok).toBe(true);
    expect(await refusal(run.advanceAsync(host))).toBe("lease_lost");
    expect(probes).toBe(0);
    await other.close();
    await whole.close();
  });

  it("holds its run for as long as it may have to ask (B004)", async () => {
    const directory = places.fresh();
    const clock = movedClock();
    let asked = () => {};
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let answer = (_: ProbeOutcome) => {};
    const answered = new Promise<ProbeOutcome>((resolve) => {
      answer = resolve;
    });
    const probe = () => {
      asked();
      return answered;
    };
    const of = bank({ tool: { probe } });
    const options = { ...OPEN, clock, leaseMs: 1_000, callMs: 60_000 };
    const whole = await hostAt(directory, of, options);
    const host = failing(whole, once(writes("receipt")));
    const procedure = procedureOf(host);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    await run.closeAsync();
    const resuming = procedure.resume(whole, run.id);
    await asking;
    clock.move(59_000);
    expect(await partsOf(whole).journal.claim(run.id)).toMatchObject({ ok: false });
    answer({ kind: "done", result: "paid" });
    expect(await (await resuming).advanceAsync(whole)).toBe("verified");
    await whole.close();
  });

  it("keeps what was recorded beside it: of two reads that ran together the one with a receipt is not read again", async () => {
    const answers = (name: string) => madeTool(name, () => ({ kind: "done", result: name }));
    const [one, two] = [answers("one"), answers("two")];
    const tools = [one, two].map((tool) => registration(tool, "read", { repeatable: true }));
    const whole = await hostAt(null, { tools });
    const host = failing(
      whole,
      once((request) => writes("receipt")(request) && JSON.stringify(request).includes('"two"')),
    );
    const recipe = recipeOf([
      { ...READ, id: "a", step: { ...READ.step, tool: "one" } },
      { ...READ, id: "b", step: { ...READ.step, tool: "two" } },
      {
        id: "both",
        step: { kind: "pure", value: { op: "list", values: [{ node: "a" }, { node: "b" }] } },
      },
    ] as never);
    const procedure = procedureOf(host, recipe);
    const run = procedure.start(INPUTS, { environment: host.environment(procedure.plan) });
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    expect(await run.advanceAsync(host)).toBe("verified");
    expect([one.calls.length, two.calls.length]).toEqual([1, 2]);
    expect(run.result).toEqual(["one", "two"]);
    expect(await readBack(whole, run, recipe)).toEqual(untimed(run));
    await whole.close();
  });

  it("before its end was written has not ended, and ends the same way", async () => {
    const of = bank();
    const whole = await hostAt(null, of);
    const host = failing(whole, once(writes("run_ended")));
    const { run } = await begin(host);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice", { decision: "reject" }));
    await expect(run.advanceAsync(host)).rejects.toThrow("not now");
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report.reason).toBe("approval_rejected");
    expect(await readBack(whole, run, ONE_PAYMENT)).toEqual(untimed(run));
    await whole.close();
  });

  it("because what it was given is refused leaves the run where it was, with nothing read again", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host, recipeOf([READ, CHECK, pay("pay", ["check", "balance"])]));
    const before = typesOf(host, run);
    expect(await refusal(run.advanceAsync(host, { approval: null }))).toBe(
      "approval_refused: malformed_envelope",
    );
    expect(await refusal(run.advanceAsync(host, { model: { answer: 1 } }))).toBe("not_pending");
    expect(typesOf(host, run)).toEqual(before);
    expect(of.balance.calls).toHaveLength(1);
    await host.close();
  });
});

describe("an end among several operations", () => {
  const tool = (name: string, answer: () => ToolOutcome | Promise<ToolOutcome>) =>
    registration(madeTool(name, answer), "read");
  const refused = (code: string) => () => ({ kind: "refused", code, message: code }) as const;
  const reads = (...tools: readonly string[]) =>
    recipeOf([
      // Read in the order of their ids.
      ...tools.map((name, at) => ({
        ...READ,
        id: `r${at}-${name}`,
        step: { ...READ.step, tool: name },
      })),
      {
        id: "all",
        step: {
          kind: "pure",
          value: { op: "list", values: tools.map((name, at) => ({ node: `r${at}-${name}` })) },
        },
      },
    ] as never);

  it("is the same for whoever reads the record: the first receipt decides, whichever call returned first", async () => {
    // One is refused by the gate, two by their tools: three ways through the code, of different lengths.
    const tools = [
      tool("late", async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return refused("late")();
      }),
      tool("soon", refused("soon")),
      { ...tool("denied", refused("denied")), permissions: ["tool:none:x"] },
    ];
    const orders = [
      ["late", "soon", "denied"],
      ["denied", "soon", "late"],
      ["soon", "late", "denied"],
      ["late", "denied", "soon"],
    ];
    for (const order of orders) {
      const host = await hostAt(null, { tools });
      const recipe = reads(...order);
      const { run } = await begin(host, recipe);
      expect(["failed", "denied"]).toContain(run.state);
      expect(await readBack(host, run, recipe)).toEqual(untimed(run));
      await host.close();
    }
  });

  it("by a rejection beside reads that were done is read back as it was", async () => {
    const fine = tool("fine", () => ({ kind: "done", result: 1 }));
    const asking = {
      ...tool("asking", () => ({ kind: "done", result: 2 })),
      permissions: ["ask:read:x"],
    };
    const host = await hostAt(
      null,
      { tools: [fine, asking] },
      { policy: { ...POLICY, approvable: ["ask:read:x"] } },
    );
    const recipe = reads("asking", "fine");
    const { run } = await begin(host, recipe);
    const approval = decision(asked(run), KEYS.alice, "alice", { decision: "reject" });
    expect(await run.advanceAsync(host, { approval })).toBe("denied");
    expect(await readBack(host, run, recipe)).toEqual(untimed(run));
    await host.close();
  });

  it("by the limit of its time, between two receipts, is read back as it was", async () => {
    let monotonic = 0;
    const clock = { wallMs: () => Date.now(), monotonicMs: () => (monotonic += 7) };
    const tools = ["a", "b", "c"].map((name) => tool(name, () => ({ kind: "done", result: name })));
    const host = await hostAt(null, { tools });
    const recipe = reads("a", "b", "c");
    const unbound = new Procedure(recipe, { verifier: VERIFIER });
    const environment = host.environment(unbound.plan);
    const procedure = new Procedure(bindRecipe(recipe, environment), { verifier: VERIFIER, clock });
    const ends = new Set<string>();
    for (let limit = 7; limit < 300; limit += 7) {
      const limits = { max_runtime_ms: limit };
      const run = procedure.start(INPUTS, { environment, limits });
      await run.advanceAsync(host);
      const again = await procedure.resume(host, run.id);
      expect([again.state, again.report.reason]).toEqual([run.state, run.report.reason]);
      ends.add(run.state);
    }
    expect([...ends].sort()).toEqual(["exhausted", "verified"]);
    await host.close();
  });
});
