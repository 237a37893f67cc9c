import { describe, expect, it } from "vitest";
import { programOf } from "../../../src/run/program.ts";
import { fold } from "../../../src/run/step.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { compiled, ENVIRONMENT, recipeOf, started } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;

const ASKS = (limits: object = {}) =>
  compiled(
    recipeOf(
      { n: "integer" },
      [
        {
          id: "many",
          each: { list: { op: "range", from: 0, count: { input: "n" } }, as: "i", limit: 100 },
          output: { list: "integer" },
          step: { kind: "model", prompt: { item: "i" } },
        },
        { id: "one", after: ["many"], output: "integer", step: { kind: "model", prompt: "?" } },
      ],
      { limits },
    ),
  );

describe("steps", () => {
  it("are counted per element, and a node that would pass the limit asks nothing", () => {
    const { run } = started(ASKS({ max_steps: 3 }), { n: 4 });
    expect(run.advancePure({ environment })).toBe("exhausted");
    expect(run.pending).toEqual([]);
    expect(run.report).toMatchObject({
      reason: "max_steps",
      failure: { node: "many", message: 'node "many" would take the run past 3 steps' },
    });
  });

  it("are counted over all nodes", () => {
    const { run } = started(ASKS({ max_steps: 3 }), { n: 3 });
    for (let index = 0; index < 3; index += 1) {
      run.advancePure({ environment, model: { node: "many", index, answer: 1 } });
    }
    expect(run.state).toBe("exhausted");
    expect(run.report.failure).toMatchObject({ reason: "max_steps", node: "one" });
  });

  it("up to the limit are allowed", () => {
    const { run } = started(ASKS({ max_steps: 4 }), { n: 3 });
    for (let index = 0; index < 3; index += 1) {
      run.advancePure({ environment, model: { node: "many", index, answer: 1 } });
    }
    expect(run.advancePure({ environment, model: { answer: 1 } })).toBe("verified");
  });
});

describe("tokens", () => {
  const usage = { input_tokens: 50, output_tokens: 10 };
  const spent = (limits: object, ...usages: (typeof usage | undefined)[]) => {
    const { run } = started(ASKS(limits), { n: 3 });
    run.advancePure({ environment });
    for (const one of usages) {
      const model = { answer: 1, ...(one === undefined ? {} : { usage: one }) };
      run.advancePure({ environment, model });
    }
    return run;
  };

  it("past the limit end the run, with the answer that passed it on record", () => {
    const limits = { max_tokens: 119, max_tokens_per_answer: 100 };
    expect(spent(limits, usage).state).toBe("awaiting_model");
    const run = spent(limits, usage, usage);
    expect(run.report).toMatchObject({
      state: "exhausted",
      reason: "token_budget_exceeded",
      failure: { node: "many" },
      model_calls: 2,
      tokens: { input: 100, output: 20 },
    });
    expect(spent({ ...limits, max_tokens: 120 }, usage, usage).state).toBe("awaiting_model");
  });

  it("that are unknown are charged as much as one answer may use", () => {
    const limits = { max_tokens: 199, max_tokens_per_answer: 100 };
    expect(spent(limits, undefined).state).toBe("awaiting_model");
    expect(spent(limits, undefined, undefined).report.reason).toBe("token_budget_exceeded");
  });

  it("of one answer have a limit of their own", () => {
    expect(spent({ max_tokens_per_answer: 60 }, usage).state).toBe("awaiting_model");
    expect(spent({ max_tokens_per_answer: 59 }, usage).report).toMatchObject({
      reason: "token_budget_exceeded",
      failure: { message: "the answer used 60 tokens, more than the limit of 59" },
    });
  });
});

describe("active time", () => {
  it("counts while the run computes, not while it waits", () => {
    const clock = manualClock();
    const { run } = started(ASKS({ max_runtime_ms: 1000 }), { n: 1 }, { clock });
    run.advancePure({ environment });
    clock.pass(5_000);
    run.advancePure({ environment, model: { answer: 1 } });
    clock.pass(5_000);
    expect(run.advancePure({ environment, model: { answer: 1 } })).toBe("verified");
    expect(run.report).toMatchObject({ total_ms: 10_000, active_ms: 0 });
  });

  it("ends the run between two evaluations, inside a list too, and the fold stops at the same place", () => {
    const recipe = compiled(
      recipeOf(
        {},
        [
          { id: "first", step: { kind: "pure", value: 1 } },
          {
            id: "list",
            after: ["first"],
            each: { list: { op: "range", from: 0, count: 100 }, as: "i", limit: 100 },
            step: { kind: "pure", value: { item: "i" } },
          },
        ],
        { limits: { max_runtime_ms: 50 } },
      ),
    );
    const { run, events } = started(recipe, {}, { clock: manualClock(1) });
    expect(run.advancePure({ environment })).toBe("exhausted");
    expect(run.report).toMatchObject({
      reason: "max_runtime",
      failure: { node: null, message: "the run was active for more than 50 ms" },
    });
    expect(run.report.trace.map((node) => node.outcome)).toEqual(["done", "not_reached"]);
    const program = programOf(recipe.plan, recipe.verifier);
    const { state } = fold(program, events);
    expect(state.end?.reason).toBe("max_runtime");
    expect(state.nodes.map((node) => node.kind)).toEqual(["done", "idle"]);
    expect(state.evaluations).toBeGreaterThan(10);
  });

  it("is summed over calls", () => {
    const clock = manualClock(10);
    const { run } = started(ASKS({ max_runtime_ms: 200 }), { n: 40 }, { clock });
    run.advancePure({ environment });
    let calls = 0;
    while (run.state === "awaiting_model" && calls < 41) {
      run.advancePure({ environment, model: { answer: 1 } });
      calls += 1;
    }
    expect(run.report.reason).toBe("max_runtime");
  });
});

describe("limits that the host states", () => {
  it("lower the recipe's, never raise them", () => {
    const lower = started(ASKS({ max_steps: 10 }), { n: 4 }, { limits: { max_steps: 3 } }).run;
    expect(lower.advancePure({ environment })).toBe("exhausted");
    const higher = started(ASKS({ max_steps: 3 }), { n: 4 }, { limits: { max_steps: 10 } }).run;
    expect(higher.advancePure({ environment })).toBe("exhausted");
  });

  it.each([
    { max_steps: -1 },
    { max_steps: 1.5 },
    { max_tokens: Number.POSITIVE_INFINITY },
    { max_step: 1 },
  ])("%o is refused", (limits) => {
    expect(() => started(ASKS(), { n: 1 }, { limits: limits as object })).toThrow(
      expect.objectContaining({ code: "bad_limit" }),
    );
  });
});
