/** The workflows by the command line: the ladder, two approvals a run, and what becomes of a qualification. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { loadKey } from "../../../src/app/key-file.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import type { SourceList } from "../../../src/app/workflows/folder.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { WORKFLOWS } from "../../../src/model/workflows.ts";
import { definitionDigest, signToolReview } from "../../../src/trust/index.ts";
import { nowSeconds } from "../../support/host.ts";
import { sampleInputs } from "../../support/recipes.ts";
import { approveAll, boundTo, hostIn, PHASES, PREPARING } from "../../support/workflows.ts";
import { WorkflowFolder } from "./workflow-folder.ts";

let folder: WorkflowFolder;
type Members = { readonly [member: string]: JsonValue };

describe("the ladder of recalculation, by commands alone", () => {
  beforeAll(async () => {
    folder = await WorkflowFolder.prepared("recalculation");
  });
  afterAll(() => folder.remove());

  /** Both approvals of a run that was started, and its end. */
  async function finished(begun: Awaited<ReturnType<WorkflowFolder["start"]>>) {
    const pauses: string[] = [];
    let told = begun;
    while (told.state === "awaiting_approval") {
      const [{ nonce, node }] = told.requests;
      pauses.push(node);
      expect(await folder.approve(nonce)).toMatchObject({ exit_code: 0 });
      told = await folder.json("runs", "resume", begun.run, "--host", "host/host.mjs");
    }
    return { told, pauses };
  }

  it("is climbed with a reviewer beside it, and the compiled run waits for both approvals again", async () => {
    const at = ["--host", "host/host.mjs"];
    for (const [line, phase] of PHASES.entries()) {
      const begun = await folder.start(line);
      const { told, pauses } = await finished(begun);
      expect([told.state, told.mode, pauses]).toEqual([
        "verified",
        "guided",
        ["engagement", "approved"],
      ]);
      const observed = await folder.json("memory", "observe", told.run, ...at, "--phase", phase);
      expect(observed).toMatchObject({ exit_code: 0 });
    }
    const qualified = await folder.json("memory", "qualify", "recipe.json", ...at);
    expect(qualified).toMatchObject({ exit_code: 0 });
    const begun = await folder.start(5);
    expect(begun).toMatchObject({ mode: "compiled", state: "awaiting_approval" });
    const { told, pauses } = await finished(begun);
    expect([told.state, told.mode, pauses]).toEqual([
      "verified",
      "compiled",
      ["engagement", "approved"],
    ]);
  });

  it("has a verifier that refuses every altered result and proposal of the runs in the journal", async () => {
    const words = ["check", "recipe.json", "--score", "--host", "host/host.mjs"];
    const { score, before_effect, exit_code } = await folder.json(...words);
    expect(exit_code).toBe(0);
    expect([score.samples, score.survivors, before_effect.survivors]).toEqual([6, [], []]);
    expect(score.caught).toBe(score.possible);
    expect(before_effect.caught).toBe(before_effect.possible);
    expect([score.caught > 500, before_effect.caught > 500]).toEqual([true, true]);
    // One that looks at nothing catches nothing, and one that refuses what was verified has no score.
    const weak = { version: 1, id: "weak", before_effect: true, result: true };
    folder.write("weak.json", weak);
    const accepting = await folder.json(...words, "--verifier", "weak.json");
    expect([accepting.score.caught, accepting.before_effect.caught]).toEqual([0, 0]);
    folder.write("no.json", { ...weak, before_effect: false });
    const refusing = await folder.json(...words, "--verifier", "no.json");
    expect(refusing).toMatchObject({ exit_code: 3, score: null });
  });
});

