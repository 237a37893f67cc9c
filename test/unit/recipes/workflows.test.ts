/** What holds for each shipped workflow: from the first guided run to compiled ones, over real files and a workpaper. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Procedure } from "../../../src/app/procedure.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { shippedDocuments } from "../../../src/app/workflows/folder.ts";
import { prepareWorkflows } from "../../../src/app/workflows/prepare-workflows.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import { compileRecipe, compileVerifier } from "../../../src/compile/index.ts";
import type { QualifiedProcedure } from "../../../src/memory/index.ts";
import type { Environment } from "../../../src/model/environment.ts";
import { WORKFLOWS, type Workflow } from "../../../src/model/workflows.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import { readRecipe, readVerifier, sampleInputs } from "../../support/recipes.ts";
import {
  approveAll,
  boundTo,
  entriesIn,
  hostIn,
  PHASES,
  PREPARING,
  resultOf,
  shippedDocument,
  shippedEvidence,
  type WorkflowHost,
} from "../../support/workflows.ts";

const made = directories();
afterAll(made.remove);

interface Engagement {
  readonly population: readonly { readonly id: string; readonly amount: string }[];
  readonly sample: { readonly seed: string; readonly size: string; readonly all_from?: string };
}

/** The rule of the sample, written a second time: all from an amount on, and of the rest those whose digests are lowest. */
function sampleOf({ population, sample: { seed, size, all_from } }: Engagement): readonly string[] {
  const always = ({ amount }: { amount: string }) =>
    all_from !== undefined && BigInt(amount) >= BigInt(all_from);
  const rank = (id: string) =>
    sha256Hex(Buffer.from(`rote-value/v1\n${JSON.stringify({ id, seed })}`));
  const drawn = population
    .filter((one) => !always(one))
    .map(({ id }) => ({ id, rank: rank(id) }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1))
    .slice(0, Number(size))
    .map(({ id }) => id);
  return population.filter((one) => always(one) || drawn.includes(one.id)).map(({ id }) => id);
}

it("three workflows are shipped", () => {
  expect(WORKFLOWS).toEqual(["transaction-testing", "recalculation", "control-testing"]);
});

