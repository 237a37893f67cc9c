import { describe, expect, test } from "vitest";
import { parseExpression } from "../../../src/expression/index.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import { check, codes, failed, literal, result } from "../../support/expressions.ts";

const around = {
  inputs: { quantity: ["integer"], price: ["integer"], order: [{ record: { id: "text" } }] },
  nodes: { lines: [{ list: { record: { amount: "integer" } } }] },
  others: ["later"],
} as const;

describe("every problem has a code at the operator it belongs to", () => {
  test.each<[unknown, readonly string[]]>([
    [{ op: "multipy", left: 1, right: 2 }, ["unknown_operator"]],
    [{ op: "__proto__" }, ["unknown_operator"]],
    [{ op: "constructor" }, ["unknown_operator"]],
    [{ op: "toString" }, ["unknown_operator"]],
    [{ op: 5 }, ["bad_member"]],
    [{}, ["missing_member"]],
    [{ left: 1, right: 2 }, ["missing_member"]],
    [{ op: "add", left: 1 }, ["missing_member"]],
    [{ op: "add" }, ["missing_member", "missing_member"]],
    [{ op: "add", left: 1, right: 2, rihgt: 3 }, ["unknown_member"]],
    [{ op: "not", value: true, op2: 1, x: 2 }, ["unknown_member", "unknown_member"]],
    [{ input: "quantity", pointer: "" }, ["unknown_member"]],
    [{ input: 5 }, ["bad_member"]],
    [{ input: "qantity" }, ["unknown_input"]],
    [{ input: "__proto__" }, ["unknown_input"]],
    [{ node: "lins" }, ["unknown_node"]],
    [{ node: "constructor" }, ["unknown_node"]],
    [{ node: "later" }, ["not_an_ancestor"]],
    [{ item: "row" }, ["unknown_item"]],
    [{ op: "item" }, ["unknown_item"]],
    [{ index: "row" }, ["unknown_item"]],
    [{ op: "index" }, ["unknown_item"]],
    [{ input: "order/idd" }, ["unknown_field"]],
    [{ op: "input", name: "order", pointer: "id" }, ["bad_pointer"]],
    [{ op: "input", name: "order", pointer: 5 }, ["bad_pointer"]],
    [{ op: "input", name: ["order"] }, ["bad_member"]],
    [1.5, ["bad_literal"]],
    [9007199254740992, ["bad_literal"]],
    [literal("x", "integer"), ["bad_literal"]],
    [literal({ a: 1, b: 2 }, { record: { a: "integer" } }), ["bad_literal"]],
    [{ op: "literal", value: 1.5 }, ["bad_literal"]],
    [{ op: "literal", value: [1, "a"] }, ["bad_literal"]],
    [literal(1, "intger"), ["unknown_type"]],
    [literal(1, { optional: { optional: "integer" } }), ["nested_optional"]],
    [literal(null, { list: "x" }), ["unknown_type"]],
    [{ op: "list", values: { a: 1 } }, ["bad_member"]],
    [{ op: "record", fields: [1] }, ["bad_member"]],
    [{ op: "map", list: [1], as: "Row", value: 1 }, ["bad_member"]],
    [{ op: "map", list: [1], as: "__proto__", value: 1 }, ["bad_member"]],
    [{ op: "let", name: "", value: 1, in: 1 }, ["bad_member"]],
    [{ op: "let", name: 5, value: 1, in: 1 }, ["bad_member"]],
  ])("%j: %j", (expression, expected) => {
    expect(codes(expression, around)).toEqual(expected);
    const within = [true, expression];
    expect(codes(within, around).map((line) => line.split(" "))).toEqual(
      expected.map((code) => [code, "/1"]),
    );
  });

  test("pointers are those of the document as written, short forms included", () => {
    const expression = {
      op: "and",
      values: [
        {
          op: "equal",
          left: { input: "x" },
          right: [{ input: "y" }, { op: "record", fields: { "a/b": { input: "z" } } }],
        },
        { op: "any", list: [[1, { item: "w" }]], where: true },
      ],
    };
    expect(codes(expression)).toEqual([
      "unknown_input /values/0/left",
      "unknown_input /values/0/right/0",
      "unknown_input /values/0/right/1/fields/a~1b",
      "unknown_item /values/1/list/0/1",
    ]);
  });

  test("a type inside an expression is reported at its operator, with the place in words", () => {
    const { problems } = check([literal(1, { record: { a: { list: "x" } } })]);
    expect(problems).toMatchObject([{ code: "unknown_type", pointer: "/0" }]);
    expect(problems[0]?.message).toContain("/record/a/list");
  });
});

