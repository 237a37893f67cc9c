/** Runs that other processes go on with: what was done stays done, and what was decided stays decided. */
import { afterAll, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { canonicalBytes } from "../../../src/base/canonical.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import type { ToolOutcome } from "../../../src/ports/tool.ts";
import type { Run } from "../../../src/run/index.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  directories,
  FENCED_PAYMENT,
  fence,
  hostAt,
  INPUTS,
  movedClock,
  type Options,
  pay,
  procedureOf,
  READ,
  recipeOf,
  refusal,
  TWO_FENCED,
  VERIFIER,
} from "../../support/gate.ts";
import { decision, hostOptions, KEYS, madeTool, registration } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

const { policy } = hostOptions(null, []);
const OPEN: Options = { policy: { ...policy, profile: "privileged" } };
const said = ({ state, report }: Run) => [state, report.failure?.code ?? report.reason];

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
      [{ policy: { ...policy, deny: ["tool:effect:*"] } }, "policy_changed", "policy"],
      [{ policy: { ...policy, profile: "privileged" } }, "policy_changed", "policy"],
      [{ policy: { ...policy, id: "other" } }, "policy_changed", "policy"],
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

describe("reads and effects of a run", () => {
  it("are told apart by node, though their arguments are equal (B006)", async () => {
    const hosts: JsonValue[] = [];
    const get = madeTool("http.get", ({ arguments: args }) => {
      hosts.push(args);
      return { kind: "done", result: hosts.length };
    });
    const directory = places.fresh();
    const of = { tools: [registration(get, "read")] };
    const read = (id: string, path: string) => ({
      ...READ,
      id,
      step: {
        ...READ.step,
        tool: "http.get",
        arguments: { op: "record", fields: { path: { op: "literal", value: path, type: "text" } } },
      },
    });
    const values = ["a", "b", "same"].map((node) => ({ node }));
    const recipe = recipeOf([
      read("a", "/a"),
      read("b", "/b"),
      read("same", "/a"),
      { id: "all", step: { kind: "pure", value: { op: "list", values } } },
    ]);
    const host = await hostAt(directory, of);
    const { run } = await begin(host, recipe);
    expect([...(run.result as number[])].sort()).toEqual([1, 2, 3]);
    const ids = new Set(get.calls.map(({ operationId }) => operationId));
    expect(ids.size).toBe(3);
    await host.close();
  });

  it("are done as often as they stand there: two equal effects, a read of what changed between (B067)", async () => {
    let content = "old";
    const file = madeTool("file.read", () => ({ kind: "done", result: content }));
    const write = madeTool("file.write", () => {
      content = "new";
      return { kind: "done", result: "written" };
    });
    const of = { tools: [registration(file, "read"), registration(write, "effect")] };
    const reading = (id: string, after: readonly string[] = []) => ({
      ...READ,
      id,
      after,
      step: { ...READ.step, tool: "file.read" },
    });
    const writing = (id: string, after: readonly string[]) =>
      pay(id, after, {}, { tool: "file.write" });
    const values = ["before", "after"].map((node) => ({ node }));
    const recipe = recipeOf([
      reading("before"),
      CHECK,
      writing("one", ["check", "before"]),
      writing("two", ["one"]),
      reading("after", ["two"]),
      { id: "all", step: { kind: "pure", value: { op: "list", values } } },
    ]);
    const host = await hostAt(null, of);
    const { run } = await begin(host, recipe);
    const nonces = new Set<string>();
    while (run.pendingRequest !== null) {
      nonces.add(asked(run).nonce);
      await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
    }
    expect(run.result).toEqual(["old", "new"]);
    expect([file.calls.length, write.calls.length, nonces.size]).toEqual([2, 2, 2]);
    await host.close();
  });

  it("are asked again although the same was refused before: no refusal is kept (B071)", async () => {
    let there = false;
    const file = madeTool(
      "file.read",
      (): ToolOutcome =>
        there
          ? { kind: "done", result: "content" }
          : { kind: "refused", code: "not_found", message: "" },
    );
    const write = madeTool("file.write", () => {
      there = true;
      return { kind: "done", result: "written" };
    });
    const of = { tools: [registration(file, "read"), registration(write, "effect")] };
    const reading = (id: string, after: readonly string[] = []) => ({
      id,
      after,
      output: { optional: "text" },
      step: { ...READ.step, tool: "file.read", absent_on: ["not_found"] },
    });
    const recipe = recipeOf([
      reading("first"),
      CHECK,
      pay("write", ["check", "first"], {}, { tool: "file.write" }),
      reading("second", ["write"]),
    ]);
    const host = await hostAt(null, of, OPEN);
    const { run } = await begin(host, recipe);
    expect([run.state, run.result]).toEqual(["verified", "content"]);
    expect(file.calls).toHaveLength(2);
    await host.close();
  });

  it("that the gate refuses are not absent, whatever the recipe permits", async () => {
    const of = bank();
    const recipe = recipeOf([
      {
        ...READ,
        output: { optional: "json" },
        step: { ...READ.step, absent_on: ["policy_denied", "tool_refused"] },
      },
    ]);
    const host = await hostAt(null, of, { policy: { ...policy, deny: ["tool:read:*"] } });
    const { run } = await begin(host, recipe);
    expect(said(run)).toEqual(["denied", "policy_denied"]);
    await host.close();
  });

  it("that were not made, or broke, are not absent either: only what the target says is", async () => {
    const codes = ["connection_refused", "timeout", "tool_threw", "interrupted", "not_found"];
    const recipe = recipeOf([
      { ...READ, output: "json", step: { ...READ.step, absent_on: codes } },
      { id: "r", after: ["balance"], step: { kind: "pure", value: { node: "balance" } } },
    ]);
    const no = (kind: "refused" | "not_applied", code: string) => () =>
      ({ kind, code, message: "" }) as const;
    const told = async (answer: () => ToolOutcome) => {
      const made = madeTool("bank.balance", answer);
      const host = await hostAt(null, { tools: [registration(made, "read")] });
      const { run, procedure } = await begin(host, recipe);
      const again = await procedure.resume(host, run.id);
      expect(said(again)).toEqual(said(run));
      await host.close();
      return said(run);
    };
    expect(await told(no("refused", "not_found"))).toEqual(["verified", "completed"]);
    expect(await told(no("not_applied", "connection_refused"))).toEqual([
      "failed",
      "connection_refused",
    ]);
    expect(await told(no("not_applied", "not_found"))).toEqual(["failed", "not_found"]);
    expect(await told(no("refused", "timeout"))).toEqual(["failed", "tool_timeout"]);
    const breaks = () => {
      throw new Error("gone");
    };
    expect(await told(breaks)).toEqual(["failed", "tool_threw"]);
  });
});

