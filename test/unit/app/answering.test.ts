import { describe, expect, it } from "vitest";
import {
  advanceAnswering,
  type LanguageModel,
  modelsFor,
  scriptedModel,
} from "../../../src/app/answering.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { bindRecipe, EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";

const environment = EMPTY_ENVIRONMENT;
const recipe = {
  version: 1,
  id: "two-questions",
  inputs: { items: { list: "text" } },
  terminal: "both",
  nodes: [
    {
      id: "each",
      output: { list: "integer" },
      each: { list: { input: "items" }, as: "item", limit: 10 },
      step: { kind: "model", prompt: { item: "item" } },
    },
    {
      id: "total",
      output: "integer",
      step: { kind: "model", role: "adder", prompt: { node: "each" } },
    },
    {
      id: "both",
      step: {
        kind: "pure",
        value: { op: "record", fields: { each: { node: "each" }, total: { node: "total" } } },
      },
    },
  ],
};
const procedure = new Procedure(bindRecipe(recipe, environment), { verifier: true });

function script(...lines: readonly string[]): LanguageModel {
  const model = scriptedModel(lines.join("\n"), "script");
  if (!model.ok) throw new Error(model.error[0]?.message);
  return model.value;
}

function start(model: LanguageModel) {
  const models = modelsFor(procedure.plan, model.identity);
  return procedure.start({ items: ["a", "b"] }, { environment, models });
}

const whole = script(
  '{"node":"each","prompt":"a","answer":1}',
  '{"node":"each","index":1,"answer":"2"}',
  '{"node":"total","answer":3}',
);

describe("advancing a run with a model behind it", () => {
  it("names the model behind every role that the plan asks", () => {
    const identity = { provider: "scripted", name: "script" };
    expect(modelsFor(procedure.plan, identity)).toEqual({ default: identity, adder: identity });
  });

  it("answers boundary after boundary, elements included, until the run ends", async () => {
    const run = start(whole);
    expect(await advanceAnswering(run, { environment, model: whole })).toBe("verified");
    expect(run.result).toEqual({ each: ["1", "2"], total: "3" });
    expect(run.report.model_calls).toBe(3);
  });

  it("without a model leaves the run at its first boundary", async () => {
    const run = start(whole);
    expect(await advanceAnswering(run, { environment, model: null })).toBe("awaiting_model");
    expect(run.pending.map((one) => [one.node, one.index])).toEqual([
      ["each", 0],
      ["each", 1],
    ]);
  });

  it("an answer that does not fit, or none at all, leaves the run waiting for another", async () => {
    const wrong = script('{"node":"each","answer":"many"}');
    const run = start(wrong);
    await expect(advanceAnswering(run, { environment, model: wrong })).rejects.toMatchObject({
      code: "invalid_model_answer",
    });
    const silent = script('{"node":"total","answer":3}');
    await expect(advanceAnswering(run, { environment, model: silent })).rejects.toMatchObject({
      code: "provider_error",
    });
    expect(run.state).toBe("awaiting_model");
    expect(await advanceAnswering(run, { environment, model: whole })).toBe("verified");
  });

  it("a run that is interrupted is cancelled, also while the model thinks", async () => {
    const before = new AbortController();
    before.abort();
    const early = start(whole);
    const signal = before.signal;
    expect(await advanceAnswering(early, { environment, model: whole, signal })).toBe("cancelled");

    const interruption = new AbortController();
    const thinking: LanguageModel = {
      identity: whole.identity,
      answer: (question) => {
        interruption.abort();
        return whole.answer(question);
      },
    };
    const late = start(thinking);
    const options = { environment, model: thinking, signal: interruption.signal };
    expect(await advanceAnswering(late, options)).toBe("cancelled");
    expect(late.report).toMatchObject({ reason: "user_cancelled", model_calls: 0 });
  });
});
