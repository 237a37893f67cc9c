/** Adapters behind the real gate: what the journal says beside what the target counted. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createHost,
  type HostOptions,
  type ToolRegistration,
} from "../../../src/app/create-host.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import type { Host } from "../../../src/host/index.ts";
import { evidenceDocument, registerFiles } from "../../../src/tools/file-sources.ts";
import { fileTool } from "../../../src/tools/files.ts";
import { httpTool } from "../../../src/tools/http.ts";
import { type McpTools, mcpTools } from "../../../src/tools/mcp-client.ts";
import { openWorkpaper } from "../../../src/tools/workpaper.ts";
import { childProgram } from "../../support/children.ts";
import { hostOptions, registration } from "../../support/host.ts";
import { localTarget, reply, short } from "../../support/tool-calls.ts";

const VERIFIER = { version: 1, id: "v", before_effect: true, result: true };
const CHILD = childProgram("mcp");

let directory: string;
let closing: (() => Promise<void> | void)[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "rote-gate-"));
  closing = [];
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(directory, { recursive: true, force: true });
});

/** A recipe of one step at a tool; its arguments are a JSON literal. */
function recipe(kind: "read" | "effect", tool: string, args: unknown) {
  const value = { op: "literal", value: args, type: "json" };
  const effect = kind === "effect" ? { key: "invoice-7" } : {};
  return {
    version: 1,
    id: "one-step",
    inputs: { invoice: "text" },
    terminal: "done",
    nodes: [
      { id: "known", step: { kind: "verify", condition: true, value: { input: "invoice" } } },
      {
        id: "step",
        after: ["known"],
        output: "json",
        step: { kind, tool, arguments: value, ...effect },
      },
      { id: "done", after: ["step"], step: { kind: "pure", value: { node: "step" } } },
    ],
  };
}

async function hostWith(
  tools: readonly ToolRegistration[],
  change: Partial<HostOptions> = {},
): Promise<Host> {
  const base = hostOptions(null, tools, change);
  const granted = { ...base.policy, grants: ["tool:effect:*", "tool:read:*"] };
  const host = await createHost({ ...base, policy: change.policy ?? granted });
  closing.push(() => host.close());
  return host;
}

async function runOf(host: Host, source: ReturnType<typeof recipe>) {
  const unbound = new Procedure(source, { verifier: VERIFIER });
  const bound = bindRecipe(source, host.environment(unbound.plan));
  const procedure = new Procedure(bound, { verifier: VERIFIER });
  const environment = host.environment(procedure.plan);
  const run = procedure.start({ invoice: "7" }, { environment });
  await run.advanceAsync(host);
  return run;
}

async function ended(host: Host, source: ReturnType<typeof recipe>) {
  const run = await runOf(host, source);
  const { state, report } = run;
  return { state, reason: report.reason, receipts: run.receipts.length };
}

async function bank(answer: Parameters<typeof localTarget>[0]) {
  const target = await localTarget(answer);
  closing.push(target.close);
  const tool = httpTool({
    name: "bank.pay",
    description: "Pays",
    allow: [
      {
        origin: target.origin,
        methods: ["POST", "GET"],
        paths: ["/pay"],
        privateAddresses: true,
      },
    ],
  });
  const args = { method: "POST", url: `${target.origin}/pay`, body: { invoice: "7" } };
  return { target, tool, args };
}

