import { describe, expect, it } from "vitest";
import {
  codesOf,
  nodeOf,
  planOf,
  problemsOf,
  pure,
  recipe,
  verify,
} from "../../support/compiling.ts";

const read = (more = {}, step = {}) => ({
  id: "r",
  output: { list: { decimal: 2 } },
  step: { kind: "read", tool: "get", arguments: 1, ...step },
  ...more,
});

describe("output", () => {
  it("of pure and verify nodes is inferred", () => {
    const plan = planOf(
      recipe([pure("a", { input: "price" }), verify("v", {}, { value: { node: "a" } })]),
    );
    expect(plan.nodes.map(({ output }) => output)).toEqual([
      { kind: "integer" },
      { kind: "integer" },
    ]);
    expect(plan.result).toEqual({ kind: "integer" });
  });

  it("may be declared wider than what is computed", () => {
    const plan = planOf(recipe([pure("a", "yes", { output: { enum: ["yes", "no"] } })]));
    expect(plan.result).toEqual({ kind: "enum", values: ["no", "yes"] });
  });

  it("is refused where it does not fit", () => {
    expect(problemsOf(recipe([pure("a", 1, { output: "text" })]))).toMatchObject([
      {
        code: "type_mismatch",
        pointer: "/nodes/0/output",
        message: 'node "a": the node gives integer, which does not fit the declared text',
      },
    ]);
  });

  it("says how a value is read only where one comes from outside", () => {
    expect(codesOf(recipe([pure("a", 1, { output: { decimal: 2 } })]))).toEqual([
      "type_mismatch at /nodes/0/output",
    ]);
    const plan = planOf(recipe([read()]));
    expect(nodeOf(plan, "r").step).toMatchObject({
      reading: { kind: "list", of: { kind: "decimal", scale: 2 } },
    });
    expect(nodeOf(plan, "r").output).toEqual({ kind: "list", of: { kind: "integer" } });
  });

  it("of an empty list must be declared", () => {
    expect(codesOf(recipe([pure("a", [])]))).toEqual(["output_required at /nodes/0"]);
    expect(planOf(recipe([pure("a", [], { output: { list: "date" } })])).result).toEqual({
      kind: "list",
      of: { kind: "date" },
    });
  });

  it("of what has no values must be declared, and nothing is said of lists where there are none", () => {
    const [problem] = problemsOf(recipe([pure("a", { op: "get", value: null })]));
    expect(problem).toMatchObject({ code: "output_required", pointer: "/nodes/0" });
    expect(problem?.message).toMatch(/: the type cannot be inferred from what has no values: /);
  });

  it("of policy, approval and bare checkpoint nodes is null", () => {
    const plan = planOf(
      recipe([
        { id: "p", step: { kind: "policy", condition: true } },
        { id: "c", after: ["p"], step: { kind: "checkpoint" } },
        { id: "d", after: ["c"], step: { kind: "checkpoint", value: "kept" } },
      ]),
    );
    expect(plan.nodes.map(({ seen }) => seen.kind)).toEqual(["null", "null", "enum"]);
    expect(plan.needsHost).toBe(true);
  });
});

describe("guards", () => {
  it("make what readers see optional", () => {
    const plan = planOf(
      recipe([
        pure("a", 1, { when: { op: "less", left: { input: "price" }, right: 5 } }),
        pure("end", { op: "default", value: { node: "a" }, else: 0 }),
      ]),
    );
    expect(nodeOf(plan, "a").output).toEqual({ kind: "integer" });
    expect(nodeOf(plan, "a").seen).toEqual({ kind: "optional", of: { kind: "integer" } });
    expect(
      codesOf(
        recipe([
          pure("a", 1, { when: true }),
          pure("end", { op: "add", left: { node: "a" }, right: 0 }),
        ]),
      ),
    ).toEqual(["type_mismatch at /nodes/1/step/value"]);
  });

  it.each([
    ["verify", { condition: true, value: 1 }],
    ["policy", { condition: true }],
    ["checkpoint", {}],
  ])("cannot stand on a %s node", (kind, step) => {
    const guarded = {
      id: "a",
      when: true,
      each: { list: [1], limit: 1 },
      step: { kind, ...step },
    };
    expect(codesOf(recipe([guarded]))).toEqual([
      "guard_not_allowed at /nodes/0/each",
      "guard_not_allowed at /nodes/0/when",
    ]);
  });

  it("are boolean", () => {
    expect(codesOf(recipe([pure("a", 1, { when: 1 })]))).toEqual([
      "type_mismatch at /nodes/0/when",
    ]);
  });
});

