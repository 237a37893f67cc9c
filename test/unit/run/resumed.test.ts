/** Runs that other processes go on with: what was done stays done, and what was decided stays decided. */
import { afterAll, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { canonicalBytes } from "../../../src/base/canonical.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  FENCED_PAYMENT,
  fence,
  hostAt,
  INPUTS,
  movedClock,
  OPEN,
  type Options,
  pay,
  procedureOf,
  READ,
  recipeOf,
  refusal,
  said,
  TWO_FENCED,
  VERIFIER,
} from "../../support/gate.ts";
import { decision, KEYS, POLICY, registration } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

/** Closes run and host, and goes on in what is another process for all that they know. */
async function elsewhere(
  directory: string,
  of: Parameters<typeof hostAt>[1],
  { host, run, recipe }: { host: Host; run: Run; recipe: object },
  options: Options = {},
) {
  const procedure = procedureOf(host, recipe);
  await run.closeAsync();
  await host.close();
  const other = await hostAt(directory, of, options);
  return { host: other, run: await procedure.resume(other, run.id) };
}

describe("a run resumed at each of its waits", () => {
  it("does everything once, in its order, and writes nothing twice (B001, B042)", async () => {
    const directory = places.fresh();
    const of = bank();
    const effects = ["a", "b", "c"];
    const recipe = recipeOf([
      READ,
      CHECK,
      ...effects.map((id, at) => pay(id, ["check", "balance", ...effects.slice(0, at)])),
    ]);
    const host = await hostAt(directory, of);
    let now = { host, run: (await begin(host, recipe)).run };
    const ids: string[] = [];
    for (const id of effects) {
      now = await elsewhere(directory, of, { ...now, recipe });
      expect(now.run.state).toBe("awaiting_approval");
      expect(asked(now.run).node).toBe(id);
      ids.push(asked(now.run).nonce);
      await now.run.advanceAsync(now.host, { approval: decision(asked(now.run), KEYS.bob, "bob") });
    }
    expect(now.run.state).toBe("verified");
    expect([of.balance.calls.length, of.pay.calls.length]).toEqual([1, 3]);
    expect(new Set(ids).size).toBe(3);
    const types = partsOf(now.host)
      .journal.read(now.run.id)
      .map(({ entry }) => entry.type)
      .filter((type) => type !== "run_resumed");
    const each = ["approval_requested", "admitted", "receipt"];
    expect(types).toEqual([
      "run_started",
      "admitted",
      "receipt",
      ...each,
      ...each,
      ...each,
      "run_ended",
    ]);
    await now.host.close();
  });

  it("does what was approved, and asks no model again that would say something else now (B010)", async () => {
    const directory = places.fresh();
    const of = bank();
    const amount = { op: "record", fields: { amount: { node: "propose" }, currency: "EUR" } };
    const recipe = recipeOf([
      CHECK,
      { id: "propose", output: "text", step: { kind: "model", prompt: { input: "account" } } },
      fence(["pay"], ["check", "propose"]),
      pay("pay", ["fence", "propose"], {}, { arguments: amount }),
    ]);
    const first = await hostAt(directory, of);
    const procedure = procedureOf(first, recipe);
    const environment = first.environment(procedure.plan);
    const models = { default: { provider: "p", name: "m" } };
    const run = procedure.start(INPUTS, { environment, models });
    expect(await run.advanceAsync(first)).toBe("awaiting_model");
    expect(await run.advanceAsync(first, { model: { answer: "5" } })).toBe("awaiting_approval");
    const yes = decision(asked(run), KEYS.alice, "alice");
    await run.closeAsync();
    await first.close();

    const second = await hostAt(directory, of);
    const resumed = await procedure.resume(second, run.id);
    expect(resumed.pendingModel).toBeNull();
    const other = resumed.advanceAsync(second, { model: { answer: "500" } });
    expect(await refusal(other)).toBe("not_pending");
    const named = { node: "propose", answer: "500" };
    expect(await refusal(resumed.advanceAsync(second, { model: named }))).toBe("not_pending");
    expect(await resumed.advanceAsync(second, { approval: yes })).toBe("verified");
    expect(of.pay.calls.map((call) => call.arguments)).toEqual([{ amount: "5", currency: "EUR" }]);
    await second.close();
  });

  it("keeps the limit of steps over all processes together (B043)", async () => {
    const directory = places.fresh();
    const of = bank();
    const recipe = recipeOf([CHECK, pay("a", ["check"]), pay("b", ["a"]), pay("c", ["b"])], {
      limits: { max_steps: 2 },
    });
    const host = await hostAt(directory, of);
    let now = { host, run: (await begin(host, recipe)).run };
    for (let turn = 0; turn < 2; turn += 1) {
      now = await elsewhere(directory, of, { ...now, recipe });
      const approval = decision(asked(now.run), KEYS.alice, "alice");
      await now.run.advanceAsync(now.host, { approval });
    }
    expect(said(now.run)).toEqual(["exhausted", "max_steps"]);
    expect(of.pay.calls).toHaveLength(2);
    await now.host.close();
  });

  it("keeps the limit of active time over all processes together (B043)", async () => {
    const directory = places.fresh();
    const of = bank();
    // Each look at the clock takes a millisecond.
    const clock = () => {
      let now = 0;
      return { wallMs: () => Date.now(), monotonicMs: () => ++now };
    };
    const reads = [1, 2, 3, 4].map((n) => ({
      ...READ,
      id: `r${n}`,
      after: n === 1 ? [] : [`r${n - 1}`],
    }));
    const recipe = recipeOf([
      CHECK,
      ...reads,
      fence(["pay"], ["check", "r4"]),
      pay("pay", ["fence"]),
    ]);
    const host = await hostAt(directory, of);
    const bound = () =>
      new Procedure(
        bindRecipe(recipe, host.environment(new Procedure(recipe, { verifier: VERIFIER }).plan)),
        {
          verifier: VERIFIER,
          clock: clock(),
        },
      );
    const used = async (max_runtime_ms: number) => {
      const procedure = bound();
      const environment = host.environment(procedure.plan);
      const run = procedure.start(INPUTS, { environment, limits: { max_runtime_ms } });
      expect(await run.advanceAsync(host)).toBe("awaiting_approval");
      await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
      await run.closeAsync();
      return run;
    };
    const spent = Math.ceil((await used(1_000)).report.active_ms);
    const first = await used(spent + 1);
    const second = await bound().resume(host, first.id);
    expect(await second.advanceAsync(host)).toBe("exhausted");
    expect(second.report.reason).toBe("max_runtime");
    await host.close();
  });

  it("under another policy does not go on, whatever it was approved under (B028, B044)", async () => {
    const changes: readonly (readonly [Options, string, string])[] = [
      [{ policy: { ...POLICY, deny: ["tool:effect:*"] } }, "policy_changed", "policy"],
      [OPEN, "policy_changed", "policy"],
      [{ policy: { ...POLICY, id: "other" } }, "policy_changed", "policy"],
      [{ evidence: ["another source"] }, "environment_changed", "evidence"],
      [{ configuration: { timeout: 5 } }, "environment_changed", "host_configuration"],
    ];
    for (const [options, code, part] of changes) {
      const directory = places.fresh();
      const of = bank();
      const host = await hostAt(directory, of);
      const { run } = await begin(host, FENCED_PAYMENT);
      await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
      const now = await elsewhere(directory, of, { host, run, recipe: FENCED_PAYMENT }, options);
      expect(await now.run.advanceAsync(now.host)).toBe("denied");
      expect(said(now.run)).toEqual(["denied", code]);
      // The part that differs is named (B070).
      expect(now.run.report.failure?.message).toContain(part);
      expect(of.pay.calls).toHaveLength(0);
      await now.host.close();
    }
  });

  it("with another tool, endpoint or credential behind the name does not go on (B016, B031, B070)", async () => {
    const first = bank();
    const [balance, paying] = first.tools;
    if (balance === undefined || paying === undefined) throw new Error("no tools");
    const define = (change: object) => {
      const tool = { ...paying.tool, definition: { ...paying.tool.definition, ...change } };
      return [balance, registration({ tool }, "effect")];
    };
    const changes = [
      { tools: define({ server: "https://elsewhere.example" }), code: "tool_definition_changed" },
      { tools: define({ input_schema: { type: "object" } }), code: "tool_definition_changed" },
      { tools: define({ implementation: "sha256:new" }), code: "tool_definition_changed" },
      { tools: [balance, { ...paying, credentials: ["other"] }], code: "environment_changed" },
    ];
    for (const { tools, code } of changes) {
      const directory = places.fresh();
      const host = await hostAt(directory, first);
      const { run } = await begin(host, FENCED_PAYMENT);
      await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
      const now = await elsewhere(directory, { tools }, { host, run, recipe: FENCED_PAYMENT });
      expect(await now.run.advanceAsync(now.host)).toBe("denied");
      expect(said(now.run)).toEqual(["denied", code]);
      await now.host.close();
    }
    expect(first.pay.calls).toHaveLength(0);
  });

  it("that has ended says what it came to, and takes nothing more (B049)", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run } = await begin(host, FENCED_PAYMENT);
    const approval = decision(asked(run), KEYS.alice, "alice");
    await run.advanceAsync(host, { approval });
    const { receipts } = run;
    const now = await elsewhere(directory, of, { host, run, recipe: FENCED_PAYMENT });
    expect([now.run.state, now.run.result]).toEqual(["verified", "paid 1"]);
    expect(now.run.receipts).toEqual(receipts);
    expect(await now.run.advanceAsync(now.host, { approval })).toBe("verified");
    expect(await now.run.cancelAsync()).toBe("verified");
    const length = partsOf(now.host).journal.length(run.id);
    await procedureOf(now.host, FENCED_PAYMENT).resume(now.host, run.id);
    expect(partsOf(now.host).journal.length(run.id)).toBe(length);
    await now.host.close();
  });

  it("whose request this version would show otherwise is asked about anew", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of, OPEN);
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    const old = asked(run);
    await run.closeAsync();
    const changed = hostOf(otherwiseShown(host));
    expect(changed.pendingRequests()).toEqual([]);
    const resumed = await procedure.resume(changed, run.id);
    expect(resumed.pendingRequest).toBeNull();
    expect(await resumed.advanceAsync(changed)).toBe("awaiting_approval");
    expect(of.pay.calls).toHaveLength(0);
    expect(asked(resumed).nonce).not.toBe(old.nonce);
    await host.close();
  });
});