describe("an HTTP effect behind the gate", () => {
  it("that is answered with a 500 after it was applied is uncertain, not failed", async () => {
    const { target, tool, args } = await bank((_, response) => reply(response, 500, {}));
    const host = await hostWith([registration({ tool }, "effect")]);
    expect(await ended(host, recipe("effect", "bank.pay", args))).toMatchObject({
      state: "uncertain",
      reason: "uncertain_operation",
    });
    expect(target.received).toHaveLength(1);
  });

  it("whose answer is lost ends uncertain, and a second run is not admitted (B007)", async () => {
    const { target, tool, args } = await bank((_, __, socket) => socket.resetAndDestroy());
    const host = await hostWith([registration({ tool }, "effect")]);
    const source = recipe("effect", "bank.pay", args);
    expect(await ended(host, source)).toMatchObject({ state: "uncertain" });
    expect(await ended(host, source)).toMatchObject({
      state: "denied",
      reason: "duplicate_operation",
    });
    expect(target.received).toHaveLength(1);
  });

  it("whose connection is reset is sent once; a repeatable read as often as the host says (B008)", async () => {
    const { target, tool, args } = await bank((_, __, socket) => socket.resetAndDestroy());
    const effects = await hostWith([registration({ tool }, "effect", { repeatable: true })]);
    expect(await ended(effects, recipe("effect", "bank.pay", args))).toMatchObject({
      state: "uncertain",
    });
    expect(target.received).toHaveLength(1);

    const read = recipe("read", "bank.pay", { method: "GET", url: args.url });
    const once = await hostWith([registration({ tool }, "read")], { readAttempts: 3 });
    expect(await ended(once, read)).toMatchObject({ state: "failed", reason: "tool_error" });
    expect(target.received).toHaveLength(2);

    const repeatable = [registration({ tool }, "read", { repeatable: true })];
    const thrice = await hostWith(repeatable, { readAttempts: 3 });
    expect(await ended(thrice, read)).toMatchObject({ state: "failed", reason: "tool_error" });
    expect(target.received).toHaveLength(5);
  });

  it("that was refused a connection did not happen, and its key is free again", async () => {
    const { target, tool, args } = await bank((_, response) => reply(response, 200, {}));
    await target.close();
    const host = await hostWith([registration({ tool }, "effect")]);
    const source = recipe("effect", "bank.pay", args);
    for (const _ of [1, 2]) {
      expect(await ended(host, source)).toMatchObject({ state: "failed", reason: "tool_error" });
    }
    expect(target.received).toHaveLength(0);
  });

  it("outside of the allow-list is not admitted", async () => {
    const { target, tool } = await bank((_, response) => reply(response, 200, {}));
    const host = await hostWith([registration({ tool }, "effect")]);
    const args = { method: "POST", url: `${target.origin}/refund` };
    expect(await ended(host, recipe("effect", "bank.pay", args))).toMatchObject({
      state: "denied",
      reason: "tool_refused",
    });
    expect(target.received).toHaveLength(0);
  });
});

describe("the workpaper behind the gate", () => {
  it("gets one entry, under the operation's digest", async () => {
    const paper = openWorkpaper(join(directory, "paper"), { mode: "create" });
    closing.push(paper.close);
    const host = await hostWith([registration({ tool: paper.append }, "effect", { fenced: true })]);
    const source = recipe("effect", "workpaper.append", {
      key: "invoice-7",
      content: { ok: true },
    });
    const run = await runOf(host, source);
    expect(run.state).toBe("verified");
    expect(run.result).toEqual({ key: "invoice-7", position: 1 });
    expect(await short(paper.read, { key: "invoice-7" })).toMatchObject({
      entries: [{ operation: expect.stringMatching(/^sha256:/), content: { ok: true } }],
    });
  });
});

describe("the file source behind the gate", () => {
  it("is read as it was registered, and not when its content changed", async () => {
    const file = join(directory, "invoices.jsonl");
    writeFileSync(file, '{"id":"7","total":"12.50"}\n');
    const sources = registerFiles([{ source: "invoices", file, id: "id" }]);
    const tool = fileTool(sources);
    const host = await hostWith([registration({ tool }, "read", { repeatable: true })], {
      evidence: evidenceDocument(sources),
    });
    const source = recipe("read", "file.read", { source: "invoices", record: "7" });
    const run = await runOf(host, source);
    expect(run.result).toMatchObject({ json: { id: "7", total: "12.50" } });
    writeFileSync(file, '{"id":"7","total":"92.50"}\n');
    expect(await ended(host, source)).toMatchObject({ state: "failed", reason: "tool_error" });
  });

  it("binds procedures to the content of its sources", async () => {
    const file = join(directory, "a.txt");
    const environment = async (content: string) => {
      writeFileSync(file, content);
      const sources = registerFiles([{ source: "a", file }]);
      const tool = fileTool(sources);
      const host = await hostWith([registration({ tool }, "read")], {
        evidence: evidenceDocument(sources),
      });
      const args = { source: "a", from: 0, count: 1 };
      return host.environment(
        new Procedure(recipe("read", "file.read", args), { verifier: VERIFIER }).plan,
      );
    };
    const before = await environment("x");
    expect(await environment("x")).toEqual(before);
    const after = await environment("y");
    expect(after.evidence).not.toBe(before.evidence);
    expect({ ...after, evidence: null }).toEqual({ ...before, evidence: null });
  });
});

