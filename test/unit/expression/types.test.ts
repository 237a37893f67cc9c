import { describe, expect, test } from "vitest";
import {
  fits,
  leastCommon,
  NOTHING,
  parseType,
  parseTypes,
  sameType,
  typeName,
  typeToJson,
} from "../../../src/expression/index.ts";
import type { Diagnostic } from "../../../src/model/diagnostic.ts";
import type { Type } from "../../../src/model/type.ts";
import { json, plain, typeOf } from "../../support/expressions.ts";

function typeProblems(source: unknown): readonly string[] {
  const problems: Diagnostic[] = [];
  parseType(json(source), new Map(), "/t", (problem) => problems.push(problem));
  return problems.map(({ code, pointer }) => `${code} ${pointer}`);
}

function named(types: unknown): { types: ReadonlyMap<string, Type>; problems: Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const parsed = parseTypes(json(types), "/types", (problem) => problems.push(problem));
  return { types: parsed, problems };
}

describe("types as written", () => {
  test.each([
    ["integer", "integer"],
    [{ enum: ["b", "a"] }, { enum: ["a", "b"] }],
    [
      { record: { b: "text", a: { list: "json" } } },
      { record: { a: { list: "json" }, b: "text" } },
    ],
    [{ record: {}, others: "refuse" }, { record: {} }],
    [
      { record: {}, others: "ignore" },
      { record: {}, others: "ignore" },
    ],
    [{ optional: { dictionary: "date" } }, { optional: { dictionary: "date" } }],
    [{ decimal: 0 }, { decimal: 0 }],
  ])("%j has the normal form %j", (source, form) => {
    expect(plain(typeToJson(typeOf(source)))).toEqual(form);
  });

  test.each([
    ["intger", ["unknown_type /t"]],
    [5, ["unknown_type /t"]],
    [null, ["unknown_type /t"]],
    [[], ["unknown_type /t"]],
    [{}, ["unknown_type /t"]],
    [{ lists: "text" }, ["unknown_type /t"]],
    [{ list: "text", record: {} }, ["unknown_type /t"]],
    [{ list: "text", of: 1 }, ["unknown_member /t"]],
    [{ list: "text", others: "ignore" }, ["unknown_member /t"]],
    [{ record: [] }, ["unknown_type /t"]],
    [{ record: {}, others: "drop" }, ["unknown_type /t"]],
    [{ enum: [] }, ["unknown_type /t"]],
    [{ enum: ["a", "a"] }, ["unknown_type /t"]],
    [{ enum: ["a", 1] }, ["unknown_type /t"]],
    [{ decimal: -1 }, ["unknown_type /t"]],
    [{ decimal: 31 }, ["unknown_type /t"]],
    [{ decimal: 1.5 }, ["unknown_type /t"]],
    [{ decimal: "2" }, ["unknown_type /t"]],
    [{ optional: { optional: "text" } }, ["nested_optional /t"]],
    [{ optional: "null" }, ["nested_optional /t"]],
    [
      { record: { a: "x", b: { list: "y" } } },
      ["unknown_type /t/record/a", "unknown_type /t/record/b/list"],
    ],
    [{ record: { "a/b": "x" } }, ["unknown_type /t/record/a~1b"]],
  ])("%j is refused: %j", (source, problems) => {
    expect(typeProblems(source)).toEqual(problems);
  });

  test("a misspelt type names the nearest one", () => {
    const problems: Diagnostic[] = [];
    const names = new Map([["invoice_line", typeOf("text")]]);
    for (const source of ["intger", "invoice_lines"]) {
      parseType(source, names, "", (problem) => problems.push(problem));
    }
    parseType(json({ lst: "text" }), names, "", (problem) => problems.push(problem));
    expect(problems.map(({ hint }) => hint)).toEqual([
      "did you mean integer?",
      "did you mean invoice_line?",
      "did you mean list?",
    ]);
  });
});

describe("named types", () => {
  test("refer to each other in any order", () => {
    const { types, problems } = named({
      order: { list: "line" },
      line: { record: { n: "integer" } },
    });
    expect(problems).toEqual([]);
    expect(plain(typeToJson(types.get("order") ?? NOTHING))).toEqual({
      list: { record: { n: "integer" } },
    });
  });

  test("a circle is refused and named, once", () => {
    const { types, problems } = named({
      a: { list: "b" },
      b: { optional: "c" },
      c: "a",
      d: "text",
    });
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["recursive_type", 'type "a" contains itself: a -> b -> c -> a'],
    ]);
    expect([...types.keys()]).toEqual(["d"]);
  });

  test("builtin names cannot be taken, odd names are refused", () => {
    const { problems } = named({ text: "integer", Line: "text", __proto: "text" });
    expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      "name_taken /types/text",
      "bad_name /types/Line",
      "bad_name /types/__proto",
    ]);
  });

  test("a broken type is reported where it stands, and not again by those that use it", () => {
    const { problems } = named({ a: { list: "nope" }, b: { list: "a" }, c: "a" });
    expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      "unknown_type /types/a/list",
    ]);
  });

  test("doubling and long chains of names are refused before they grow", () => {
    const doubling: Record<string, unknown> = { t0: "text" };
    for (let at = 1; at < 40; at += 1) {
      doubling[`t${at}`] = { record: { a: `t${at - 1}`, b: `t${at - 1}` } };
    }
    const codes = new Set(named(doubling).problems.map(({ code }) => code));
    expect([...codes]).toEqual(["limit_exceeded"]);
    const chain: Record<string, unknown> = { t0: "text" };
    for (let at = 1; at < 5000; at += 1) chain[`t${at}`] = { list: `t${at - 1}` };
    expect(named(chain).problems.some(({ code }) => code === "too_deep")).toBe(true);
    const reversed = Object.fromEntries(Object.entries(chain).reverse());
    expect(named(reversed).problems.some(({ code }) => code === "too_deep")).toBe(true);
  });

  test("names that nest deep, each below the limit, are refused without losing the stack", () => {
    const nest = (inner: unknown): unknown => {
      let type = inner;
      for (let level = 0; level < 46; level += 1) type = { list: type };
      return type;
    };
    const types: Record<string, unknown> = {};
    for (let at = 0; at < 100; at += 1) types[`t${at}`] = nest(at === 99 ? "text" : `t${at + 1}`);
    const found = new Set(named(types).problems.map(({ code }) => code));
    expect([...found]).toEqual(["too_deep"]);
  });

  test("types that are no object are reported", () => {
    expect(named([]).problems.map(({ code }) => code)).toEqual(["bad_shape"]);
  });
});

