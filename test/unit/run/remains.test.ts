import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createHost } from "../../../src/app/create-host.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import type { Host } from "../../../src/host/index.ts";
import type { Random } from "../../../src/ports/random.ts";
import { hostOptions, type MadeTool, madeTool, registration } from "../../support/host.ts";

const VERIFIER = { version: 1, id: "v", before_effect: true, result: true };
const OPEN = {
  version: 1 as const,
  id: "open",
  profile: "standard" as const,
  grants: ["tool:effect:note.write"],
  approvable: [],
  deny: [],
  approvals: { required: 1, requester_may_approve: false },
};

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) {
    rmSync(directory, { recursive: true, force: true });
  }
});

function fresh(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "rote-remains-"));
  directories.push(directory);
  return path.join(directory, "store");
}

function procedureOf(recipe: unknown, host: Host, random?: Random): Procedure {
  const options = { verifier: VERIFIER, ...(random === undefined ? {} : { random }) };
  const unbound = new Procedure(recipe, options);
  return new Procedure(bindRecipe(recipe, host.environment(unbound.plan)), options);
}

async function hostAt(directory: string | null, tool: MadeTool, category: "read" | "effect") {
  const tools = [registration(tool, category)];
  return createHost(hostOptions(directory, tools, { policy: OPEN }));
}

const text = (value: string) => ({ op: "literal", value, type: "text" });
const note = (what: string) => ({
  kind: "effect",
  tool: "note.write",
  arguments: { op: "record", fields: { what: text(what) } },
});

describe("an operation is known by its place in its run", () => {
  const RECIPE = {
    version: 1,
    id: "same-twice",
    inputs: {},
    terminal: "done",
    nodes: [
      { id: "fine", step: { kind: "verify", condition: true, value: text("fine") } },
      { id: "one", after: ["fine"], output: "text", step: note("the same") },
      { id: "two", after: ["fine", "one"], output: "text", step: note("the same") },
      {
        id: "each",
        after: ["fine", "two"],
        output: { list: "text" },
        each: { list: { op: "list", values: ["a", "a"] }, as: "what", limit: 2 },
        step: note("the same"),
      },
      { id: "done", step: { kind: "pure", value: { node: "each" } } },
    ],
  };

  it("so the same call at another place is another operation, also after a resume (B046)", async () => {
    const directory = fresh();
    const ids: string[] = [];
    let broken = true;
    const tool = madeTool("note.write", ({ operationId }, count) => {
      ids.push(operationId);
      if (count === 3 && broken) throw new Error("the line is cut");
      return { kind: "done", result: `note ${count}` };
    });
    const host = await hostAt(directory, tool, "effect");
    const procedure = procedureOf(RECIPE, host);
    const { plan } = procedure;
    const run = procedure.start({}, { environment: host.environment(plan) });
    expect(await run.advanceAsync(host)).toBe("uncertain");
    expect(new Set(ids).size).toBe(3);
    const resumed = await procedure.resume(host, run.id);
    expect(resumed.report.trace.map(({ node, outcome }) => [node, outcome])).toEqual([
      ["fine", "done"],
      ["one", "done"],
      ["two", "done"],
      ["each", "failed"],
      ["done", "not_reached"],
    ]);
    broken = false;
    const again = procedure.start({}, { environment: host.environment(plan) });
    expect(await again.advanceAsync(host)).toBe("verified");
    expect(again.result).toEqual(["note 6", "note 7"]);
    expect(new Set(ids).size).toBe(7);
    await host.close();
  });
});

describe("what an earlier run left", () => {
  const RECIPE = {
    version: 1,
    id: "one-note",
    inputs: { what: "text" },
    terminal: "write",
    nodes: [
      { id: "fine", step: { kind: "verify", condition: true, value: { input: "what" } } },
      {
        id: "write",
        after: ["fine"],
        output: "text",
        step: {
          kind: "effect",
          tool: "note.write",
          arguments: { op: "record", fields: { what: { node: "fine" } } },
        },
      },
    ],
  };
  /** Never a second id. */
  const stuck: Random = { bytes: (count) => new Uint8Array(count).fill(7) };

  it("never answers for a new one: an id that is on record cannot be started again (B050)", async () => {
    const directory = fresh();
    const tool = madeTool("note.write", ({ arguments: args }) => ({
      kind: "done",
      result: `wrote ${(args as { what: string }).what}`,
    }));
    const host = await hostAt(directory, tool, "effect");
    const procedure = procedureOf(RECIPE, host, stuck);
    const environment = host.environment(procedure.plan);
    const first = procedure.start({ what: "old" }, { environment });
    expect(await first.advanceAsync(host)).toBe("verified");
    const second = procedure.start({ what: "new" }, { environment });
    expect(second.id).toBe(first.id);
    await expect(second.advanceAsync(host)).rejects.toMatchObject({ code: "journal_damaged" });
    expect(second.result).toBeUndefined();
    expect(tool.calls).toHaveLength(1);
    expect((await procedure.resume(host, first.id)).result).toBe("wrote old");
    await host.close();
  });
});

describe("a run that has ended", () => {
  const LARGE = 1_000_000;
  const RECIPE = {
    version: 1,
    id: "thirty-reads",
    inputs: {},
    terminal: "lengths",
    nodes: [
      {
        id: "pages",
        output: { list: "text" },
        each: {
          list: {
            op: "map",
            list: { op: "split", value: "x".repeat(29).split("").join(","), separator: "," },
            value: { op: "index", name: "item" },
          },
          as: "at",
          limit: 30,
        },
        step: {
          kind: "read",
          tool: "page.read",
          arguments: { op: "record", fields: { at: { item: "at" } } },
        },
      },
      {
        id: "lengths",
        step: {
          kind: "pure",
          value: {
            op: "map",
            list: { node: "pages" },
            value: { op: "length", value: { item: "item" } },
          },
        },
      },
    ],
  };

  it("shows every call with its result, however large, when it is read back (B051)", async () => {
    const directory = fresh();
    const sizeOf = (count: number) => (count % 10 === 0 ? LARGE : 10 + count);
    const tool = madeTool("page.read", (_, count) => ({
      kind: "done",
      result: "x".repeat(sizeOf(count)),
    }));
    const host = await hostAt(directory, tool, "read");
    const procedure = procedureOf(RECIPE, host);
    const run = procedure.start({}, { environment: host.environment(procedure.plan) });
    expect(await run.advanceAsync(host)).toBe("verified");
    const count = tool.calls.length;
    expect(count).toBeGreaterThan(25);
    const read = await procedure.resume(host, run.id);
    expect(read.state).toBe("verified");
    expect(read.result).toEqual(run.result);
    expect(read.receipts).toHaveLength(count);
    expect(read.report.trace[0]).toMatchObject({ node: "pages", outcome: "done", elements: count });
    expect(tool.calls).toHaveLength(count);
    await host.close();
  });
});
