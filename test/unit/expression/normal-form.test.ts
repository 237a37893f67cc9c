import { describe, expect, test } from "vitest";
import { canonicalText } from "../../../src/base/canonical.ts";
import { parseExpression, parseTypes } from "../../../src/expression/index.ts";
import { json, plain } from "../../support/expressions.ts";

function normal(source: unknown, types: unknown = {}): unknown {
  const report = (): void => {
    throw new Error("no problem was expected");
  };
  const names = parseTypes(json(types), "/types", report);
  const parsed = parseExpression(json(source), "", names, report);
  return parsed && plain(parsed.normal);
}

const item = (name: string) => ({ op: "item", name });

describe("short forms become long forms", () => {
  test.each<[unknown, unknown]>([
    ["a", { op: "literal", value: "a" }],
    ["/not/a/pointer", { op: "literal", value: "/not/a/pointer" }],
    [5, { op: "literal", value: 5 }],
    [-0, { op: "literal", value: 0 }],
    [true, { op: "literal", value: true }],
    [null, { op: "literal", value: null }],
    [
      [1, []],
      {
        op: "list",
        values: [
          { op: "literal", value: 1 },
          { op: "list", values: [] },
        ],
      },
    ],
    [{ input: "quantity" }, { op: "input", name: "quantity" }],
    [{ input: "context/result/0" }, { op: "input", name: "context", pointer: "/result/0" }],
    [{ input: "a/b~1c" }, { op: "input", name: "a", pointer: "/b~1c" }],
    [{ node: "order/id" }, { op: "node", id: "order", pointer: "/id" }],
    [{ item: "line/quantity" }, { op: "item", name: "line", pointer: "/quantity" }],
    [{ item: "item" }, { op: "item" }],
    [{ index: "line" }, { op: "index", name: "line" }],
    [{ index: "item" }, { op: "index" }],
  ])("%j", (short, long) => {
    expect(normal(short)).toEqual(long);
    expect(normal(long)).toEqual(long);
  });
});

describe("defaults are left out", () => {
  const list = { op: "list", values: [] };
  test.each<[unknown, unknown]>([
    [
      { op: "input", name: "a", pointer: "" },
      { op: "input", name: "a" },
    ],
    [
      { op: "map", list: [], as: "item", value: 1 },
      { op: "map", list, value: { op: "literal", value: 1 } },
    ],
    [
      { op: "fold", list: [], as: "item", into: "total", from: 0, value: 0 },
      { op: "fold", list, from: { op: "literal", value: 0 }, value: { op: "literal", value: 0 } },
    ],
    [
      { op: "sum", list: [], value: { item: "item" } },
      { op: "sum", list },
    ],
    [
      { op: "sum", list: [], as: "x", value: { item: "x" } },
      { op: "sum", list, as: "x" },
    ],
    [
      { op: "distinct", list: [], key: { op: "item" } },
      { op: "distinct", list },
    ],
    [
      { op: "sort_by", list: [], key: { op: "item" }, order: "ascending" },
      { op: "sort_by", list, key: { op: "item" } },
    ],
    [
      { op: "join", list: [], separator: "" },
      { op: "join", list },
    ],
    [
      { op: "to_text", value: 1, scale: 0 },
      { op: "to_text", value: { op: "literal", value: 1 } },
    ],
    [
      { op: "if", condition: true, then: 1, else: null },
      { op: "if", condition: { op: "literal", value: true }, then: { op: "literal", value: 1 } },
    ],
    [
      { op: "date_add", value: { input: "d" }, months: 0, days: 0 },
      { op: "date_add", value: { op: "input", name: "d" } },
    ],
  ])("%j", (written, form) => {
    expect(normal(written)).toEqual(form);
  });

  test.each<unknown>([
    { op: "sum", list, as: "x", value: { op: "item", name: "y" } },
    { op: "sum", list, value: { op: "item", pointer: "/a" } },
    { op: "to_json", value: { op: "literal", value: 1 }, number: 0 },
    { op: "get", value: { op: "input", name: "a" }, pointer: "" },
    { op: "all", list, where: { op: "literal", value: true }, empty: false },
    {
      op: "slice",
      value: list,
      from: { op: "literal", value: 0 },
      count: { op: "literal", value: 0 },
    },
  ])("%j is no default and stays", (form) => {
    expect(normal(form)).toEqual(form);
  });
});

test("names of types are resolved, enum texts sorted", () => {
  const types = { line: { record: { n: "integer" } }, kind: { enum: ["b", "a"] } };
  const decode = (type: unknown) => normal({ op: "decode", value: { input: "x" }, type }, types);
  expect(decode({ list: "line" })).toEqual({
    op: "decode",
    value: { op: "input", name: "x" },
    type: { list: { record: { n: "integer" } } },
  });
  expect(decode("kind")).toEqual(decode({ enum: ["a", "b"] }));
});

test("what is referred to is listed once, in text order, wherever it stands", () => {
  const source = [
    { input: "b" },
    { op: "add", left: { input: "a/x" }, right: { node: "n" } },
    { input: "b/y" },
  ];
  const parsed = parseExpression(source, "", new Map(), () => undefined);
  expect(parsed).toMatchObject({ inputs: ["a", "b"], nodes: ["n"] });
  const broken = parseExpression(
    [{ op: "add", left: { node: "n" } }],
    "",
    new Map(),
    () => undefined,
  );
  expect(broken?.nodes).toEqual(["n"]);
});

test("data keys that look like members of objects stay data (B101)", () => {
  const value = JSON.parse('{"__proto__": {"admin": true}}');
  const parsed = parseExpression(json({ op: "literal", value }), "", new Map(), () => undefined);
  expect(canonicalText(parsed?.normal ?? null)).toBe(
    '{"op":"literal","value":{"__proto__":{"admin":true}}}',
  );
  expect(item("a")).toEqual({ op: "item", name: "a" });
  expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
});