describe("all problems at once, each once", () => {
  test("an operand in error causes no second report", () => {
    const sum = {
      op: "add",
      left: { input: "nope" },
      right: { op: "multiply", left: "a", right: 1 },
    };
    expect(codes({ op: "equal", left: sum, right: { op: "not", value: 1 } })).toEqual([
      "unknown_input /left/left",
      "type_mismatch /left/right",
      "type_mismatch /right",
    ]);
  });

  test("problems of form and of type are reported together", () => {
    const expression = [
      { op: "ad", left: 1, right: 2 },
      { op: "add", left: 1, right: true },
      { op: "add", left: { input: "nope" } },
      { op: "join", list: { input: "nope" }, sep: "," },
    ];
    expect(codes(expression)).toEqual([
      "unknown_operator /0",
      "missing_member /2",
      "unknown_member /3",
      "type_mismatch /1",
      "unknown_input /2/left",
      "unknown_input /3/list",
    ]);
  });

  test("a node with problems of its own is not reported again by its readers", () => {
    const problems: Diagnostic[] = [];
    const parsed = parseExpression(["x"], "", new Map(), (problem) => problems.push(problem));
    expect(parsed?.tree.kind).toBe("operator");
    expect(problems).toEqual([]);
  });

  test("a list that is no list does not hide problems elsewhere", () => {
    expect(codes([{ op: "map", list: 1, value: { input: "a" } }, { input: "b" }])).toEqual([
      "type_mismatch /0",
      "unknown_input /1",
    ]);
  });
});

describe("hints", () => {
  test.each<[unknown, string]>([
    [{ op: "multipy", left: 1, right: 2 }, "did you mean multiply?"],
    [{ op: "add", left: 1, right: 1, rihgt: 1 }, "did you mean right?"],
    [{ input: "qantity" }, "did you mean quantity?"],
    [{ node: "lins" }, "did you mean lines?"],
    [{ input: "order/idd" }, "did you mean id?"],
    [{ op: "map", list: [1], as: "row", value: { item: "rwo" } }, "did you mean row?"],
    [{ op: "map", list: [1], as: "row", value: { item: "xyz" } }, "named here: row"],
    [{ inptu: "a" }, 'did you mean {"input": ..}?'],
    [{ op: "divide", left: 1, right: 1, rounding: "half-even" }, "did you mean half_even?"],
    [literal(1, "intger"), "did you mean integer?"],
    [
      { op: "multiply", left: 1, right: "2" },
      "decode reads an integer from text; a number literal stands without quotes",
    ],
    [
      { op: "add", left: 1, right: { op: "first", list: [1] } },
      "say with get or default what its absence means",
    ],
    [{ op: "equal", left: "paid", right: "payed" }, "is a word misspelt?"],
    [1.5, 'write a decimal as {"op": "literal", "value": "12.50", "type": {"decimal": 2}}'],
  ])("%j: %s", (expression, hint) => {
    expect(check(expression, around).problems.map((problem) => problem.hint)).toEqual([hint]);
  });

  test("a long name is cut in messages", () => {
    const [problem] = check({ op: "x".repeat(100_000) }).problems;
    expect(problem?.message.length).toBeLessThan(120);
  });
});

describe("names in scope", () => {
  test("a name cannot be taken twice, so nested lists say as", () => {
    const nested = { op: "map", list: [[1]], value: { op: "sum", list: { op: "item" } } };
    expect(codes(nested)).toEqual(["name_taken /value"]);
    const said = { op: "map", list: [[1]], as: "row", value: { op: "sum", list: { item: "row" } } };
    expect(codes(said)).toEqual([]);
    const letIn = {
      op: "let",
      name: "x",
      value: 1,
      in: { op: "let", name: "x", value: 2, in: { item: "x" } },
    };
    expect(codes(letIn)).toEqual(["name_taken /in"]);
    const fold = { op: "fold", list: [1], as: "x", into: "x", from: 0, value: 1 };
    expect(codes(fold)).toEqual(["name_taken"]);
  });

  test("side by side a name can be used again, and a list is outside of what it names", () => {
    const twice = [
      { op: "sum", list: [1], value: { op: "item" } },
      { op: "sum", list: [2], value: { op: "item" } },
    ];
    expect(codes(twice)).toEqual([]);
    const own = {
      op: "map",
      list: { op: "filter", list: [1], where: true },
      value: { op: "item" },
    };
    expect(codes(own)).toEqual([]);
    expect(codes({ op: "map", list: [{ op: "item" }], value: 1 })).toEqual([
      "unknown_item /list/0",
    ]);
    expect(codes({ op: "let", name: "x", value: { item: "x" }, in: 1 })).toEqual([
      "unknown_item /value",
    ]);
    expect(codes({ op: "fold", list: [1], from: { op: "item" }, value: 1 })).toEqual([
      "unknown_item /from",
    ]);
  });

  test("the element of a node's each is in scope, with its position, and its name is taken", () => {
    const each = {
      item: { name: "line", type: { record: { n: "integer" } }, value: { n: 5 }, index: 3 },
    };
    expect(codes([{ item: "line/n" }, { index: "line" }], each)).toEqual([]);
    expect(codes({ op: "map", list: [1], as: "line", value: 1 }, each)).toEqual(["name_taken"]);
    expect(result([{ item: "line/n" }, { index: "line" }], each)).toEqual(["5", "3"]);
    const failure = failed({ op: "divide", left: 1, right: 0, rounding: "floor" }, each);
    expect(failure.positions).toEqual(["line[3]"]);
  });
});
