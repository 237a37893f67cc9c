/** Rote expressions in their short forms, as functions: what the recipes of the workflows are written with. */
import type { JsonValue } from "../../../src/base/json.ts";

export type E = JsonValue;
type Fields = { readonly [name: string]: E };

export const input = (at: string): E => ({ input: at });
/** Of a verifier: a part of what it is shown. */
export const context = (at: string): E => input(`context/${at}`);
export const node = (at: string): E => ({ node: at });
export const item = (at: string): E => ({ item: at });

const binary =
  (op: string) =>
  (left: E, right: E): E => ({ op, left, right });

export const add = binary("add");
export const subtract = binary("subtract");
export const multiply = binary("multiply");
export const equal = binary("equal");
export const notEqual = binary("not_equal");
export const less = binary("less");
export const lessOrEqual = binary("less_or_equal");
export const greater = binary("greater");
export const greaterOrEqual = binary("greater_or_equal");
export const minimum = binary("minimum");
export const maximum = binary("maximum");
export const merge = binary("merge");
export const zip = binary("zip");

export const divide = (left: E, right: E, rounding: "floor" | "half_up" = "floor"): E => ({
  op: "divide",
  left,
  right,
  rounding,
});
export const modulo = (left: E, right: E): E => ({ op: "modulo", left, right, rounding: "floor" });
export const power = (base: E, exponent: E): E => ({ op: "power", base, exponent });
export const absolute = (value: E): E => ({ op: "absolute", value });

export const and = (...values: readonly E[]): E => ({ op: "and", values });
export const or = (...values: readonly E[]): E => ({ op: "or", values });
export const not = (value: E): E => ({ op: "not", value });
export const when = (condition: E, then: E, otherwise?: E): E => ({
  op: "if",
  condition,
  then,
  ...(otherwise === undefined ? {} : { else: otherwise }),
});

/** Each name is seen by those after it. */
export const lets = (named: readonly (readonly [string, E])[], body: E): E =>
  named.reduceRight<E>((inner, [name, value]) => ({ op: "let", name, value, in: inner }), body);

export const concat = (...values: readonly E[]): E => ({ op: "concat", values });
export const length = (value: E): E => ({ op: "length", value });
export const lower = (value: E): E => ({ op: "lower", value });
export const split = (value: E, separator: string): E => ({ op: "split", value, separator });
export const join = (list: E, separator?: string): E => ({
  op: "join",
  list,
  ...(separator === undefined ? {} : { separator }),
});
export const endsWith = (value: E, end: string): E => ({ op: "ends_with", value, with: end });
export const toText = (value: E, scale?: number): E => ({
  op: "to_text",
  value,
  ...(scale === undefined ? {} : { scale }),
});
export const toJson = (value: E): E => ({ op: "to_json", value });
export const decode = (value: E, type: E): E => ({ op: "decode", value, type });
export const digest = (value: E): E => ({ op: "digest", value });

export const record = (fields: Fields): E => ({ op: "record", fields });
export const get = (value: E, pointer?: string, otherwise?: E): E => ({
  op: "get",
  value,
  ...(pointer === undefined ? {} : { pointer }),
  ...(otherwise === undefined ? {} : { else: otherwise }),
});
export const has = (value: E): E => ({ op: "has", value });
export const orElse = (value: E, otherwise: E): E => ({ op: "default", value, else: otherwise });

export const map = (list: E, as: string, value: E): E => ({ op: "map", list, as, value });
export const filter = (list: E, as: string, where: E): E => ({ op: "filter", list, as, where });
export const any = (list: E, as: string, where: E): E => ({ op: "any", list, as, where });
/** `empty` is what is said of no element. */
export const all = (list: E, as: string, where: E, empty = true): E => ({
  op: "all",
  list,
  as,
  where,
  empty,
});
export const count = (list: E, as?: string, where?: E): E => ({
  op: "count",
  list,
  ...(as === undefined || where === undefined ? {} : { as, where }),
});
export const sum = (list: E, as?: string, value?: E): E => ({
  op: "sum",
  list,
  ...(as === undefined || value === undefined ? {} : { as, value }),
});
export const fold = (list: E, as: string, into: string, from: E, value: E, type: E): E => ({
  op: "fold",
  list,
  as,
  into,
  from,
  value,
  type,
});
export const sortBy = (list: E, as: string, key: E): E => ({ op: "sort_by", list, as, key });
export const groupBy = (list: E, as: string, key: E): E => ({ op: "group_by", list, as, key });
export const distinct = (list: E, as?: string, key?: E): E => ({
  op: "distinct",
  list,
  ...(as === undefined || key === undefined ? {} : { as, key }),
});
export const lookup = (list: E, as: string, where: E): E => ({ op: "lookup", list, as, where });
export const first = (list: E): E => ({ op: "first", list });
export const last = (list: E): E => ({ op: "last", list });
export const flatten = (list: E): E => ({ op: "flatten", list });
export const slice = (value: E, from: E, many?: E): E => ({
  op: "slice",
  value,
  from,
  ...(many === undefined ? {} : { count: many }),
});
export const contains = (list: E, value: E): E => ({ op: "contains", in: list, value });

/** Types. */
export const optional = (of: E): E => ({ optional: of });
export const listOf = (of: E): E => ({ list: of });
export const oneOf = (...texts: readonly string[]): E => ({ enum: texts });
export const fieldsOf = (fields: Fields): E => ({ record: fields });
