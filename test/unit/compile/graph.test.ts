import { describe, expect, it } from "vitest";
import { compileRecipe } from "../../../src/compile/index.ts";
import {
  codesOf,
  effect,
  nodeOf,
  planOf,
  problemsOf,
  pure,
  recipe,
  verify,
} from "../../support/compiling.ts";

describe("cycles", () => {
  it("are refused naming only their members, in text order (B089)", () => {
    const problems = problemsOf(
      recipe([
        pure("b", { node: "a" }),
        pure("a", { node: "b" }),
        pure("downstream", { node: "a" }),
        pure("end", { node: "downstream" }),
      ]),
    );
    expect(problems).toMatchObject([
      {
        code: "cycle",
        pointer: "/nodes/1",
        message: 'nodes "a", "b" wait for each other',
        related: ["/nodes/0"],
      },
    ]);
  });

  it("of one node are refused (B089)", () => {
    const problems = problemsOf(recipe([pure("c", 1, { after: ["c"] })]));
    expect(problems).toMatchObject([
      { code: "cycle", pointer: "/nodes/0", message: 'node "c" waits for itself' },
    ]);
  });

  it("of three nodes are refused beside a valid chain (B089)", () => {
    const problems = problemsOf(
      recipe([
        pure("x", 1, { after: ["z"] }),
        pure("y", 1, { after: ["x"] }),
        pure("z", 1, { after: ["y"] }),
        pure("one", 1),
        pure("two", { node: "one" }),
        pure("end", { node: "two" }, { after: ["two", "z"] }),
      ]),
    );
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["cycle", 'nodes "x", "y", "z" wait for each other'],
    ]);
  });

  it("are each reported, and type errors beside them too", () => {
    expect(
      codesOf(
        recipe([
          pure("a", 1, { after: ["a"] }),
          pure("b", 1, { after: ["b"] }),
          pure("c", { op: "not", value: 1 }),
          pure("end", 1, { after: ["a", "b", "c"] }),
        ]),
      ),
    ).toEqual(["cycle at /nodes/0", "cycle at /nodes/1", "type_mismatch at /nodes/2/step/value"]);
  });
});

describe("missing nodes", () => {
  it("are reported in all three forms at once, naming who refers to what (B090)", () => {
    const problems = problemsOf(
      recipe([pure("a", 1), pure("b", { node: "n9" }, { after: ["a", "n8"] })], {
        terminal: "gone",
      }),
    );
    expect(problems.map(({ code, pointer }) => [code, pointer])).toEqual([
      ["missing_node", "/nodes/1/after/1"],
      ["unknown_node", "/nodes/1/step/value"],
      ["missing_node", "/terminal"],
    ]);
    expect(problems[0]?.message).toBe('node "b" waits for "n8", which is not a node');
    expect(problems[1]?.message).toMatch(/^node "b": .*n9/);
    expect(problems[2]?.message).toBe('the terminal "gone" is not a node');
  });

  it("get the nearest id as a hint", () => {
    const [problem] = problemsOf(recipe([pure("total", 1), pure("end", 1, { after: ["totla"] })]));
    expect(problem).toMatchObject({ code: "missing_node", hint: "did you mean total?" });
  });
});

describe("nodes that lead nowhere", () => {
  it("are refused, checks above all (B091)", () => {
    const problems = problemsOf(
      recipe([pure("a", 1), pure("e", { node: "a" }), pure("end", { node: "e" }), verify("v")], {
        terminal: "end",
      }),
    );
    expect(problems).toMatchObject([
      {
        code: "unreachable_node",
        pointer: "/nodes/3",
        message: 'node "v" does not lead to the terminal "end"',
      },
    ]);
  });

  it("are not blamed for what stands in a part that could not be read", () => {
    expect(
      codesOf(
        recipe([
          pure("a", 1),
          pure("b", 2),
          pure("end", { op: "ad", left: { node: "a" }, right: { op: "node", id: "b" } }),
        ]),
      ),
    ).toEqual(["unknown_operator at /nodes/2/step/value"]);
  });
});

