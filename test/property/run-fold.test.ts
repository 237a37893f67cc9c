import fc from "fast-check";
import { expect, it } from "vitest";
import type { RunEvent } from "../../src/run/index.ts";
import { programOf } from "../../src/run/program.ts";
import { fold, step } from "../../src/run/step.ts";
import { compiled, ENVIRONMENT, recipeOf, started } from "../support/pure-procedure.ts";

/**
 * Random recipes of integer nodes: sums of earlier nodes, model boundaries, guards, lists and checks, some of which
 * fail. Answers come from the position of the node, so every order of answering gives the same ones.
 */
const recipes = fc
  .array(
    fc.record({
      kind: fc.constantFrom("sum", "sum", "model", "models", "guarded", "verify", "list"),
      left: fc.nat(),
      right: fc.nat(),
      bound: fc.integer({ min: -20, max: 400 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((shapes) => {
    const nodes = shapes.map((shape, index) => nodeOf(shape, index));
    const ids = nodes.map((node) => node.id);
    const all = { op: "sum", list: ids.map((id) => asInteger(id)) };
    return recipeOf({ n: "integer" }, [...nodes, { id: "z", step: { kind: "pure", value: all } }]);
  });

interface Shape {
  readonly kind: string;
  readonly left: number;
  readonly right: number;
  readonly bound: number;
}

const id = (index: number, kind: string) => `n${String(index).padStart(2, "0")}-${kind}`;

/** Any node as an integer: guarded ones may be null. */
function asInteger(node: string): unknown {
  if (node.endsWith("guarded")) return { op: "default", value: { node }, else: 0 };
  if (node.endsWith("models") || node.endsWith("list")) return { op: "sum", list: { node } };
  return { node };
}

const kinds: string[] = [];

function nodeOf(shape: Shape, index: number) {
  kinds.length = index;
  const before = (pick: number) =>
    index === 0 ? { input: "n" } : asInteger(id(pick % index, kinds[pick % index] ?? ""));
  kinds.push(shape.kind);
  const sum = { op: "add", left: before(shape.left), right: before(shape.right) };
  const small = { op: "less", left: before(shape.left), right: shape.bound };
  const range = {
    op: "range",
    from: 0,
    count: { op: "modulo", left: before(shape.left), right: 4, rounding: "floor" },
  };
  const name = id(index, shape.kind);
  switch (shape.kind) {
    case "model":
      return { id: name, output: "integer", step: { kind: "model", prompt: sum } };
    case "models":
      return {
        id: name,
        each: { list: range, as: "i", limit: 3 },
        output: { list: "integer" },
        step: { kind: "model", prompt: { item: "i" } },
      };
    case "list":
      return {
        id: name,
        each: { list: range, as: "i", limit: 3 },
        step: {
          kind: "pure",
          value: { op: "add", left: { item: "i" }, right: before(shape.right) },
        },
      };
    case "guarded":
      return { id: name, when: small, step: { kind: "pure", value: sum } };
    case "verify":
      return { id: name, step: { kind: "verify", condition: small, value: sum } };
    default:
      return { id: name, step: { kind: "pure", value: sum } };
  }
}

const environment = ENVIRONMENT;

/** Runs to the end; `choose` picks among the boundaries that wait. */
function play(recipe: unknown, n: number, choose: (count: number) => number) {
  const both = compiled(recipe);
  const { run, events } = started(both, { n });
  run.advancePure({ environment });
  for (let left = 200; run.state === "awaiting_model" && left > 0; left -= 1) {
    const pending = run.pending;
    const one = pending[choose(pending.length)] ?? pending[0];
    if (one === undefined) break;
    const answer = one.node.length + Number(one.node.slice(1, 3)) + (one.index ?? 0);
    const place = one.index === null ? {} : { index: one.index };
    run.advancePure({ environment, model: { node: one.node, ...place, answer } });
  }
  const program = programOf(both.plan, both.verifier);
  return { run, events, program };
}

it("the fold over the recorded events is the state that the events led to, after each of them", () => {
  fc.assert(
    fc.property(recipes, fc.integer({ min: -5, max: 50 }), (recipe, n) => {
      const { events, program } = play(recipe, n, () => 0);
      let state: ReturnType<typeof step>["state"] | null = null;
      const seen: RunEvent[] = [];
      for (const event of events) {
        state = step(program, state, event).state;
        seen.push(event);
        expect(fold(program, JSON.parse(JSON.stringify(seen)) as RunEvent[]).state).toEqual(state);
      }
    }),
    { numRuns: 150 },
  );
});

it("a step never changes the state it is given", () => {
  fc.assert(
    fc.property(recipes, fc.integer({ min: -5, max: 50 }), (recipe, n) => {
      const { events, program } = play(recipe, n, () => 0);
      let state: ReturnType<typeof step>["state"] | null = null;
      for (const event of events) {
        const before = structuredClone(state);
        const next: ReturnType<typeof step>["state"] = step(program, state, event).state;
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
      recipes,
      fc.integer({ min: -5, max: 50 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
      (recipe, n, picks) => {
        let next = 0;
        const any = play(recipe, n, (count) => {
          next += 1;
          return (picks[next % picks.length] ?? 0) % count;
        });
        const first = play(recipe, n, () => 0);
        if (first.run.state === "verified") {
          expect(any.run.result).toEqual(first.run.result);
          const { run: _, ...report } = any.run.report;
          const { run: __, ...expected } = first.run.report;
          expect(report).toEqual(expected);
          expect(fold(any.program, any.events).state).toEqual(
            fold(first.program, first.events).state,
          );
        } else {
          expect(any.run.state).not.toBe("verified");
        }
      },
    ),
    { numRuns: 200 },
  );
});

it("stopping the work at any evaluation gives a state that the fold finds again", () => {
  fc.assert(
    fc.property(recipes, fc.nat({ max: 30 }), (recipe, after) => {
      const { events, program } = play(recipe, 7, () => 0);
      const [start] = events;
      if (start === undefined) return;
      const cut = step(program, null, start, (evaluations) => evaluations >= after);
      if (!cut.paused) return;
      const stop: RunEvent = {
        type: "stopped",
        reason: "max_runtime",
        message: "",
        evaluations: cut.state.evaluations,
      };
      const live = step(program, cut.state, stop).state;
      expect(live.evaluations).toBe(after);
      expect(fold(program, [start, stop]).state).toEqual(live);
    }),
    { numRuns: 150 },
  );
});
