import { describe, expect, it } from "vitest";
import { mutantsOf } from "../../../src/app/mutants.ts";
import type { Type } from "../../../src/model/type.ts";
import type { Value } from "../../../src/model/value.ts";

function told(type: Type, value: Value) {
  return [...mutantsOf(type, value)].map(({ pointer, change, build }) => [
    pointer,
    change,
    shown(build()),
  ]);
}

/** A value as JSON that a test can spell. */
function shown(value: Value): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return value.map((item: Value) => shown(item));
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [key, shown(item as Value)]));
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, shown(item as Value)]),
    );
  }
  return value;
}

const integer: Type = { kind: "integer" };
const text: Type = { kind: "text" };
const optional = (of: Type): Type => ({ kind: "optional", of });

describe("mutants of a result", () => {
  it.each<[string, Type, Value, unknown]>([
    [
      "an integer moves by one, both ways",
      integer,
      7n,
      [
        ["", "plus one", "8n"],
        ["", "minus one", "6n"],
      ],
    ],
    ["a boolean flips", { kind: "boolean" }, true, [["", "flipped", false]]],
    [
      "a text changes and empties",
      text,
      "a",
      [
        ["", "text changed", "ax"],
        ["", "text emptied", ""],
      ],
    ],
    ["an empty text can only change", text, "", [["", "text changed", "x"]]],
    [
      "an enum becomes each other text",
      { kind: "enum", values: ["a", "b", "c"] },
      "b",
      [
        ["", 'made "a"', "a"],
        ["", 'made "c"', "c"],
      ],
    ],
    [
      "a date moves by a day",
      { kind: "date" },
      "2024-02-29",
      [
        ["", "a day later", "2024-03-01"],
        ["", "a day earlier", "2024-02-28"],
      ],
    ],
    [
      "a date stays in the years there are",
      { kind: "date" },
      "0001-01-01",
      [["", "a day later", "0001-01-02"]],
    ],
    [
      "the last date has no later one",
      { kind: "date" },
      "9999-12-31",
      [["", "a day earlier", "9999-12-30"]],
    ],
    [
      "a timestamp moves by a second",
      { kind: "timestamp" },
      1000,
      [
        ["", "a second later", 2000],
        ["", "a second earlier", 0],
      ],
    ],
    [
      "an optional that is there is made null, and changes inside",
      optional(integer),
      1n,
      [
        ["", "made null", null],
        ["", "plus one", "2n"],
        ["", "minus one", "0n"],
      ],
    ],
    ["an optional that is absent is filled in", optional(text), null, [["", "filled in", ""]]],
    ["null has no other value", { kind: "null" }, null, []],
    ["an empty list has nothing to change", { kind: "list", of: integer }, [], []],
  ])("%s", (_, type, value, expected) => {
    expect(told(type, value)).toEqual(expected);
  });

  it("drops, repeats and swaps elements of a list, and changes each", () => {
    expect(told({ kind: "list", of: integer }, [1n, 2n])).toEqual([
      ["/0", "dropped", ["2n"]],
      ["/0", "repeated", ["1n", "1n", "2n"]],
      ["/0", "swapped with the next", ["2n", "1n"]],
      ["/0", "plus one", ["2n", "2n"]],
      ["/0", "minus one", ["0n", "2n"]],
      ["/1", "dropped", ["1n"]],
      ["/1", "repeated", ["1n", "2n", "2n"]],
      ["/1", "plus one", ["1n", "3n"]],
      ["/1", "minus one", ["1n", "1n"]],
    ]);
  });

  it("never swaps equal neighbours, which would change nothing", () => {
    const changes = told({ kind: "list", of: integer }, [1n, 1n]).map(([, change]) => change);
    expect(changes).not.toContain("swapped with the next");
  });

  it("changes one field of a record at a time and keeps the others", () => {
    const type: Type = {
      kind: "record",
      fields: new Map<string, Type>([
        ["a/b", integer],
        ["note", optional(text)],
      ]),
      others: "refuse",
    };
    expect(told(type, { "a/b": 1n, note: null })).toEqual([
      ["/a~1b", "plus one", { "a/b": "2n", note: null }],
      ["/a~1b", "minus one", { "a/b": "0n", note: null }],
      ["/note", "filled in", { "a/b": "1n", note: "" }],
    ]);
  });

  it("drops members of a dictionary and changes their values", () => {
    expect(told({ kind: "dictionary", of: { kind: "boolean" } }, new Map([["k", true]]))).toEqual([
      ["/k", "dropped", {}],
      ["/k", "flipped", { k: false }],
    ]);
  });

  it("changes json by what it is", () => {
    expect(told({ kind: "json" }, { a: [1.5], b: null })).toEqual([
      ["/a", "dropped", { b: null }],
      ["/a/0", "dropped", { a: [], b: null }],
      ["/a/0", "repeated", { a: [1.5, 1.5], b: null }],
      ["/a/0", "plus one", { a: [2.5], b: null }],
      ["/a/0", "minus one", { a: [0.5], b: null }],
      ["/b", "dropped", { a: [1.5] }],
      ["/b", "filled in", { a: [1.5], b: true }],
    ]);
  });

  it("leaves the original as it was", () => {
    const original = Object.freeze([1n, 2n]);
    for (const mutant of mutantsOf({ kind: "list", of: integer }, original)) mutant.build();
    expect(original).toEqual([1n, 2n]);
  });
});
