import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import {
  environment,
  finish,
  type Inputs,
  sampleInputs,
  shippedProcedure,
  startOptions,
} from "../../support/recipes.ts";

const NAME = "expense-posting";
const procedure = shippedProcedure(NAME);
const samples = sampleInputs(NAME);

function answered(inputs: Inputs, answer: string) {
  const run = procedure.start(inputs, startOptions);
  expect(run.advancePure({ environment })).toBe("awaiting_model");
  run.advancePure({ environment, model: { answer } });
  return run;
}

describe("an expense classified by a model", () => {
  it("shows the model the text and nothing else", () => {
    const run = procedure.start(samples[6] ?? {}, startOptions);
    run.advancePure({ environment });
    expect(run.pendingModel?.prompt).toEqual({
      text: "Lunch with two guests after the site visit",
    });
  });

  it("is posted by rule, and the verifier judges by the supplier's registration", () => {
    const run = answered(samples[6] ?? {}, "meals");
    expect(run.state).toBe("verified");
    expect(run.result).toEqual({
      date: "2025-02-11",
      supplier: "S-310",
      category: "meals",
      account: "6640",
      cost: "8047",
      recoverable_tax: "698",
    });
  });

  it("is refused by the verifier when the model names a category that the supplier is not registered for", () => {
    const run = answered(samples[6] ?? {}, "software");
    expect([run.state, run.report.reason]).toEqual(["rejected", "verifier_rejected"]);
    expect(run.result).toBeUndefined();
  });

  it("waits on when the answer is no category at all", () => {
    const run = procedure.start(samples[6] ?? {}, startOptions);
    run.advancePure({ environment });
    expect(() => run.advancePure({ environment, model: { answer: "lunch" } })).toThrow(/category/);
    expect(run.advancePure({ environment, model: { answer: "meals" } })).toBe("verified");
  });

  it("is not asked again for the text that all qualifying runs had, and is asked for any other", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "rote-expense-"));
    try {
      const memory = await ProcedureMemory.create(path.join(directory, "memory"));
      const phases = ["training", "training", "training", "shadow", "canary"] as const;
      for (const [index, phase] of phases.entries()) {
        const run = finish(procedure.start(samples[index] ?? {}, startOptions), NAME);
        await memory.observe(run, { phase });
      }
      const qualified = await memory.qualify(procedure, { environment });
      const known = qualified.start(samples[5] ?? {}, startOptions);
      expect(known.advancePure({ environment })).toBe("verified");
      expect([known.report.learned_model_hits, known.report.model_calls]).toEqual([1, 0]);
      const other = qualified.start(samples[7] ?? {}, startOptions);
      expect(other.advancePure({ environment })).toBe("awaiting_model");
      expect(finish(other, NAME).state).toBe("verified");
      expect([other.report.learned_model_hits, other.report.model_calls]).toEqual([0, 1]);
      await memory.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