describe("MCP tools behind the gate", () => {
  const connect = async (): Promise<McpTools> => {
    const tools = await mcpTools({
      id: "books",
      server: { command: process.execPath, args: [CHILD, directory] },
    });
    closing.push(tools.close);
    return tools;
  };
  const toolIn = (tools: McpTools, name: string) => {
    const tool = tools.tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  const entries = () => {
    try {
      return readFileSync(join(directory, "entries"), "utf8").trim().split("\n");
    } catch {
      return [];
    }
  };

  it("are what the reviewer says, whatever hints their server sends (B027)", async () => {
    const tools = await connect();
    const wipe = toolIn(tools, "books.wipe");
    expect(wipe.definition.annotations).toMatchObject({
      from_server: { annotations: { readOnlyHint: true } },
    });
    const unreviewed = await hostWith([{ tool: wipe, review: null }]);
    for (const kind of ["read", "effect"] as const) {
      expect(await ended(unreviewed, recipe(kind, "books.wipe", {}))).toMatchObject({
        state: "denied",
        reason: "tool_refused",
      });
    }
    const policy = {
      ...hostOptions(null, []).policy,
      approvable: ["tool:effect:*"],
      grants: ["tool:read:*"],
    };
    const reviewed = await hostWith([registration({ tool: wipe }, "effect")], { policy });
    expect(await ended(reviewed, recipe("read", "books.wipe", {}))).toMatchObject({
      state: "denied",
      reason: "tool_refused",
    });
    expect((await runOf(reviewed, recipe("effect", "books.wipe", {}))).state).toBe(
      "awaiting_approval",
    );
    expect(entries()).toEqual([]);
  });

  it("are refused when they change after their review, by the gate and by the environment (B031)", async () => {
    const tools = await connect();
    const post = toolIn(tools, "books.post");
    const host = await hostWith([registration({ tool: post }, "effect")]);
    const args = { account: "7", amount: 5 };
    const source = recipe("effect", "books.post", args);
    const unbound = new Procedure(source, { verifier: VERIFIER });
    const bound = bindRecipe(source, host.environment(unbound.plan));
    const procedure = new Procedure(bound, { verifier: VERIFIER });
    const before = procedure.start(
      { invoice: "7" },
      { environment: host.environment(procedure.plan) },
    );

    writeFileSync(join(directory, "definitions"), '{"extra":true}');
    expect(await short(toolIn(tools, "books.change"), {})).toBe("changed");
    await tools.refresh();

    expect(await before.advanceAsync(host)).toBe("denied");
    expect(before.report.reason).toBe("environment_changed");
    expect(await ended(host, source)).toMatchObject({ state: "denied", reason: "tool_refused" });
    expect(await ended(host, recipe("effect", "books.renamed", args))).toMatchObject({
      state: "denied",
      reason: "tool_refused",
    });
    expect(entries()).toEqual([]);
  });
});

it("an operation's id is what targets get as idempotency key", async () => {
  const { target, tool, args } = await bank((_, response) => reply(response, 200, {}));
  const host = await hostWith([registration({ tool }, "effect")]);
  const run = await runOf(host, recipe("effect", "bank.pay", args));
  expect(run.state).toBe("verified");
  const keys = target.received.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{64}$/)]);
});
