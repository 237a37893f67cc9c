/** Operators on scalars, and references: the first part of the table in operators.ts. */
import {
  fixed,
  free,
  lazy,
  type OperatorSpec,
  operand,
  optional,
  POINTER,
} from "./operator-spec.ts";

const integers = (notes: string): OperatorSpec => ({
  family: "arithmetic",
  members: { left: operand("integer"), right: operand("integer") },
  result: "integer",
  notes,
});
const rounded = (notes: string): OperatorSpec => ({
  family: "arithmetic",
  members: {
    left: operand("integer"),
    right: operand("integer"),
    rounding: fixed("rounding", "rounding"),
  },
  result: "integer",
  notes,
});
const choice = (notes: string): OperatorSpec => ({
  family: "arithmetic",
  members: { left: operand("ordered T"), right: operand("ordered T") },
  result: "T",
  notes,
});
const comparison = (of: string, notes: string): OperatorSpec => ({
  family: "comparison",
  members: { left: operand(of), right: operand(of) },
  result: "boolean",
  notes,
});
const junction = (notes: string): OperatorSpec => ({
  family: "logic",
  members: { values: { kind: "expressions", of: "boolean", required: true } },
  result: "boolean",
  notes,
});
const textTest = (notes: string): OperatorSpec => ({
  family: "text",
  members: { value: operand("text"), with: operand("text") },
  result: "boolean",
  notes,
});
const textToText = (notes: string): OperatorSpec => ({
  family: "text",
  members: { value: operand("text") },
  result: "text",
  notes,
});
export const SCALAR_OPERATORS = {
  literal: {
    family: "references",
    members: { value: { kind: "value", of: "JSON", required: true }, type: free("type", "type") },
    result: "its type",
    notes:
      "Without `type`: text is the enum of that one text, a safe integer is an integer, an object a record. Read once, at compile time (`bad_literal`).",
  },
  input: {
    family: "references",
    members: { name: fixed("name", "input"), pointer: POINTER },
    result: "T",
    notes: "`missing`",
  },
  node: {
    family: "references",
    members: { id: fixed("name", "node"), pointer: POINTER },
    result: "T",
    notes: "`missing`",
  },
  item: {
    family: "references",
    members: { name: fixed("name", "item", "item"), pointer: POINTER },
    result: "T",
    notes: "`missing`",
  },
  index: {
    family: "references",
    members: { name: fixed("name", "item", "item") },
    result: "integer",
    notes: "From 0. Not for the names of `let` and `into`.",
  },
  let: {
    family: "references",
    members: { name: fixed("binding", "name"), value: operand("T"), in: operand("U") },
    result: "U",
    notes: "`value` is evaluated once, also when `in` does not use it.",
  },

  add: integers(""),
  subtract: integers(""),
  multiply: integers("Size is checked before multiplying."),
  divide: rounded("`division_by_zero`; `inexact` when `exact` leaves a remainder."),
  modulo: rounded(
    "left - right * divide(left, right, rounding), so 0 or `inexact` with `exact`. `division_by_zero`.",
  ),
  power: {
    family: "arithmetic",
    members: { base: operand("integer"), exponent: operand("integer") },
    result: "integer",
    notes: "Exponent below 0: `out_of_range`. 0 to the 0 is 1. Size is checked before computing.",
  },
  absolute: {
    family: "arithmetic",
    members: { value: operand("integer") },
    result: "integer",
    notes: "",
  },
  minimum: choice("Of equals: left."),
  maximum: choice("Of equals: left."),

  equal: comparison("T", "Deep, strict by type, blind to member order; json numbers by value."),
  not_equal: comparison("T", "The opposite of `equal`."),
  less: comparison("ordered T", ""),
  less_or_equal: comparison("ordered T", ""),
  greater: comparison("ordered T", ""),
  greater_or_equal: comparison("ordered T", ""),

  and: junction("Left to right, stops at the first false. Of nothing: true."),
  or: junction("Left to right, stops at the first true. Of nothing: false."),
  not: {
    family: "logic",
    members: { value: operand("boolean") },
    result: "boolean",
    notes: "",
  },
  if: {
    family: "logic",
    members: {
      condition: operand("boolean"),
      then: { kind: "lazy", of: "T", required: true },
      else: { kind: "lazy", of: "U", required: false, default: null },
    },
    result: "common type of T and U",
    notes: "Without `else`: T?, null when false.",
  },

  concat: {
    family: "text",
    members: { values: { kind: "expressions", of: "text", required: true } },
    result: "text",
    notes: 'Of nothing: `""`.',
  },
  length: {
    family: "text",
    members: { value: operand("text") },
    result: "integer",
    notes: "Code points.",
  },
  lower: textToText("Unicode's default mapping, no locale."),
  trim: textToText("Unicode white space, line ends and U+FEFF, on both sides."),
  split: {
    family: "text",
    members: { value: operand("text"), separator: operand("text") },
    result: "list of text",
    notes: 'Empty separator: `out_of_range`. `""` gives `[""]`.',
  },
  join: {
    family: "text",
    members: { list: operand("list of text"), separator: optional("text", "") },
    result: "text",
    notes: "",
  },
  starts_with: textTest('With `""`: true.'),
  ends_with: textTest('With `""`: true.'),
  contains: {
    family: "text",
    members: { in: operand("text, or list of T"), value: operand("text, or T") },
    result: "boolean",
    notes: "Elements are compared as by `equal`.",
  },
  slice: {
    family: "text",
    members: {
      value: operand("text or list of T"),
      from: operand("integer"),
      count: optional("integer"),
    },
    result: "text, or list of T",
    notes:
      "Code points or elements. Past the end gives less, never an error. Negative: `out_of_range`.",
  },

  decode: {
    family: "conversion",
    members: { value: operand("json or text"), type: fixed("type", "type"), else: lazy("U") },
    result: "the type, or its common type with U",
    notes:
      "By the reading rule; from text to integer, decimal, date, timestamp, enum, text, json and optionals of them. `decode_failed` and `unknown_field` name the place; `else` stands in for these two only.",
  },
  to_text: {
    family: "conversion",
    members: {
      value: operand("integer, boolean, date, timestamp or enum"),
      scale: fixed("scale", "0 to 30", 0),
    },
    result: "text",
    notes: 'Scale for integers only: 1250 with scale 2 is `"12.50"`, -5 is `"-0.05"`.',
  },
  to_json: {
    family: "conversion",
    members: { value: operand("T"), number: free("scale", "0 to 30") },
    result: "json",
    notes:
      "The JSON form. `number` (integers only): the JSON number value / 10^number, `inexact` unless its shortest decimal is exactly that.",
  },

  date_add: {
    family: "dates",
    members: {
      value: operand("date"),
      months: optional("integer", 0),
      days: optional("integer", 0),
    },
    result: "date",
    notes:
      "Months first, the day cut to the month's last. Outside years 1 to 9999: `out_of_range`.",
  },
  days_between: {
    family: "dates",
    members: { from: operand("date"), to: operand("date") },
    result: "integer",
    notes: "to minus from; may be negative.",
  },
  seconds_between: {
    family: "dates",
    members: { from: operand("timestamp"), to: operand("timestamp") },
    result: "integer",
    notes: "to minus from, rounded down.",
  },
  month_end: {
    family: "dates",
    members: { value: operand("date") },
    result: "date",
    notes: "The last day of its month.",
  },
} as const satisfies { readonly [operator: string]: OperatorSpec };