describe.each(WORKFLOWS)("the workflow %s", (workflow: Workflow) => {
  const inputs = sampleInputs(workflow);
  let at: WorkflowHost;
  let procedure: Procedure;
  let environment: Environment;
  let qualified: QualifiedProcedure;
  const guided: { readonly run: Run; readonly pauses: readonly string[] }[] = [];

  beforeAll(async () => {
    const folder = made.fresh();
    prepareWorkflows(folder, { ...PREPARING, documents: [workflow] });
    at = await hostIn(folder);
    ({ procedure, environment } = boundTo(at.host, workflow));
    const memory = ProcedureMemory.at(at.host);
    for (const [index, phase] of PHASES.entries()) {
      const run = procedure.start(inputs[index] ?? {}, { environment });
      guided.push({ run, pauses: await approveAll(run, at.host) });
      await memory.observe(run, { phase });
    }
    qualified = await memory.qualify(procedure, { environment });
  });
  afterAll(() => at.close());

  it("compiles with its verifier, is named like its folder, and is left unbound", () => {
    const plan = compileRecipe(readRecipe(workflow));
    if (!plan.ok) throw new Error(JSON.stringify(plan.error));
    expect([plan.value.id, plan.value.digest]).toEqual([workflow, null]);
    expect(compileVerifier(readVerifier(workflow), plan.value).ok).toBe(true);
  });

  it("qualifies on three training runs, a shadow and a canary over different engagement documents", () => {
    expect(guided.map(({ run }) => run.state)).toEqual(PHASES.map(() => "verified"));
    expect(new Set(guided.map(({ run }) => resultOf(run).sha256)).size).toBe(5);
    expect(qualified.clean_runs).toBe(5);
  });

  it("waits twice: before the engagement document is opened, and before anything is written", () => {
    for (const { run, pauses } of guided) {
      const rows = resultOf(run).rows.length;
      expect(pauses).toEqual(["engagement 1", `approved ${rows}`]);
    }
  });

  it("finds exceptions in verified runs, calls no model, and says how much it did", () => {
    const exceptions = guided.map(({ run }) => Number(resultOf(run).exceptions));
    expect(exceptions.every((count) => count > 0)).toBe(true);
    for (const { run } of guided) {
      const { model_calls, independently_verified } = run.report;
      expect({ model_calls, independently_verified }).toEqual({
        model_calls: 0,
        independently_verified: true,
      });
    }
  });

  it("draws the sample that the rule of its engagement document gives", () => {
    for (const [index, { run }] of guided.entries()) {
      const name = String(inputs[index]?.["engagement"]);
      const engagement = shippedDocument(workflow, `${name}.json`) as unknown as Engagement;
      const { rows, population } = resultOf(run);
      const tested = rows.flatMap(({ row }) => [
        row.evidence.id,
        ...((row["also"] as readonly string[] | undefined) ?? []),
      ]);
      expect(tested.toSorted()).toEqual(sampleOf(engagement).toSorted());
      expect(Number(population)).toBe(engagement.population.length);
    }
  });

  it("keeps the evidence of each row by id, digest and byte range, and each finding names evidence of its row", () => {
    const bytes = shippedEvidence(workflow);
    let findings = 0;
    for (const { row } of guided.flatMap(({ run }) => resultOf(run).rows)) {
      const { id, sha256, from, count } = row.evidence;
      expect(sha256).toBe(sha256Hex(bytes));
      const record = bytes.subarray(Number(from), Number(from) + Number(count)).toString("utf8");
      expect((JSON.parse(record) as { id: string }).id).toBe(id);
      for (const finding of row.findings) {
        findings += 1;
        const also = (row["also"] as readonly string[] | undefined) ?? [];
        expect(also.includes(finding.evidence) || record.includes(`"${finding.evidence}"`)).toBe(
          true,
        );
      }
    }
    expect(findings).toBeGreaterThanOrEqual(5);
  });

  it("has each approved row in the workpaper, once, under its key and by its operation", async () => {
    const rows = guided.flatMap(({ run }) => resultOf(run).rows);
    const entries = await entriesIn(at);
    for (const { row, position, operation, status } of rows) {
      expect(status).toBe("written");
      const found = entries.filter(({ key }) => key === row.key);
      expect(found).toEqual([
        { position: Number(position), key: row.key, operation, content: row },
      ]);
    }
  });

  it("compiled, asks for both approvals again, writes once, and on the same document again writes nothing", async () => {
    const given = inputs[PHASES.length] ?? {};
    const before = await entriesIn(at);
    const run = qualified.start(given, { environment });
    const pauses = await approveAll(run, at.host);
    const { rows } = resultOf(run);
    expect([run.mode, run.state]).toEqual(["compiled", "verified"]);
    expect(pauses).toEqual(["engagement 1", `approved ${rows.length}`]);
    const after = await entriesIn(at);
    expect(after.slice(before.length).map(({ key }) => key)).toEqual(
      rows.map(({ row }) => row.key),
    );

    const again = qualified.start(given, { environment });
    expect(await approveAll(again, at.host)).toEqual(["engagement 1"]);
    expect(again.state).toBe("verified");
    expect(resultOf(again).rows).toEqual(
      rows.map((written) => ({ ...written, status: "already_tested" })),
    );
    expect(await entriesIn(at)).toEqual(after);
  });

  it("ends a compiled run that is under way when its qualification is taken back, and writes nothing", async () => {
    const before = await entriesIn(at);
    const run = qualified.start(inputs[PHASES.length + 1] ?? {}, { environment });
    expect(await run.advanceAsync(at.host)).toBe("awaiting_approval");
    const memory = ProcedureMemory.at(at.host);
    await memory.demote(procedure, { environment, reason: "the rule is under discussion" });
    await approveAll(run, at.host);
    expect([run.state, run.report.reason]).toEqual(["denied", "not_qualified"]);
    expect(await entriesIn(at)).toEqual(before);
    expect(() => qualified.start(inputs[0] ?? {}, { environment })).toThrow(
      expect.objectContaining({ code: "not_qualified" }),
    );
  });

  it("comes with seven engagement documents and inputs that name each by its digest", () => {
    const engagements = shippedDocuments(workflow).filter((name) => name.endsWith(".json"));
    expect(inputs.map(({ engagement }) => `${engagement}.json`)).toEqual(engagements);
  });
});