describe("what stands behind a fence", () => {
  it("is asked about again when the request of its fence cannot be shown again, although the policy alone would allow it", async () => {
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
    const host = await hostAt(null, of, { ...OPEN, clock });
    const { run, procedure } = await begin(host, TWO_FENCED);
    const approval = decision(asked(run), KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { approval })).toBe("awaiting_approval");
    await run.closeAsync();
    const changed = hostOf(otherwiseShown(host));
    const resumed = await procedure.resume(changed, run.id);
    expect(await resumed.advanceAsync(changed)).toBe("awaiting_approval");
    expect(asked(resumed).node).toBe("two");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });
});

/** The host whose requests were made by other rules of showing. */
function otherwiseShown(host: Host) {
  const parts = partsOf(host);
  const other = sha256Hex(canonicalBytes([]));
  const journal: Journal = {
    ...parts.journal,
    blob: (sha256) =>
      sha256 === other ? new TextEncoder().encode("[]") : parts.journal.blob(sha256),
    read: (chain, from) => rechained(parts.journal.read(chain, from), other),
  };
  return { ...parts, journal };
}

/** The entries with another text behind each request, linked as they would be. */
function rechained(
  entries: ReturnType<Journal["read"]>,
  shown: string,
): ReturnType<Journal["read"]> {
  let before: string | undefined;
  return entries.map(({ entry, hash, index }) => {
    const body =
      entry.type === "approval_requested"
        ? { ...(entry.body as { readonly [member: string]: JsonValue }), shown }
        : entry.body;
    const prev = before ?? entry.prev;
    before = hash;
    return { entry: { ...entry, body, prev }, hash, index };
  });
}