describe("several requests of one run", () => {
  const each = { list: { input: "rows" }, as: "row", limit: 9 };
  const arguments_ = { op: "record", fields: { account: { item: "row" } } };
  const recipe = recipeOf(
    [{ ...READ, output: { list: "json" }, each, step: { ...READ.step, arguments: arguments_ } }],
    { inputs: { rows: { list: "text" } } },
  );
  const asking: Options = { policy: { ...policy, approvable: ["tool:read:*"] } };
  const rows = { rows: ["a", "b", "c"] };

  it("are open together, one of each read, and are answered in any order, by whom it may be", async () => {
    const of = bank();
    const host = await hostAt(null, of, asking);
    const { run } = await begin(host, recipe, rows);
    const open = host.pendingRequests();
    expect(open.map(({ operations }) => operations[0]?.operation.index)).toEqual([0, 1, 2]);
    expect(asked(run).nonce).toBe(open[0]?.nonce);
    const [first, second, third] = open.map(({ operations, ...request }) => ({
      ...asked(run),
      ...request,
      replaces: null,
      operations: operations.map(({ digest }) => digest),
    }));
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("three");
    await host.fileDecision(decision(third, KEYS.bob, "bob"));
    expect(await run.advanceAsync(host, { approval: decision(second, KEYS.alice, "alice") })).toBe(
      "awaiting_approval",
    );
    expect(of.balance.calls).toHaveLength(2);
    expect(asked(run).nonce).toBe(first.nonce);
    expect(host.pendingRequests().map(({ nonce }) => nonce)).toEqual([first.nonce]);
    expect(await run.advanceAsync(host, { approval: decision(first, KEYS.alice, "alice") })).toBe(
      "verified",
    );
    expect(of.balance.calls).toHaveLength(3);
    await host.close();
  });

  it("are all there again after a restart", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of, asking);
    const { run, procedure } = await begin(host, recipe, rows);
    const before = host.pendingRequests().map(({ nonce }) => nonce);
    await run.closeAsync();
    await host.close();
    const other = await hostAt(directory, of, asking);
    expect(other.pendingRequests().map(({ nonce }) => nonce)).toEqual(before);
    const resumed = await procedure.resume(other, run.id);
    expect(await resumed.advanceAsync(other)).toBe("awaiting_approval");
    expect(other.pendingRequests().map(({ nonce }) => nonce)).toEqual(before);
    await other.close();
  });

  it("do not keep a fence from asking", async () => {
    const of = bank();
    const host = await hostAt(null, of, asking);
    const { run } = await begin(
      host,
      recipeOf([READ, CHECK, fence(["pay"]), pay("pay", ["fence", "balance"])]),
    );
    expect(
      host
        .pendingRequests()
        .map(({ node }) => node)
        .sort(),
    ).toEqual(["balance", "fence"]);
    for (let turn = 0; turn < 2; turn += 1) {
      await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
    }
    expect(run.state).toBe("verified");
    await host.close();
  });
});

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
