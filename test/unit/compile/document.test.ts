import { describe, expect, it } from "vitest";
import { compileRecipe } from "../../../src/compile/index.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { codesOf, ENVIRONMENT, planOf, problemsOf, pure, recipe } from "../../support/compiling.ts";

const GOOD = recipe([pure("a", 1)]);

function without(key: string) {
  const { [key]: _, ...rest } = GOOD;
  return rest;
}

describe("a recipe", () => {
  it("is the same as text, as bytes and as a value", () => {
    const text = JSON.stringify(GOOD);
    const digest = planOf(GOOD).digest;
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(planOf(text).digest).toBe(digest);
    expect(planOf(new TextEncoder().encode(text)).digest).toBe(digest);
  });

  it("without environment is an unbound plan, which has no digest", () => {
    const plan = planOf(without("environment"));
    expect(plan.digest).toBeNull();
    expect(plan.environment).toBeNull();
    expect(plan.normal).not.toHaveProperty("environment");
  });

  it("is an object", () => {
    for (const source of ["[]", "null", "3", '"text"']) {
      expect(problemsOf(source)).toMatchObject([{ code: "bad_shape", pointer: "" }]);
    }
    for (const source of [null, 3, [], undefined, () => 1, new Map(), Number.NaN]) {
      expect(problemsOf(source).length).toBe(1);
    }
  });

  it.each(["version", "id", "inputs", "terminal", "nodes"])("has the member %s", (key) => {
    expect(problemsOf(without(key))).toEqual([
      { code: "missing_key", pointer: "", message: `member "${key}" is missing` },
    ]);
  });

  it("of another version is refused as such", () => {
    expect(problemsOf({ ...GOOD, version: 2 })).toEqual([
      { code: "unsupported_version", pointer: "/version", message: "expected 1, got 2" },
    ]);
  });

  it("has no unknown members; the nearest known one is named", () => {
    const typo = recipe([{ id: "a", stpe: 1, step: { kind: "pure", valeu: 1, value: 1 } }], {
      titel: "x",
      limits: { max_step: 1 },
      environment: { ...ENVIRONMENT, tool: "x" },
    });
    expect(problemsOf(typo).map(({ code, pointer, hint }) => [code, pointer, hint])).toEqual([
      ["unknown_key", "/environment/tool", "did you mean tools?"],
      ["unknown_key", "/limits/max_step", "did you mean max_steps?"],
      ["unknown_key", "/nodes/0/step/valeu", "did you mean value?"],
      ["unknown_key", "/nodes/0/stpe", "did you mean step?"],
      ["unknown_key", "/titel", "did you mean title?"],
    ]);
  });

  it("with members of the wrong type says what was expected", () => {
    const wrong = {
      ...recipe([{ id: "a", after: "b", step: { kind: "pure", value: 1 } }]),
      title: 3,
      inputs: [],
      limits: { max_steps: 1.5 },
    };
    const { limits: _, ...rest } = wrong;
    expect(problemsOf(rest).map(({ pointer, message }) => [pointer, message])).toEqual([
      ["/inputs", "expected an object, got a list"],
      ["/nodes/0/after", "expected a list, got text"],
      ["/title", "expected text, got a number"],
    ]);
  });

  it("names the nearest kind of step", () => {
    expect(problemsOf(recipe([{ id: "a", step: { kind: "pur", value: 1 } }]))).toEqual([
      {
        code: "bad_shape",
        pointer: "/nodes/0/step/kind",
        message: 'no step kind "pur"',
        hint: "did you mean pure?",
      },
    ]);
    expect(codesOf(recipe([{ id: "a", step: { value: 1 } }]))).toEqual([
      "missing_key at /nodes/0/step",
    ]);
  });

  it("has environment digests of 64 hexadecimal digits", () => {
    expect(codesOf({ ...GOOD, environment: { ...ENVIRONMENT, policy: "A".repeat(64) } })).toEqual([
      "bad_shape at /environment/policy",
    ]);
    expect(
      planOf({ ...GOOD, environment: { ...ENVIRONMENT, host_configuration: "a".repeat(64) } })
        .environment?.host_configuration,
    ).toBe("a".repeat(64));
  });
});