describe("what fits where", () => {
  const yes: readonly (readonly [unknown, unknown])[] = [
    ["integer", "integer"],
    ["integer", { optional: "integer" }],
    ["null", { optional: "integer" }],
    [{ optional: { enum: ["a"] } }, { optional: "text" }],
    [{ enum: ["a"] }, { enum: ["a", "b"] }],
    [{ enum: ["a"] }, "text"],
    [{ list: { enum: ["a"] } }, { list: "text" }],
    [{ dictionary: "integer" }, { dictionary: { optional: "integer" } }],
    [{ record: { a: "integer" } }, { record: { a: { optional: "integer" } } }],
    [{ record: { a: "integer" } }, { record: { a: "integer", b: { optional: "text" } } }],
    [{ list: { record: {} } }, { list: { record: { b: { optional: "text" } } } }],
  ];
  const no: readonly (readonly [unknown, unknown])[] = [
    [{ optional: "integer" }, "integer"],
    ["null", "integer"],
    ["text", { enum: ["a"] }],
    [{ enum: ["a", "c"] }, { enum: ["a", "b"] }],
    [{ record: { a: "integer", b: "text" } }, { record: { a: "integer" } }],
    [{ record: {} }, { record: { a: "integer" } }],
    ["text", "json"],
    ["json", "text"],
    ["json", { optional: "text" }],
    ["date", "text"],
    [{ record: {} }, { dictionary: "text" }],
  ];
  test.each(yes)("%j fits %j", (given, wanted) => {
    expect(fits(typeOf(given), typeOf(wanted))).toBe(true);
  });
  test.each(no)("%j does not fit %j", (given, wanted) => {
    expect(fits(typeOf(given), typeOf(wanted))).toBe(false);
  });
  test("nothing fits everything", () => {
    expect(fits(NOTHING, typeOf("json"))).toBe(true);
    expect(fits(NOTHING, typeOf({ record: { a: "text" } }))).toBe(true);
  });
});

describe("least common types", () => {
  test.each([
    ["integer", "null", { optional: "integer" }],
    [{ optional: "integer" }, "integer", { optional: "integer" }],
    [{ enum: ["a"] }, { enum: ["b"] }, { enum: ["a", "b"] }],
    [{ enum: ["a"] }, "text", "text"],
    [{ optional: { enum: ["a"] } }, "text", { optional: "text" }],
    [{ list: { enum: ["a"] } }, { list: "text" }, { list: "text" }],
    [
      { record: { a: "integer" } },
      { record: { a: "null", b: { optional: "text" } } },
      { record: { a: { optional: "integer" }, b: { optional: "text" } } },
    ],
    ["integer", "text", undefined],
    ["json", "integer", undefined],
    [{ record: { a: "integer" } }, { record: {} }, undefined],
    [{ list: "integer" }, { list: "text" }, undefined],
    ["date", "text", undefined],
  ])("%j and %j: %j", (left, right, common) => {
    for (const [one, other] of [
      [left, right],
      [right, left],
    ]) {
      const found = leastCommon(typeOf(one), typeOf(other));
      expect(found && plain(typeToJson(found))).toEqual(common);
      if (found === undefined) continue;
      expect(fits(typeOf(one), found) && fits(typeOf(other), found)).toBe(true);
    }
  });

  test("equal types written differently are the same", () => {
    expect(sameType(typeOf({ enum: ["b", "a"] }), typeOf({ enum: ["a", "b"] }))).toBe(true);
    expect(
      sameType(
        typeOf({ record: { a: "text", b: "date" } }),
        typeOf({ record: { b: "date", a: "text" } }),
      ),
    ).toBe(true);
    expect(sameType(typeOf({ optional: "text" }), typeOf("text"))).toBe(false);
  });

  test("names of types are words, cut where they grow long", () => {
    expect(typeName(typeOf({ list: { optional: "text" } }))).toBe("list of optional text");
    expect(typeName(typeOf({ enum: ["a", "b"] }))).toBe('enum "a" | "b"');
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, "text"]));
    expect(typeName(typeOf({ record: wide })).length).toBeLessThanOrEqual(120);
  });
});
