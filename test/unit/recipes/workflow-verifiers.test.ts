/**
 * How strong the verifiers of the workflows are: what they are shown in real runs is altered, one place at a time. What
 * they accept then is listed here, and is nothing that a finding depends on.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Mutant, mutantsOf } from "../../../src/app/mutants.ts";
import { prepareWorkflows } from "../../../src/app/workflows/prepare-workflows.ts";
import { contextTypes } from "../../../src/compile/context.ts";
import { EvaluationFailure } from "../../../src/expression/index.ts";
import type { Type } from "../../../src/model/type.ts";
import type { CompiledExpression, RecordValue, Value } from "../../../src/model/value.ts";
import { WORKFLOWS, type Workflow } from "../../../src/model/workflows.ts";
import { shownToVerifier } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import { sampleInputs } from "../../support/recipes.ts";
import {
  approveAll,
  type Bound,
  boundTo,
  hostIn,
  PREPARING,
  type Shown,
  startWatched,
  type WorkflowHost,
} from "../../support/workflows.ts";

const made = directories();
afterAll(made.remove);

function holds(rule: CompiledExpression | null, context: Value): boolean {
  if (rule === null) throw new Error("there is no rule");
  try {
    return rule.evaluate({ inputs: [context], nodes: [] }) === true;
  } catch (error) {
    if (error instanceof EvaluationFailure) return false;
    throw error;
  }
}

interface Rule {
  readonly rule: CompiledExpression | null;
  readonly type: Type;
}

/** How many alterations below `part` there are, and where those are that the rule accepts. */
function altered({ rule, type }: Rule, contexts: readonly Value[], part: string) {
  const accepted = new Set<string>();
  let tried = 0;
  for (const context of contexts) {
    expect(holds(rule, context)).toBe(true);
    for (const mutant of mutantsOf(type, context)) {
      if (mutant.pointer !== part && !mutant.pointer.startsWith(`${part}/`)) continue;
      tried += 1;
      if (holds(rule, mutant.build())) accepted.add(placeOf(mutant));
    }
  }
  return { tried, accepted: [...accepted].sort() };
}

function placeOf({ pointer, change }: Mutant): string {
  return `${pointer.replace(/\/\d+(?=\/|$)/g, "/*")} ${change}`;
}

/** Evidence is what the findings are computed from: another text of it may well give the same findings. */
const isEvidence = (place: string) => place.startsWith("/operations/*/result/json/");