describe("each", () => {
  it("makes a list, its element and position known in the step only", () => {
    const plan = planOf(
      recipe([
        pure(
          "a",
          { op: "add", left: { item: "n" }, right: { index: "n" } },
          { each: { list: [1, 2], as: "n", limit: 2 } },
        ),
      ]),
    );
    expect(plan.result).toEqual({ kind: "list", of: { kind: "integer" } });
    expect(
      codesOf(
        recipe([
          pure("a", 1, {
            when: { op: "equal", left: { item: "n" }, right: 1 },
            each: { list: [{ item: "n" }], as: "n", limit: 2 },
          }),
        ]),
      ),
    ).toEqual(["unknown_item at /nodes/0/each/list/0", "unknown_item at /nodes/0/when/left"]);
  });

  it("calls its element item unless told otherwise", () => {
    const short = planOf(recipe([pure("a", { item: "item" }, { each: { list: [1], limit: 2 } })]));
    const long = planOf(
      recipe([pure("a", { item: "item" }, { each: { list: [1], as: "item", limit: 2 } })]),
    );
    expect(long.digest).toBe(short.digest);
    expect(nodeOf(short, "a").each?.as).toBe("item");
  });

  it("goes over a list, and needs one as output", () => {
    expect(codesOf(recipe([pure("a", 1, { each: { list: 1, limit: 2 } })]))).toEqual([
      "type_mismatch at /nodes/0/each/list",
    ]);
    expect(codesOf(recipe([read({ output: "text", each: { list: [1], limit: 2 } })]))).toEqual([
      "type_mismatch at /nodes/0/output",
    ]);
  });

  it("has a limit that is stated and bounded", () => {
    expect(codesOf(recipe([pure("a", 1, { each: { list: [1] } })]))).toEqual([
      "missing_key at /nodes/0/each",
    ]);
    expect(codesOf(recipe([pure("a", 1, { each: { list: [1], limit: 100_001 } })]))).toEqual([
      "limit_exceeded at /nodes/0/each/limit",
    ]);
    expect(codesOf(recipe([pure("a", 1, { each: { list: [1], limit: 0 } })]))).toEqual([
      "bad_shape at /nodes/0/each/limit",
    ]);
  });
});

describe("a read that may find nothing", () => {
  it("is optional for its readers", () => {
    const { seen, output, step } = nodeOf(
      planOf(recipe([read({ output: "text" }, { absent_on: ["not_found", "gone"] })])),
      "r",
    );
    expect(output).toEqual({ kind: "text" });
    expect(seen).toEqual({ kind: "optional", of: { kind: "text" } });
    expect(step).toMatchObject({ absentOn: ["gone", "not_found"], reading: { kind: "text" } });
  });

  it("has null in place of an element with each", () => {
    const { seen } = nodeOf(
      planOf(
        recipe([
          read(
            { output: { list: "text" }, each: { list: [1], limit: 9 } },
            { absent_on: ["not_found"] },
          ),
        ]),
      ),
      "r",
    );
    expect(seen).toEqual({ kind: "list", of: { kind: "optional", of: { kind: "text" } } });
  });
});

describe("limits of a run", () => {
  it("are lowered by a recipe, never raised", () => {
    expect(planOf(recipe([pure("a", 1)], { limits: { max_steps: 5 } })).limits).toEqual({
      max_steps: 5,
      max_runtime_ms: 600_000,
      max_tokens: 1_000_000_000,
      max_tokens_per_answer: 100_000,
    });
    expect(codesOf(recipe([pure("a", 1)], { limits: { max_steps: 10_001 } }))).toEqual([
      "limit_exceeded at /limits/max_steps",
    ]);
  });
});

describe("named types", () => {
  it("serve inputs, outputs and expressions", () => {
    const plan = planOf(
      recipe(
        [pure("a", { op: "sum", list: { input: "lines" }, as: "l", value: { item: "l/n" } })],
        {
          types: { line: { record: { n: "integer" } } },
          inputs: { lines: { list: "line" } },
        },
      ),
    );
    expect(plan.result).toEqual({ kind: "integer" });
  });

  it("that fail are one problem, wherever they are used", () => {
    expect(
      codesOf(
        recipe([pure("a", { op: "add", left: { input: "x" }, right: { input: "y" } })], {
          inputs: { x: "integr", y: "integer" },
        }),
      ),
    ).toEqual(["unknown_type at /inputs/x"]);
  });
});
