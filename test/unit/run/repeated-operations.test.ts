import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import type { ToolOutcome } from "../../../src/ports/tool.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  fence,
  hostAt,
  OPEN,
  type Options,
  pay,
  READ,
  recipeOf,
  said,
} from "../../support/gate.ts";
import { decision, KEYS, madeTool, POLICY, registration } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

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
    const host = await hostAt(null, of, { policy: { ...POLICY, deny: ["tool:read:*"] } });
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
  const asking: Options = { policy: { ...POLICY, approvable: ["tool:read:*"] } };
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