describe("names", () => {
  it.each(["__proto__", "hasOwnProperty", "A", "-a", "a b", "", "a/b", "x".repeat(65)])(
    "refuse %j as the id of a node (B101)",
    (id) => {
      const text = JSON.stringify(recipe([pure("a", 1), { ...pure("a", 1), id }]));
      const codes = codesOf(text);
      expect(codes).toContain("bad_name at /nodes/1/id");
    },
  );

  it("take constructor and valueof as plain names (B101)", () => {
    const plan = planOf(
      recipe(
        [
          pure("constructor", { input: "constructor" }),
          pure("valueof", {
            op: "add",
            left: { node: "constructor" },
            right: { input: "constructor" },
          }),
        ],
        { inputs: { constructor: "integer" } },
      ),
    );
    expect(plan.nodes.map(({ id, after }) => [id, after])).toEqual([
      ["constructor", []],
      ["valueof", [0]],
    ]);
  });

  it("do not find what every object inherits (B101)", () => {
    expect(
      codesOf(
        recipe([
          pure("a", { input: "constructor" }),
          pure("b", { node: "constructor" }),
          pure("c", { input: "price/constructor" }),
          pure("end", 1, { after: ["a", "b", "c"] }),
        ]),
      ),
    ).toEqual([
      "unknown_input at /nodes/0/step/value",
      "unknown_node at /nodes/1/step/value",
      "unknown_field at /nodes/2/step/value",
    ]);
  });

  it.each(["inputs", "types"])(
    "refuse __proto__ in %s, and leave Object.prototype alone (B101)",
    (key) => {
      const text = JSON.stringify({ ...GOOD, [key]: { p: "integer" } }).replace(
        '"p":',
        '"__proto__":',
      );
      expect(codesOf(text)).toContain(`bad_name at /${key}/__proto__`);
      expect(codesOf(JSON.parse(text))).toContain(`bad_name at /${key}/__proto__`);
      expect(({} as { p?: unknown }).p).toBeUndefined();
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );

  it("refuse __proto__ as a member anywhere (B101)", () => {
    const text = JSON.stringify(recipe([pure("a", 1, { x: 1 })])).replace(
      '"x":1',
      '"__proto__":{"admin":true}',
    );
    expect(codesOf(text)).toEqual(["unknown_key at /nodes/0/__proto__"]);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });
});

describe("the text of a recipe", () => {
  it("gives every problem its line, column and excerpt", () => {
    const text = [
      "{",
      '  "version": 1, "id": "x",',
      '  "nodes": [{"id": "a", "step": 5}],',
      '  "inputs": {}, "terminal": "a"',
      "}",
    ].join("\n");
    expect(problemsOf(text)).toEqual([
      {
        code: "bad_shape",
        pointer: "/nodes/0/step",
        message: "expected an object, got a number",
        line: 3,
        column: 33,
        excerpt: '  "nodes": [{"id": "a", "step": 5}],',
        caret: 32,
      },
    ]);
  });

  it("cut short is one problem at its end", () => {
    expect(problemsOf('{"version": 1, "id": ')).toMatchObject([
      { code: "bad_json", line: 1, column: 22 },
    ]);
  });

  it("with a member twice is refused with the pointer of the repeated one (B086)", () => {
    const text = '{"version": 1, "id": "x", "nodes": [], "nodes": []}';
    expect(problemsOf(text)).toMatchObject([{ code: "duplicate_key", pointer: "/nodes", line: 1 }]);
    const inner =
      '{"nodes": [{"id": "a", "step": {"kind": "pure", "value": 1, "v\\u0061lue": 2}}]}';
    expect(problemsOf(inner)).toMatchObject([
      { code: "duplicate_key", pointer: "/nodes/0/step/value" },
    ]);
  });

  it("nested 100,000 deep is refused, not followed (B102)", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(problemsOf(deep)).toMatchObject([{ code: "document_too_deep" }]);
    const inside = JSON.stringify(recipe([pure("a", "DEEP")])).replace('"DEEP"', deep);
    expect(problemsOf(inside)).toMatchObject([{ code: "document_too_deep" }]);
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) value = [value];
    expect(problemsOf(value)).toMatchObject([{ code: "document_too_deep" }]);
  });

  it("with a chain of products is refused by depth, not computed (B102)", () => {
    let product: object = { op: "multiply", left: { input: "price" }, right: { input: "price" } };
    for (let level = 0; level < 60; level += 1) {
      product = { op: "multiply", left: product, right: { input: "price" } };
    }
    const [problem] = problemsOf(JSON.stringify(recipe([pure("a", product as never)])));
    expect(["too_deep", "document_too_deep"]).toContain(problem?.code);
  });

  it("over the limit of bytes is refused before it is read", () => {
    const large = new Uint8Array(50_000_000).fill(0x7b);
    expect(problemsOf(large)).toMatchObject([{ code: "document_too_large" }]);
    const lowered = compileRecipe(JSON.stringify(GOOD), { maxBytes: 100 });
    expect(lowered.ok ? [] : lowered.error).toMatchObject([{ code: "document_too_large" }]);
    const raised = compileRecipe(large, { maxBytes: 100_000_000 });
    expect(raised.ok ? [] : raised.error).toMatchObject([{ code: "document_too_large" }]);
  });

  it("is not normalised: two spellings of one accent are two recipes (B085)", () => {
    const one = planOf(recipe([pure("a", "\u00e9")]));
    const two = planOf(recipe([pure("a", "e\u0301")]));
    expect(one.digest).not.toBe(two.digest);
    const fields = (names: readonly string[]) =>
      JSON.stringify(
        planOf(
          recipe([
            pure("a", { op: "record", fields: Object.fromEntries(names.map((n) => [n, 1])) }),
          ]),
        ).digest,
      );
    expect(fields(["\ufb33", "\u{1f600}"])).toBe(fields(["\u{1f600}", "\ufb33"]));
  });

  it("with a lone surrogate or a number that is no safe integer is refused (B085)", () => {
    const text = JSON.stringify(recipe([pure("a", "HERE")]));
    expect(problemsOf(text.replace("HERE", "\\ud800"))).toMatchObject([{ code: "bad_encoding" }]);
    for (const number of ["9007199254740993", "-0", "1.5", "1e400", "1E2"]) {
      expect(problemsOf(text.replace('"HERE"', number))).toMatchObject([{ code: "bad_number" }]);
    }
  });

  it("keeps absent and null apart (B084)", () => {
    expect(problemsOf({ ...GOOD, title: undefined })).toMatchObject([{ code: "bad_json" }]);
    expect(codesOf({ ...GOOD, title: null })).toEqual(["bad_shape at /title"]);
    expect(codesOf(recipe([pure("a", 1, { when: null })]))).toEqual([
      "type_mismatch at /nodes/0/when",
    ]);
    const reloaded = planOf(JSON.stringify(planOf(GOOD).normal));
    expect(reloaded.digest).toBe(planOf(GOOD).digest);
  });
});