describe("repeated dependencies", () => {
  it("are one edge, with the digest of the recipe that has one (B092)", () => {
    const once = planOf(recipe([verify("v"), effect("e", { after: ["v"] })]));
    const twice = planOf(recipe([verify("v"), effect("e", { after: ["v", "v"] })]));
    expect(nodeOf(twice, "e").after).toEqual([0]);
    expect(twice.digest).toBe(once.digest);
    expect(twice.normal).toEqual(once.normal);
  });

  it("through expressions are one edge as well (B092)", () => {
    const plan = planOf(
      recipe([pure("a", 1), pure("end", { op: "add", left: { node: "a" }, right: { node: "a" } })]),
    );
    expect(nodeOf(plan, "end").after).toEqual([0]);
  });
});

describe("joins", () => {
  it("wait for every dependency: there is no way to say that one is enough (B093)", () => {
    const join = recipe([
      pure("p", 1),
      pure("r", 2),
      pure("end", 3, { after: ["p", "r"], any_of: ["p", "r"] }),
    ]);
    expect(codesOf(join)).toEqual(["unknown_key at /nodes/2/any_of"]);
    const plan = planOf(
      recipe([pure("p", 1), pure("r", 2), pure("end", 3, { after: ["r", "p"] })]),
    );
    expect(nodeOf(plan, "end").after).toEqual([0, 1]);
  });
});

describe("ids", () => {
  it("are unique in a recipe, so no reference can mean a sibling's output (B094)", () => {
    const problems = problemsOf(
      recipe([
        pure("load", { input: "price" }),
        pure("p", { node: "load" }),
        pure("load", { input: "quantity" }),
        pure("end", { op: "add", left: { node: "load" }, right: { node: "p" } }),
      ]),
    );
    expect(problems).toMatchObject([
      {
        code: "duplicate_node",
        pointer: "/nodes/2/id",
        message: 'there is already a node "load"',
        related: ["/nodes/0/id"],
      },
    ]);
  });
});

describe("after", () => {
  it("is exactly what is referred to when left out, wherever that stands", () => {
    const plan = planOf(
      recipe([
        pure("a", [1, 2]),
        pure("b", true),
        pure("c", 3),
        pure(
          "end",
          { op: "add", left: { item: "n" }, right: { node: "c" } },
          { when: { node: "b" }, each: { list: { node: "a" }, as: "n", limit: 5 } },
        ),
      ]),
    );
    expect(nodeOf(plan, "end").after).toEqual([0, 1, 2]);
  });

  it("must cover what is referred to, through any number of nodes", () => {
    const plan = planOf(
      recipe([
        pure("a", 1),
        pure("b", { node: "a" }),
        pure("c", { node: "b" }),
        pure("end", { node: "a" }, { after: ["c"] }),
      ]),
    );
    expect(nodeOf(plan, "end").after).toEqual([2]);
    expect(
      codesOf(
        recipe([
          pure("a", 1),
          pure("b", 2),
          pure("end", { node: "a" }, { after: ["b"] }),
          pure("last", 1, { after: ["a", "end"] }),
        ]),
      ),
    ).toEqual(["not_an_ancestor at /nodes/2/step/value"]);
  });
});

describe("order", () => {
  it("is topological, ties by id, whatever the order of the document", () => {
    const nodes = [
      pure("end", { op: "add", left: { node: "b" }, right: { node: "z" } }),
      pure("b", { node: "z" }),
      pure("z", 1),
      pure("a", { node: "b" }),
      pure("finish", 0, { after: ["end", "a"] }),
    ];
    const ids = (source: unknown) => planOf(source).nodes.map(({ id }) => id);
    const expected = ["z", "b", "a", "end", "finish"];
    expect(ids(recipe(nodes))).toEqual(expected);
    expect(ids(recipe(nodes.toReversed(), { terminal: "finish" }))).toEqual(expected);
  });
});

describe("large graphs", () => {
  it("compile as a chain of 100,000 nodes", () => {
    const nodes = Array.from({ length: 100_000 }, (_, index) =>
      pure(`n${index}`, index === 0 ? 1 : { op: "add", left: { node: `n${index - 1}` }, right: 1 }),
    );
    const compiled = compileRecipe(recipe(nodes));
    expect(compiled.ok && compiled.value.nodes.length).toBe(100_000);
  });

  it("have a limit", () => {
    const nodes = Array.from({ length: 100_001 }, (_, index) => pure(`n${index}`, 1));
    expect(problemsOf(recipe(nodes))).toContainEqual({
      code: "limit_exceeded",
      pointer: "/nodes",
      message: "at most 100000 elements",
    });
  });
});
