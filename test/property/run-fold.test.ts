import fc from "fast-check";
import { expect, it } from "vitest";
import { writeValue } from "../../src/expression/index.ts";
import { evidenceOf, type RunEvent, type StartOptions } from "../../src/run/index.ts";
import { programOf } from "../../src/run/program.ts";
import type { RunState } from "../../src/run/state.ts";
import { fold, step } from "../../src/run/step.ts";
import { Ended, interpret } from "../support/naive-interpreter.ts";
import { compiled, ENVIRONMENT, started } from "../support/pure-procedure.ts";
import { answerFor, randomRecipes } from "../support/random-recipes.ts";

const environment = ENVIRONMENT;
const inputs = fc.integer({ min: -5, max: 50 });

/** Runs to the end; `choose` picks among the boundaries that wait. */
function play(
  recipe: unknown,
  n: number,
  choose: (count: number) => number = () => 0,
  options: Partial<StartOptions> = {},
) {
  const both = compiled(recipe);
  const { run, events } = started(both, { n }, options);
  run.advancePure({ environment });
  for (let left = 200; run.state === "awaiting_model" && left > 0; left -= 1) {
    const { pending } = run;
    const one = pending[choose(pending.length)];
    if (one === undefined) throw new Error("a run waits for nothing");
    const place = one.index === null ? {} : { index: one.index };
    const model = { node: one.node, ...place, answer: answerFor(one) };
    run.advancePure({ environment, model });
  }
  return { run, events, plan: both.plan, program: programOf(both.plan, both.verifier) };
}

it("the fold over the recorded events is the state that the events led to, after each of them", () => {
  fc.assert(
    fc.property(randomRecipes, inputs, (recipe, n) => {
      const { run, events, program } = play(recipe, n);
      let state: RunState | null = null;
      const seen: RunEvent[] = [];
      for (const event of events) {
        state = step(program, state, event).state;
        seen.push(JSON.parse(JSON.stringify(event)) as RunEvent);
        expect(fold(program, seen).state).toEqual(state);
      }
      expect(state?.end?.reason ?? null).toBe(run.report.reason);
    }),
    { numRuns: 150 },
  );
});

it("a step never changes the state it is given", () => {
  fc.assert(
    fc.property(randomRecipes, inputs, (recipe, n) => {
      const { events, program } = play(recipe, n);
      let state: RunState | null = null;
      for (const event of events) {
        const before = structuredClone(state);
        const next: RunState = step(program, state, event).state;
        expect(state).toEqual(before);
        state = next;
      }
    }),
    { numRuns: 150 },
  );
});

it("the order of answers to boundaries that wait together makes no difference, short of a failure", () => {
  fc.assert(
    fc.property(
      randomRecipes,
      inputs,
      fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
      (recipe, n, picks) => {
        let next = 0;
        const any = play(recipe, n, (count) => {
          next += 1;
          return (picks[next % picks.length] ?? 0) % count;
        });
        const first = play(recipe, n);
        expect(any.run.state === "verified").toBe(first.run.state === "verified");
        if (first.run.state !== "verified") return;
        expect(any.run.report).toEqual({ ...first.run.report, run: any.run.id });
        expect(evidenceOf(any.run)).toEqual({ ...evidenceOf(first.run), run: any.run.id });
        expect(fold(any.program, any.events).state).toEqual(
          fold(first.program, first.events).state,
        );
      },
    ),
    { numRuns: 200 },
  );
});

it("stopping the work at any evaluation gives a state that the fold finds again", () => {
  fc.assert(
    fc.property(randomRecipes, fc.nat({ max: 30 }), (recipe, after) => {
      const { events, program } = play(recipe, 7);
      const [start] = events;
      if (start === undefined) throw new Error("nothing was recorded");
      const cut = step(program, null, start, (evaluations) => evaluations >= after);
      fc.pre(cut.paused);
      const { evaluations } = cut.state;
      const stop: RunEvent = { type: "stopped", reason: "max_runtime", message: "", evaluations };
      const live = step(program, cut.state, stop).state;
      expect(evaluations).toBe(after);
      expect(fold(program, [start, stop]).state).toEqual(live);
    }),
    { numRuns: 150 },
  );
});

it("a run gives what plain recursion over the graph gives", () => {
  fc.assert(
    fc.property(randomRecipes, inputs, (recipe, n) => {
      const { run, plan } = play(recipe, n);
      let expected: unknown;
      try {
        const value = interpret(plan, [BigInt(n)], (node, index) =>
          BigInt(answerFor({ node, index })),
        );
        expected = writeValue(plan.result, value);
      } catch (error) {
        if (!(error instanceof Ended)) throw error;
      }
      expect(run.result).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

it("a compiled run gives what a guided run gives, and takes exactly the nodes that a guided run found equal", () => {
  const qualification = { id: "test", learned: [], stands: () => true, demote: () => {} };
  fc.assert(
    fc.property(randomRecipes, inputs, (recipe, n) => {
      const guided = play(recipe, n);
      const hit = play(recipe, n, () => 0, { mode: "compiled", qualification });
      expect(hit.run.state).toBe(guided.run.state);
      expect(hit.run.result).toEqual(guided.run.result);
      const reused = hit.run.report.trace.filter((node) => node.reused_pure);
      const { twins } = evidenceOf(guided.run);
      expect(twins.every((twin) => twin.agreed)).toBe(true);
      expect(reused.map((node) => node.node)).toEqual(twins.map((twin) => twin.node));
    }),
    { numRuns: 200 },
  );
});