describe.each(WORKFLOWS)("a qualified %s", (workflow) => {
  beforeAll(async () => {
    folder = await WorkflowFolder.prepared(workflow);
    const at = await hostIn(folder.host);
    const { procedure, environment } = boundTo(at.host, workflow);
    const memory = ProcedureMemory.at(at.host);
    for (const [index, phase] of PHASES.entries()) {
      const run = procedure.start(sampleInputs(workflow)[index] ?? {}, { environment });
      await approveAll(run, at.host);
      await memory.observe(run, { phase });
    }
    await memory.qualify(procedure, { environment });
    await at.close();
  });
  afterAll(() => folder.remove());
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const step of undo.splice(0)) step();
  });

  /** Changes a file of the host for one test. */
  function changing(name: string, edit: (document: JsonValue) => JsonValue): void {
    const before = readFileSync(join(folder.host, name), "utf8");
    undo.push(() => folder.write(`host/${name}`, before));
    folder.change(name, edit);
  }

  /** Whether runs start compiled, why not, and what is said to who insists on it. */
  async function modeNow(...words: readonly string[]) {
    const { mode, why, run } = await folder.start(6, ...words);
    if (run !== undefined) await folder.json("runs", "cancel", run, "--host", "host/host.mjs");
    const insisting = await folder.start(6, "--mode", "compiled", ...words);
    return { mode, why, insisting: insisting.error?.code ?? insisting.state };
  }

  it("starts compiled as long as nothing changes", async () => {
    expect(await modeNow()).toMatchObject({ mode: "compiled", insisting: "awaiting_approval" });
  });

  it("starts guided under another verifier, and says why", async () => {
    const verifier = JSON.parse(folder.read("verifier.json")) as Members;
    const result = { op: "and", values: [verifier["result"] ?? true, true] };
    folder.write("stricter.json", { ...verifier, result });
    const { mode, why, insisting } = await modeNow("--verifier", "stricter.json");
    expect([mode, insisting]).toEqual(["guided", "not_qualified"]);
    expect(why).toMatch(/verifier was/);
  });

  it("starts guided under another policy, and says why; the compiled run under way ends", async () => {
    const begun = await folder.start(6);
    expect(begun).toMatchObject({ mode: "compiled", state: "awaiting_approval" });
    changing("policy.json", (policy) => ({ ...(policy as Members), deny: ["tool:effect:other"] }));
    const under = await folder.json("runs", "resume", begun.run, "--host", "host/host.mjs");
    // Guided or compiled: what it was approved and judged for is not there any more.
    expect([under.state, under.reason]).toEqual(["denied", "environment_changed"]);
    const { mode, why, insisting } = await modeNow();
    expect([mode, insisting]).toEqual(["guided", "not_qualified"]);
    expect(why).toMatch(/environment \(policy\) was/);
  });

  it("starts guided beside other evidence, and says why", async () => {
    changing("sources.json", (sources) => {
      const { engagements, evidence } = sources as unknown as SourceList;
      return { engagements: engagements.slice(1), evidence } as unknown as JsonValue;
    });
    const { mode, why, insisting } = await modeNow();
    expect([mode, insisting]).toEqual(["guided", "not_qualified"]);
    expect(why).toMatch(/environment \(evidence\) was/);
  });

  it("starts guided with another tool, though it was reviewed, and says why", async () => {
    // The tool reviewer signs what the tool says of itself now.
    const key = loadKey(join(folder.host, "keys", "tool-reviewer.key"), PREPARING.passphrase);
    const at = await hostIn(folder.host);
    const tool = at.options.tools.find(({ tool: one }) => one.definition.name === "evidence.read");
    await at.close();
    if (tool === undefined) throw new Error("there is no evidence.read");
    const definition = { ...tool.tool.definition, description: "Reads evidence, differently." };
    const now = nowSeconds();
    const review = signToolReview(
      {
        type: "rote-tool-review/v1",
        audience: PREPARING.origin,
        name: "evidence.read",
        definition: definitionDigest(definition),
        category: "read",
        repeatable: true,
        fenced: false,
        reviewer: "tool-reviewer",
        not_before: now - 1,
        expires: now + 3600,
      },
      key,
    );
    // Of the second tool.
    changing("reviews.json", (reviews) => (reviews as readonly JsonValue[]).with(1, review));
    folder.write(
      "host/other-tool.mjs",
      `import { host as original, close } from "./host.mjs";
export { close };
export function host() {
  const options = original();
  return {
    ...options,
    tools: options.tools.map((one) => one.tool.definition.name === "evidence.read"
      ? { ...one, tool: { ...one.tool, definition: ${JSON.stringify(definition)} } }
      : one),
  };
}
`,
    );
    const inputs = Object.entries(sampleInputs(workflow)[6] ?? {});
    const given = inputs.flatMap(([name, value]) => ["--input", `${name}=${String(value)}`]);
    const words = ["run", "recipe.json", "--host", "host/other-tool.mjs", ...given];
    const { mode, why } = await folder.json(...words);
    expect(mode).toBe("guided");
    expect(why).toMatch(/environment \(tools\) was/);
    const insisting = await folder.json(...words, "--mode", "compiled");
    expect(insisting.error.code).toBe("not_qualified");
  });
});
