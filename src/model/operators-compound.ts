/** Operators on records, dictionaries and lists: the second part of the table in operators.ts. */
import {
  AS,
  body,
  DEFAULT_TOTAL,
  elementBody,
  fixed,
  free,
  lazy,
  type OperatorSpec,
  operand,
  optional,
} from "./operator-spec.ts";

const end = (notes: string): OperatorSpec => ({
  family: "lists",
  members: { list: operand("list of T") },
  result: "T?",
  notes,
});

export const COMPOUND_OPERATORS = {
  list: {
    family: "structure",
    members: { values: { kind: "expressions", of: "T", required: true } },
    result: "list of T",
    notes: "T is the common type. `[]` fits every list.",
  },
  record: {
    family: "structure",
    members: { fields: { kind: "fields", of: "T", required: true } },
    result: "record",
    notes: "A field that is optional and null is left out of the JSON form.",
  },
  get: {
    family: "structure",
    members: {
      value: operand("T"),
      pointer: free("pointer", "JSON Pointer"),
      key: optional("text or integer"),
      else: lazy("U"),
    },
    result: "the part, never optional, or its common type with U",
    notes:
      "`key`: text into a dictionary, integer into a list. Neither `pointer` nor `key`: takes the optional away. Absent or null: `else`, or `missing`.",
  },
  has: {
    family: "structure",
    members: {
      value: operand("T"),
      pointer: free("pointer", "JSON Pointer"),
      key: optional("text or integer"),
    },
    result: "boolean",
    notes: "True where `get` would find something. Looking never fails.",
  },
  default: {
    family: "structure",
    members: { value: operand("T?"), else: { kind: "lazy", of: "U", required: true } },
    result: "common type of T and U",
    notes: "",
  },
  merge: {
    family: "structure",
    members: { left: operand("record or dictionary"), right: operand("record or dictionary") },
    result: "record or dictionary",
    notes: "Right wins, not deep. A field of both types is the right one's, also where it is null.",
  },
  entries: {
    family: "structure",
    members: { value: operand("dictionary of T") },
    result: "list of {key: text, value: T}",
    notes: "In text order of the keys.",
  },
  digest: {
    family: "structure",
    members: { value: operand("T") },
    result: "text",
    notes: "`sha256:..` over `rote-value/v1`, LF and the canonical JSON form.",
  },

  map: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, value: body("U") },
    result: "list of U",
    notes: "",
  },
  filter: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, where: body("boolean") },
    result: "list of T",
    notes: "Keeps the order.",
  },
  fold: {
    family: "lists",
    members: {
      list: operand("list of T"),
      as: AS,
      into: fixed("binding", "name", DEFAULT_TOTAL),
      from: operand("A"),
      value: body("A"),
      type: free("type", "type"),
    },
    result: "A",
    notes: "`type` says A where `from` alone is too narrow (a text, a null, an empty list).",
  },
  all: {
    family: "lists",
    members: {
      list: operand("list of T"),
      as: AS,
      where: body("boolean"),
      empty: fixed("flag", "true or false"),
    },
    result: "boolean",
    notes: "Looks at every element. `empty` is what all of nothing means.",
  },
  any: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, where: body("boolean") },
    result: "boolean",
    notes: "Looks at every element. Of nothing: false.",
  },
  sum: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, value: elementBody("integer") },
    result: "integer",
    notes: "Of nothing: 0.",
  },
  count: {
    family: "lists",
    members: {
      list: operand("list of T"),
      as: AS,
      where: { kind: "body", of: "boolean", required: false },
    },
    result: "integer",
    notes: "Without `where`: all elements.",
  },
  sort_by: {
    family: "lists",
    members: {
      list: operand("list of T"),
      as: AS,
      key: body("ordered K"),
      order: fixed("order", "order", "ascending"),
    },
    result: "list of T",
    notes: "Stable in both orders. For several keys sort by the last one first.",
  },
  group_by: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, key: body("K") },
    result: "list of {key: K, items: list of T}",
    notes: "Groups and items in order of first appearance.",
  },
  distinct: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, key: elementBody("K") },
    result: "list of T",
    notes: "Keeps the first of each.",
  },
  lookup: {
    family: "lists",
    members: { list: operand("list of T"), as: AS, where: body("boolean") },
    result: "T?",
    notes: "None: null. More than one: `ambiguous`.",
  },
  first: end("Of nothing: null."),
  last: end("Of nothing: null."),
  flatten: {
    family: "lists",
    members: { list: operand("list of lists of T, or list of T?") },
    result: "list of T",
    notes: "One level; of optionals, drops the nulls.",
  },
  range: {
    family: "lists",
    members: { from: operand("integer"), count: operand("integer") },
    result: "list of integer",
    notes: "from, from + 1, ... Count below 0: `out_of_range`.",
  },
  zip: {
    family: "lists",
    members: { left: operand("list of T"), right: operand("list of U") },
    result: "list of {left: T, right: U}",
    notes: "Unequal lengths: `length_mismatch`.",
  },
} as const satisfies { readonly [operator: string]: OperatorSpec };
