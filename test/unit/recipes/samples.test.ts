import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { scoreVerifier } from "../../../src/app/score.ts";
import { compileRecipe, compileVerifier } from "../../../src/compile/index.ts";
import {
  environment,
  finish,
  RECIPE_NAMES,
  readRecipe,
  readVerifier,
  sampleInputs,
  shippedProcedure,
  startOptions,
} from "../../support/recipes.ts";

const PHASES = ["training", "training", "training", "shadow", "canary"] as const;

it("twelve recipes are shipped", () => {
  expect(RECIPE_NAMES).toEqual([
    "control-test",
    "expense-posting",
    "invoice-totals",
    "line-total",
    "recalculation-declining",
    "recalculation-double-declining",
    "recalculation-prorated-linear",
    "recalculation-straight-line",
    "recalculation-sum-of-years",
    "recalculation-variable-declining",
    "split-payments",
    "three-way-match",
  ]);
});

describe.each(RECIPE_NAMES)("the shipped recipe %s", (name) => {
  it("compiles with its verifier, is named like its folder, and is left unbound", () => {
    const plan = compileRecipe(readRecipe(name));
    if (!plan.ok) expect(plan.error).toEqual([]);
    else {
      expect(plan.value.id).toBe(name);
      expect(plan.value.digest).toBeNull();
      const verifier = compileVerifier(readVerifier(name), plan.value);
      if (!verifier.ok) expect(verifier.error).toEqual([]);
    }
  });

  it("is verified on each of its own sample inputs, and its verifier catches every change to a result", () => {
    const procedure = shippedProcedure(name);
    const samples = sampleInputs(name);
    expect(samples.length).toBeGreaterThanOrEqual(8);
    const verified = samples.map((inputs, index) => {
      const run = finish(procedure.start(inputs, startOptions), name);
      const { state, failure } = { state: run.state, failure: run.report.failure };
      expect({ index, state, failure }).toEqual({ index, state: "verified", failure: null });
      return { inputs, result: run.result ?? null };
    });
    const score = scoreVerifier(procedure.plan, procedure.verifier, verified);
    expect(score.survivors).toEqual([]);
    expect(score.caught).toBe(score.possible);
    expect(score.caught).toBeGreaterThanOrEqual(2 * samples.length);
  });

  it("qualifies on its first five sample inputs and then runs compiled on the others", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "rote-recipes-"));
    try {
      const memory = await ProcedureMemory.create(path.join(directory, "memory"));
      const procedure = shippedProcedure(name);
      const samples = sampleInputs(name);
      for (const [index, phase] of PHASES.entries()) {
        const run = finish(procedure.start(samples[index] ?? {}, startOptions), name);
        await memory.observe(run, { phase });
      }
      const qualified = await memory.qualify(procedure, { environment });
      const rest = samples.slice(PHASES.length);
      expect(rest.length).toBeGreaterThanOrEqual(3);
      for (const inputs of rest) {
        const run = finish(qualified.start(inputs, startOptions), name);
        expect(run.mode).toBe("compiled");
        expect(run.state).toBe("verified");
        expect(run.report.independently_verified).toBe(true);
      }
      await memory.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