describe("an expression", () => {
  it("of a million operators is one problem", () => {
    const value = new Array(1_000_000).fill(1);
    expect(codesOf(JSON.stringify(recipe([pure("a", value)])))).toEqual([
      "too_many_operators at /nodes/0/step/value/9999",
    ]);
  });
});

describe("a name of a type", () => {
  it("that cannot be one is one problem", () => {
    expect(codesOf({ ...GOOD, types: { A: "integer" } })).toEqual(["bad_name at /types/A"]);
  });
});

describe("diagnostics", () => {
  it("come in the order of the document's nodes, ten after two", () => {
    const nodes = Array.from({ length: 12 }, (_, index) => pure(`n${index}`, { op: "nope" }));
    const places = problemsOf(recipe(nodes))
      .filter(({ code }) => code === "unknown_operator")
      .map(({ pointer }) => pointer);
    expect(places).toEqual(nodes.map((_, index) => `/nodes/${index}/step/value`));
  });

  it("are cut at a thousand, and say how many are left out", () => {
    const nodes = Array.from({ length: 1_500 }, (_, index) => pure(`n${index}`, { op: "nope" }));
    const problems = problemsOf(recipe(nodes));
    expect(problems.length).toBe(1_001);
    expect(problems.at(-1)).toEqual({
      code: "too_many_problems",
      pointer: "",
      message: "1999 more problems are not listed",
    } satisfies Diagnostic);
  });

  it("in their millions are not waited for", () => {
    const bad = Array.from({ length: 150_000 }, () => "A");
    expect(codesOf(recipe([pure("a", 1, { after: bad })]))).toEqual([
      "limit_exceeded at /nodes/0/after",
    ]);
    const inputs = Object.fromEntries(bad.map((name, index) => [`${name}${index}`, 1]));
    expect(codesOf(recipe([pure("a", 1)], { inputs }))).toEqual(["limit_exceeded at /inputs"]);
    const expression = Array.from({ length: 9_000 }, () => ({ op: "nope" }));
    const nodes = Array.from({ length: 100 }, (_, index) => pure(`n${index}`, expression));
    expect(problemsOf(recipe(nodes)).at(-1)?.message).toBe("17000 more problems are not listed");
  });
});
