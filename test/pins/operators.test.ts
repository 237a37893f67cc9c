import { expect, it } from "vitest";
import { EVALUATION_LIMITS, EXPRESSION_LIMITS, TYPE_LIMITS } from "../../src/expression/index.ts";
import { EVALUATION_CODES, OPERATOR_NAMES, OPERATORS } from "../../src/model/operators.ts";

/**
 * The language that recipes are written in: whatever disappears or changes here breaks recipes, and with
 * them what was learned. A red test asks for a deliberate change, and for SEMANTICS_VERSION if a result changes.
 */
it("the operators and their members are these, in the order of evaluation; ? may be left out", () => {
  const members = OPERATOR_NAMES.map((name) => {
    const all = Object.entries(OPERATORS[name].members);
    return `${name}: ${all.map(([member, { required }]) => (required ? member : `${member}?`)).join(" ")}`;
  });
  expect(members.length).toBe(66);
  expect(members).toEqual([
    "literal: value type?",
    "input: name pointer?",
    "node: id pointer?",
    "item: name? pointer?",
    "index: name?",
    "let: name value in",
    "add: left right",
    "subtract: left right",
    "multiply: left right",
    "divide: left right rounding",
    "modulo: left right rounding",
    "power: base exponent",
    "absolute: value",
    "minimum: left right",
    "maximum: left right",
    "equal: left right",
    "not_equal: left right",
    "less: left right",
    "less_or_equal: left right",
    "greater: left right",
    "greater_or_equal: left right",
    "and: values",
    "or: values",
    "not: value",
    "if: condition then else?",
    "concat: values",
    "length: value",
    "lower: value",
    "trim: value",
    "split: value separator",
    "join: list separator?",
    "starts_with: value with",
    "ends_with: value with",
    "contains: in value",
    "slice: value from count?",
    "decode: value type else?",
    "to_text: value scale?",
    "to_json: value number?",
    "date_add: value months? days?",
    "days_between: from to",
    "seconds_between: from to",
    "month_end: value",
    "list: values",
    "record: fields",
    "get: value pointer? key? else?",
    "has: value pointer? key?",
    "default: value else",
    "merge: left right",
    "entries: value",
    "digest: value",
    "map: list as? value",
    "filter: list as? where",
    "fold: list as? into? from value type?",
    "all: list as? where empty",
    "any: list as? where",
    "sum: list as? value?",
    "count: list as? where?",
    "sort_by: list as? key order?",
    "group_by: list as? key",
    "distinct: list as? key?",
    "lookup: list as? where",
    "first: list",
    "last: list",
    "flatten: list",
    "range: from count",
    "zip: left right",
  ]);
});

it("evaluation fails with these codes", () => {
  expect(EVALUATION_CODES).toEqual([
    "missing",
    "decode_failed",
    "unknown_field",
    "ambiguous",
    "division_by_zero",
    "inexact",
    "out_of_range",
    "length_mismatch",
    "too_large",
    "out_of_fuel",
  ]);
});

it("limits are these", () => {
  expect(EXPRESSION_LIMITS).toEqual({ operators: 10_000, depth: 48 });
  expect(TYPE_LIMITS).toEqual({ depth: 48, parts: 10_000 });
  expect(EVALUATION_LIMITS).toEqual({
    integerBits: 8_192,
    textUnits: 1_048_576,
    elements: 100_000,
    nodes: 1_000_000,
    units: 16_777_216,
    fuel: 1_000_000,
  });
});
