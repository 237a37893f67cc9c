import { describe, expect, it } from "vitest";
import {
  approval,
  codesOf,
  effect,
  nodeOf,
  planOf,
  problemsOf,
  pure,
  recipe,
  verify,
} from "../../support/compiling.ts";

describe("an effect", () => {
  it("needs a verify node among its ancestors", () => {
    expect(problemsOf(recipe([pure("a", 1), effect("e", { after: ["a"] })]))).toMatchObject([
      {
        code: "no_verify_before_effect",
        pointer: "/nodes/1",
        message: 'effect "e" has no verify node before it',
      },
    ]);
  });

  it("may have it any number of nodes before", () => {
    const plan = planOf(
      recipe([verify("v"), pure("a", 1, { after: ["v"] }), effect("e", { after: ["a"] })]),
    );
    expect(plan.needsHost).toBe(true);
    expect(nodeOf(plan, "e").step).toMatchObject({ kind: "effect", tool: "post", key: null });
  });

  it("is not covered by a verify node that comes later or beside it", () => {
    expect(
      codesOf(
        recipe([verify("v"), effect("e", { after: [] }), pure("end", 1, { after: ["v", "e"] })]),
      ),
    ).toEqual(["no_verify_before_effect at /nodes/1"]);
  });

  it("is not covered by a policy node", () => {
    expect(
      codesOf(
        recipe([
          { id: "p", step: { kind: "policy", condition: true } },
          effect("e", { after: ["p"] }),
        ]),
      ),
    ).toEqual(["no_verify_before_effect at /nodes/1"]);
  });

  it("declares its output, as reads and models do", () => {
    expect(
      codesOf(
        recipe([
          { id: "r", step: { kind: "read", tool: "get", arguments: 1 } },
          { id: "m", step: { kind: "model", prompt: 1 } },
          verify("v", { after: ["r", "m"] }),
          { id: "e", after: ["v"], step: { kind: "effect", tool: "post", arguments: 1 } },
        ]),
      ),
    ).toEqual([
      "output_required at /nodes/0",
      "output_required at /nodes/1",
      "output_required at /nodes/3",
    ]);
  });

  it("has a key of any type, which sees the element of its each", () => {
    const plan = planOf(
      recipe([
        pure("lines", [1, 2]),
        verify("v"),
        effect(
          "e",
          {
            after: ["v", "lines"],
            output: { list: "json" },
            each: { list: { node: "lines" }, as: "line", limit: 10 },
          },
          { arguments: { item: "line" }, key: { item: "line" } },
        ),
      ]),
    );
    const { step, each, output, seen } = nodeOf(plan, "e");
    expect(each).toMatchObject({ as: "line", limit: 10 });
    expect(step.kind === "effect" && step.key?.type).toEqual({ kind: "integer" });
    expect(step.kind === "effect" && step.reading).toEqual({ kind: "json" });
    expect(output).toEqual({ kind: "list", of: { kind: "json" } });
    expect(seen).toEqual(output);
  });
});

describe("an approval", () => {
  const fenced = (effectMore = {}, effectStep = {}, fenceMore = {}) =>
    recipe([
      pure("a", 1),
      verify("v"),
      approval("ask", ["e"], { after: ["v", "a"], ...fenceMore }),
      effect("e", { after: ["ask"], ...effectMore }, effectStep),
    ]);

  it("stands before its effects", () => {
    const plan = planOf(fenced());
    expect(nodeOf(plan, "ask").step).toEqual({ kind: "approval", effects: [3] });
    expect(nodeOf(plan, "ask").seen).toEqual({ kind: "null" });
  });

  it("is refused when an effect of its does not wait for it", () => {
    expect(
      problemsOf(
        recipe([
          verify("v"),
          approval("ask", ["e"], { after: ["v"] }),
          effect("e", { after: ["v"] }),
          pure("end", 1, { after: ["ask", "e"] }),
        ]),
      ),
    ).toMatchObject([
      {
        code: "fence_not_before_effect",
        pointer: "/nodes/1/step/effects/0",
        message: 'approval "ask" does not come before effect "e"',
        related: ["/nodes/2"],
      },
    ]);
  });

  it.each([
    ["arguments", {}, { arguments: { node: "late" } }],
    ["key", {}, { key: { node: "late" } }],
    ["when", { when: { op: "equal", left: { node: "late" }, right: 1 } }, {}],
    ["list", { each: { list: [{ node: "late" }], limit: 1 }, output: { list: "json" } }, {}],
  ])("knows what it shows: %s must follow from its own ancestors", (_part, more, step) => {
    const problems = problemsOf(
      recipe([
        verify("v"),
        approval("ask", ["e"], { after: ["v"] }),
        pure("late", 1, { after: ["ask"] }),
        effect("e", { after: ["late"], ...more }, step),
      ]),
    );
    expect(problems).toMatchObject([
      {
        code: "fence_not_before_effect",
        pointer: "/nodes/1/step/effects/0",
        message: 'effect "e" refers to "late", which does not come before approval "ask"',
      },
    ]);
  });

  it("may show what its own ancestors give", () => {
    const plan = planOf(fenced({}, { arguments: { node: "a" } }));
    expect(plan.nodes.map(({ id }) => id)).toEqual(["a", "v", "ask", "e"]);
  });

  it("asks for effects only, each behind one approval", () => {
    expect(
      codesOf(
        recipe([
          verify("v"),
          approval("ask", ["v2", "gone"], { after: ["v"] }),
          verify("v2", { after: ["ask"] }),
          approval("one", ["e"], { after: ["v2"] }),
          approval("two", ["e"], { after: ["one"] }),
          effect("e", { after: ["two"] }),
        ]),
      ),
    ).toEqual([
      "fence_target at /nodes/1/step/effects/0",
      "missing_node at /nodes/1/step/effects/1",
      "fence_target at /nodes/4/step/effects/0",
    ]);
  });

  it("that names an effect twice names it once", () => {
    const twice = fenced();
    const nodes = twice["nodes"] as never[];
    const doubled = {
      ...twice,
      nodes: nodes.with(2, approval("ask", ["e", "e"], { after: ["v", "a"] }) as never),
    };
    expect(planOf(doubled).digest).toBe(planOf(twice).digest);
  });
});