describe.each(WORKFLOWS)("the verifier of %s", (workflow: Workflow) => {
  let at: WorkflowHost;
  let bound: Bound;
  let before: Rule;
  let after: Rule;
  const shown: Shown = { beforeEffect: [], result: [] };
  const ended: ReturnType<typeof shownToVerifier>[] = [];

  beforeAll(async () => {
    const folder = made.fresh();
    prepareWorkflows(folder, { ...PREPARING, documents: [workflow] });
    at = await hostIn(folder);
    bound = boundTo(at.host, workflow);
    const { plan, verifier } = bound.procedure;
    const types = contextTypes(plan);
    before = { rule: verifier.beforeEffect, type: types.beforeEffect };
    after = { rule: verifier.result, type: types.result };
    // Between them all kinds of findings; the fourth twice, so that entries are found that were written before.
    const [first, second, , fourth] = sampleInputs(workflow);
    for (const given of [first, second, fourth, fourth]) {
      const run = startWatched(bound, given ?? {}, shown);
      await approveAll(run, at.host);
      const seen = shownToVerifier(run);
      if (seen === undefined) throw new Error(`it ended ${run.state}`);
      ended.push(seen);
    }
  });
  afterAll(() => at.close());

  it("is shown by a run that has ended what it was shown while the run was under way", () => {
    const { proposals, result } = ended[0] ?? { proposals: [], result: null };
    expect(result).toEqual(shown.result[0]);
    expect(proposals.length).toBeGreaterThan(1);
    for (const proposal of proposals) expect(shown.beforeEffect).toContainEqual(proposal);
  });

  it("refuses every altered result", () => {
    const { tried, accepted } = altered(after, shown.result.slice(-2), "/result");
    expect(accepted).toEqual([]);
    expect(tried).toBeGreaterThan(150);
  });

  it("refuses every altered proposal: what is about to be written is exactly what was found", () => {
    const { tried, accepted } = altered(before, shown.beforeEffect.slice(0, 8), "/proposed");
    // The position in the batch says nothing that the key does not.
    expect(accepted.filter((place) => !place.startsWith("/proposed/index "))).toEqual([]);
    expect(tried).toBeGreaterThan(300);
  });

  it("refuses a completed run of which an operation is missing, repeated, failed, or another one", () => {
    const [, second] = shown.result;
    const { tried, accepted } = altered(after, [second ?? null], "/operations");
    expect(accepted.filter((place) => !isEvidence(place))).toEqual([
      "/operations/* swapped with the next",
      "/operations/*/index filled in",
      "/operations/*/index made null",
      "/operations/*/index minus one",
      "/operations/*/index plus one",
      "/operations/*/key filled in",
      "/operations/*/result filled in",
      // Of the engagement document, which is read whole; of evidence both stand in the rows.
      "/operations/*/result/count minus one",
      "/operations/*/result/count plus one",
      "/operations/*/result/end minus one",
      "/operations/*/result/end plus one",
      "/operations/*/result/from minus one",
      "/operations/*/result/from plus one",
      "/operations/*/result/media_type text changed",
      "/operations/*/result/media_type text emptied",
    ]);
    expect(tried).toBeGreaterThan(500);
  });

  it("demands the first reading of the workpaper before it lets a row be written, and that it found none", () => {
    const [context] = shown.beforeEffect;
    const { operations, ...rest } = context as RecordValue;
    const listed = operations as readonly RecordValue[];
    const changed = (change: (operation: RecordValue) => readonly RecordValue[]): Value => ({
      ...rest,
      operations: listed.flatMap(change),
    });
    const isFirst = ({ node }: RecordValue) => node === "before";
    expect(listed.some(isFirst)).toBe(true);
    expect(
      holds(
        before.rule,
        changed((one) => [one]),
      ),
    ).toBe(true);
    expect(
      holds(
        before.rule,
        changed((one) => (isFirst(one) ? [] : [one])),
      ),
    ).toBe(false);
    const found = changed((one) => [isFirst(one) ? { ...one, outcome: "done" } : one]);
    expect(holds(before.rule, found)).toBe(false);
    const elsewhere = changed((one) => [isFirst(one) ? { ...one, node: "after" } : one]);
    expect(holds(before.rule, elsewhere)).toBe(false);
  });

  it("demands the second reading, with the entry as it was approved", () => {
    const [context] = shown.result;
    const { operations, ...rest } = context as RecordValue;
    const listed = operations as readonly RecordValue[];
    const without = listed.filter(({ node }) => node !== "after");
    expect(without.length).toBeLessThan(listed.length);
    expect(holds(after.rule, context ?? null)).toBe(true);
    expect(holds(after.rule, { ...rest, operations: without })).toBe(false);
  });

  it("demands that what was drawn has the amount by which the engagement names it", () => {
    const drawn: boolean[] = [];
    for (const [{ rule }, context] of [
      [before, shown.beforeEffect[0]],
      [after, shown.result[1]],
    ] as const) {
      const { operations, ...rest } = context as RecordValue;
      const [opened, ...others] = operations as readonly [RecordValue, ...RecordValue[]];
      const { result } = opened as { readonly result: RecordValue };
      const document = result["json"] as RecordValue;
      const population = document["population"] as readonly RecordValue[];
      const evidence = new Set(
        others
          .filter(({ node }) => node === "evidence")
          .map((one) => (one["arguments"] as RecordValue)["record"]),
      );
      for (const [index, member] of population.entries()) {
        if (!evidence.has(member["id"] ?? null)) continue;
        const amount = String(BigInt(String(member["amount"])) + 1n);
        const json = { ...document, population: population.with(index, { ...member, amount }) };
        const changed = [{ ...opened, result: { ...result, json } }, ...others];
        drawn.push(holds(rule, { ...rest, operations: changed }));
      }
    }
    expect(drawn.length).toBeGreaterThan(1);
    expect(drawn).not.toContain(true);
  });
});