describe("a record that is not understood", () => {
  it("is not guessed at: the run is not gone on with, and stays as it was (B048)", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    await run.closeAsync();
    const parts = partsOf(host);
    const entries = parts.journal.read(run.id);
    for (const order of [entries.slice(1), entries.toReversed()]) {
      const read: Journal["read"] = (_, from = 0) => order.slice(from);
      const broken = hostOf({ ...parts, journal: { ...parts.journal, read } });
      expect(await refusal(procedure.resume(broken, run.id))).toBe("journal_damaged");
    }
    const lost = hostOf({ ...parts, journal: { ...parts.journal, blob: () => undefined } });
    expect(await refusal(procedure.resume(lost, run.id))).toBe("journal_damaged");
    const other = hostOf({
      ...parts,
      journal: { ...parts.journal, blob: () => new TextEncoder().encode("[]") },
    });
    expect(await refusal(procedure.resume(other, run.id))).toBe("journal_damaged");
    expect(of.pay.calls).toHaveLength(0);
    expect((await procedure.resume(host, run.id)).state).toBe("awaiting_approval");
    await host.close();
  });

  it("names no run: an empty id, a blank one, one that never was (B003)", async () => {
    const host = await hostAt(null, bank());
    const procedure = procedureOf(host);
    for (const id of ["", "   ", "run-none", "host", "../x"]) {
      expect(await refusal(procedure.resume(host, id))).toBe("unknown_run");
    }
    await host.close();
  });
});
