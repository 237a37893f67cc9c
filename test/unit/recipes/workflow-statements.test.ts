/**
 * What is said of the workflows beside their findings: who may open what, what an approval is for, and that nothing is
 * written otherwise.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { prepareWorkflows } from "../../../src/app/workflows/prepare-workflows.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import { compileRecipe } from "../../../src/compile/index.ts";
import { WORKFLOWS } from "../../../src/model/workflows.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import { refusal } from "../../support/gate.ts";
import { decision, KEYS, madeTool } from "../../support/host.ts";
import { type Inputs, readRecipe, sampleInputs } from "../../support/recipes.ts";
import { short } from "../../support/tool-calls.ts";
import {
  approveAll,
  boundTo,
  entriesIn,
  hostIn,
  PREPARING,
  type WorkflowHost,
} from "../../support/workflows.ts";

const made = directories();
afterAll(made.remove);

/** A folder with the shipped documents of two workflows, so that one could be taken for the other. */
function prepared(): string {
  const folder = made.fresh();
  prepareWorkflows(folder, { ...PREPARING, documents: ["recalculation", "control-testing"] });
  return folder;
}

function started({ host }: WorkflowHost, inputs: Inputs): Run {
  const { procedure, environment } = boundTo(host, "recalculation");
  return procedure.start(inputs, { environment });
}

const [engagement = {}] = sampleInputs("recalculation");

function toolOf({ options }: WorkflowHost, name: string) {
  const found = options.tools.find(({ tool }) => tool.definition.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.tool;
}

function ended(run: Run) {
  const { reason, failure } = run.report;
  return [reason, failure?.node, failure?.code];
}

describe("a request", () => {
  it("names a registered document and nothing else: neither a path nor evidence nor another workflow's document", async () => {
    const folder = prepared();
    const at = await hostIn(folder);
    const file = join(folder, "policy.json");
    const sha256 = sha256Hex(readFileSync(file));
    for (const path of [file, "../policy.json", "documents/assets-01.json", "asset-register"]) {
      const run = started(at, { engagement: path, sha256 });
      await approveAll(run, at.host);
      expect(ended(run)).toEqual(["tool_error", "engagement", "unknown_source"]);
    }
    const [other = {}] = sampleInputs("control-testing");
    const run = started(at, other);
    await approveAll(run, at.host);
    expect(run.state).not.toBe("verified");
    expect(await entriesIn(at)).toEqual([]);
    await at.close();
  });

  it("opens the document with the digest that it gives, and no other", async () => {
    const at = await hostIn(prepared());
    const [, second = {}] = sampleInputs("recalculation");
    const run = started(at, { ...engagement, sha256: second["sha256"] ?? null });
    await approveAll(run, at.host);
    expect(ended(run)).toEqual(["tool_error", "engagement", "other_content"]);
    await at.close();
  });

  it("for evidence cannot open an engagement document, which needs an approval", async () => {
    const at = await hostIn(prepared());
    const args = { source: String(engagement["engagement"]), record: "" };
    expect(await short(toolOf(at, "evidence.read"), args)).toBe("refused unknown_source");
    expect(await short(toolOf(at, "engagement.read"), args)).toMatchObject({ from: 0 });
    await at.close();
  });
});

describe("evidence", () => {
  it("that changes while the host is open is not read, and nothing is written", async () => {
    const folder = prepared();
    const at = await hostIn(folder);
    const run = started(at, engagement);
    await run.advanceAsync(at.host);
    appendFileSync(join(folder, "documents", "asset-register.jsonl"), "\n");
    await approveAll(run, at.host);
    expect(ended(run)).toEqual(["tool_error", "evidence", "source_changed"]);
    expect(await entriesIn(at)).toEqual([]);
    await at.close();
  });

  it("that changed since it was registered keeps the host from opening", async () => {
    const folder = prepared();
    const file = join(folder, "documents", "asset-register.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replace('"booked":"', '"booked":"1'));
    expect(await refusal(hostIn(folder))).toBe("bad_source");
  });
});

describe("an approval", () => {
  it("to open the engagement document writes nothing; each row is shown and approved apart from it", async () => {
    const at = await hostIn(prepared());
    const run = started(at, engagement);
    await run.advanceAsync(at.host);
    const opening = run.pendingRequest;
    if (opening === null) throw new Error("nothing is asked");
    await at.host.fileDecision(decision(opening, KEYS.alice, "alice"));
    expect(await run.advanceAsync(at.host)).toBe("awaiting_approval");
    expect(await entriesIn(at)).toEqual([]);
    const writing = run.pendingRequest;
    if (writing === null) throw new Error("nothing is asked");
    expect(writing.nonce).not.toBe(opening.nonce);
    expect(writing.operations).toHaveLength(4);
    // What was signed for the one does not do for the other.
    const other = decision(opening, KEYS.alice, "alice");
    expect(await refusal(at.host.fileDecision(other))).toMatch(/^approval_refused: /);
    expect(await run.advanceAsync(at.host)).toBe("awaiting_approval");
    expect(await entriesIn(at)).toEqual([]);
    await at.close();
  });

  it("by a stranger is refused, and a rejection ends the run with nothing written", async () => {
    const at = await hostIn(prepared());
    const run = started(at, engagement);
    await run.advanceAsync(at.host);
    const opening = run.pendingRequest;
    if (opening === null) throw new Error("nothing is asked");
    const strangers = decision(opening, KEYS.stranger, "alice");
    expect(await refusal(at.host.fileDecision(strangers))).toMatch(/^approval_refused: /);
    await at.host.fileDecision(decision(opening, KEYS.alice, "alice"));
    await run.advanceAsync(at.host);
    const writing = run.pendingRequest;
    if (writing === null) throw new Error("nothing is asked");
    await at.host.fileDecision(decision(writing, KEYS.alice, "alice", { decision: "reject" }));
    await run.advanceAsync(at.host);
    expect([run.state, run.report.reason]).toEqual(["denied", "approval_rejected"]);
    expect(await entriesIn(at)).toEqual([]);
    await at.close();
  });
});

describe("an append", () => {
  it("of which nobody knows whether it was done ends the run, and is not tried again", async () => {
    const lost = madeTool("workpaper.append", () => {
      throw new Error("connection reset");
    });
    const at = await hostIn(prepared(), (options) => ({
      ...options,
      tools: options.tools.map((one) =>
        one.tool.definition.name === "workpaper.append"
          ? { ...one, tool: { ...lost.tool, definition: one.tool.definition } }
          : one,
      ),
    }));
    const run = started(at, engagement);
    await approveAll(run, at.host);
    expect([run.state, run.report.reason]).toEqual(["uncertain", "uncertain_operation"]);
    await run.advanceAsync(at.host);
    expect(lost.calls).toHaveLength(1);
    await at.close();
  });

  it.each(WORKFLOWS)("to the workpaper is the only effect that %s has", (workflow) => {
    const plan = compileRecipe(readRecipe(workflow));
    if (!plan.ok) throw new Error("it does not compile");
    const tools = plan.value.nodes.flatMap(({ step }) =>
      step.kind === "read" || step.kind === "effect" ? [`${step.kind} ${step.tool}`] : [],
    );
    expect(tools.toSorted()).toEqual([
      "effect workpaper.append",
      "read engagement.read",
      "read evidence.read",
      "read workpaper.read",
      "read workpaper.read",
    ]);
  });
});
