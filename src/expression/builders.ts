/**
 * Expressions from TypeScript: one function per operator, each giving plain JSON in the long form. Arguments are
 * expressions themselves, so a text, safe integer, boolean, null or array stands for a literal or a list.
 *
 * The names are those of the operators in camel case; three that are words of TypeScript are `ifThen`, `letIn` and
 * `defaultTo`. `negate`, `parseInteger`, `parseDecimal`, `formatDecimal` and `keys` are no operators but what one writes
 * with them.
 *
 * Nothing is checked here: compiling says what is wrong, at its place.
 *
 * @example
 *   multiply(input("quantity"), input("price"))
 *   sum(filter(input("lines"), equal(item("/kind"), "service")), item("/amount"))
 */
import type { Rounding } from "../base/integer.ts";
import type { JsonValue } from "../base/json.ts";
import { DEFAULT_ITEM } from "../model/names.ts";
import type { OperatorName, Order } from "../model/operators.ts";

/** An expression as JSON. */
export type Expression = JsonValue;

/** A type as JSON: a name, or `{list: ..}`, `{record: ..}` and so on. */
export type TypeSource = JsonValue;

/** What an operator that looks at every element calls it. Default `item`. */
export interface Named {
  readonly as?: string;
}

function make(
  op: OperatorName,
  members: { readonly [member: string]: JsonValue | undefined },
): Expression {
  const expression: { [key: string]: JsonValue } = { op };
  for (const [name, member] of Object.entries(members)) {
    if (member !== undefined) expression[name] = member;
  }
  return expression;
}

type One = (value: Expression) => Expression;
type Two = (left: Expression, right: Expression) => Expression;
type Many = (...values: readonly Expression[]) => Expression;

const one =
  (op: OperatorName): One =>
  (value) =>
    make(op, { value });
const two =
  (op: OperatorName): Two =>
  (left, right) =>
    make(op, { left, right });
const many =
  (op: OperatorName): Many =>
  (...values) =>
    make(op, { values });

/** A fixed value. Without a type: text, safe integers, booleans, null, and lists and records of them. */
export const literal = (value: JsonValue, type?: TypeSource): Expression =>
  make("literal", { value, type });

/** An input of the recipe, or the part of it that the pointer leads to. */
export const input = (name: string, pointer?: string): Expression =>
  make("input", { name, pointer });

/** The output of a node that comes before, or a part of it. */
export const node = (id: string, pointer?: string): Expression => make("node", { id, pointer });

/** A named value: `item("line", "/amount")`. With one argument that starts with a slash, a part of `item`. */
export const item = (name?: string, pointer?: string): Expression =>
  name?.startsWith("/")
    ? make("item", { name: DEFAULT_ITEM, pointer: name })
    : make("item", { name: name ?? DEFAULT_ITEM, pointer });

/** The position of a list element, from 0. */
export const index = (name?: string): Expression => make("index", { name: name ?? DEFAULT_ITEM });

/** Names a value for use in an expression; it is computed once. */
export const letIn = (name: string, value: Expression, within: Expression): Expression =>
  make("let", { name, value, in: within });

export const add = two("add");
export const subtract = two("subtract");
export const multiply = two("multiply");

/** The quotient, rounded as stated; `exact` fails when there is a remainder. */
export const divide = (left: Expression, right: Expression, rounding: Rounding): Expression =>
  make("divide", { left, right, rounding });

/** What `divide` with the same rounding leaves. */
export const modulo = (left: Expression, right: Expression, rounding: Rounding): Expression =>
  make("modulo", { left, right, rounding });

export const power = (base: Expression, exponent: Expression): Expression =>
  make("power", { base, exponent });
export const absolute = one("absolute");
export const minimum = two("minimum");
export const maximum = two("maximum");

/** Zero minus the value. */
export const negate = (value: Expression): Expression => subtract(0, value);

export const equal = two("equal");
export const notEqual = two("not_equal");
export const less = two("less");
export const lessOrEqual = two("less_or_equal");
export const greater = two("greater");
export const greaterOrEqual = two("greater_or_equal");

export const and = many("and");
export const or = many("or");
export const not = one("not");

/** One of two branches; without the second one null where the condition is false. */
export const ifThen = (condition: Expression, yes: Expression, no?: Expression): Expression =>
  make("if", { condition, then: yes, else: no });

export const concat = many("concat");

/** Code points of a text. */
export const length = one("length");
export const lower = one("lower");
export const trim = one("trim");
export const split = (value: Expression, separator: Expression): Expression =>
  make("split", { value, separator });
export const join = (list: Expression, separator?: Expression): Expression =>
  make("join", { list, separator });
export const startsWith = (value: Expression, start: Expression): Expression =>
  make("starts_with", { value, with: start });
export const endsWith = (value: Expression, end: Expression): Expression =>
  make("ends_with", { value, with: end });

/** Whether a text contains a text, or a list an element. */
export const contains = (within: Expression, value: Expression): Expression =>
  make("contains", { in: within, value });

/** A part of a text (code points) or list, to the end without `count`. */
export const slice = (value: Expression, from: Expression, count?: Expression): Expression =>
  make("slice", { value, from, count });

/** json or text read as a type; `otherwise` stands in where it cannot be. */
export const decode = (value: Expression, type: TypeSource, otherwise?: Expression): Expression =>
  make("decode", { value, type, else: otherwise });

/** The integer that canonical decimal text denotes. */
export const parseInteger = (value: Expression, otherwise?: Expression): Expression =>
  decode(value, "integer", otherwise);

/** The integer that decimal text denotes at a scale: "12.5" at 2 is 1250. */
export const parseDecimal = (
  value: Expression,
  scale: number,
  otherwise?: Expression,
): Expression => decode(value, { decimal: scale }, otherwise);

export const toText = (value: Expression): Expression => make("to_text", { value });

/** The decimal text of an integer at a scale: 1250 at 2 is "12.50". */
export const formatDecimal = (value: Expression, scale: number): Expression =>
  make("to_text", { value, scale });

/** The JSON form of a value; with `number`, of an integer as the JSON number value / 10^number. */
export const toJson = (value: Expression, options: { readonly number?: number } = {}): Expression =>
  make("to_json", { value, number: options.number });

/** A date moved by months, then by days. */
export const dateAdd = (
  value: Expression,
  by: { readonly months?: Expression; readonly days?: Expression },
): Expression => make("date_add", { value, months: by.months, days: by.days });
export const daysBetween = (from: Expression, to: Expression): Expression =>
  make("days_between", { from, to });
export const secondsBetween = (from: Expression, to: Expression): Expression =>
  make("seconds_between", { from, to });
export const monthEnd = one("month_end");

export const list = many("list");
export const record = (fields: { readonly [name: string]: Expression }): Expression =>
  make("record", { fields });

/** A part by pointer or key (both absent: the value itself, which must be optional), and what stands in for it. */
export interface PartOptions {
  readonly pointer?: string;
  readonly key?: Expression;
}
export const get = (
  value: Expression,
  part: PartOptions & { readonly else?: Expression } = {},
): Expression => make("get", { value, pointer: part.pointer, key: part.key, else: part.else });
export const has = (value: Expression, part: PartOptions = {}): Expression =>
  make("has", { value, pointer: part.pointer, key: part.key });
export const defaultTo = (value: Expression, otherwise: Expression): Expression =>
  make("default", { value, else: otherwise });
export const merge = two("merge");
export const entries = one("entries");
export const digest = one("digest");

/** The keys of a dictionary, in text order. */
export const keys = (dictionary: Expression): Expression =>
  make("map", {
    list: entries(dictionary),
    as: "entry",
    value: item("entry", "/key"),
  });

export const map = (source: Expression, value: Expression, { as }: Named = {}): Expression =>
  make("map", { list: source, as, value });
export const filter = (source: Expression, where: Expression, { as }: Named = {}): Expression =>
  make("filter", { list: source, as, where });

/** A running value over a list: `item("total")` is the value so far (or what `into` calls it). */
export const fold = (
  source: Expression,
  from: Expression,
  value: Expression,
  options: Named & { readonly into?: string; readonly type?: TypeSource } = {},
): Expression =>
  make("fold", {
    list: source,
    as: options.as,
    into: options.into,
    from,
    value,
    type: options.type,
  });

/** Whether all elements hold; `empty` says what that means for no elements. */
export const all = (
  source: Expression,
  where: Expression,
  { as, empty }: Named & { readonly empty: boolean },
): Expression => make("all", { list: source, as, where, empty });
export const any = (source: Expression, where: Expression, { as }: Named = {}): Expression =>
  make("any", { list: source, as, where });
export const sum = (source: Expression, value?: Expression, { as }: Named = {}): Expression =>
  make("sum", { list: source, as, value });
export const count = (source: Expression, where?: Expression, { as }: Named = {}): Expression =>
  make("count", { list: source, as, where });
export const sortBy = (
  source: Expression,
  key: Expression,
  { as, order }: Named & { readonly order?: Order } = {},
): Expression => make("sort_by", { list: source, as, key, order });
export const groupBy = (source: Expression, key: Expression, { as }: Named = {}): Expression =>
  make("group_by", { list: source, as, key });
export const distinct = (source: Expression, key?: Expression, { as }: Named = {}): Expression =>
  make("distinct", { list: source, as, key });

/** The one element that holds, or null; more than one fails. */
export const lookup = (source: Expression, where: Expression, { as }: Named = {}): Expression =>
  make("lookup", { list: source, as, where });
export const first = (source: Expression): Expression => make("first", { list: source });
export const last = (source: Expression): Expression => make("last", { list: source });
export const flatten = (source: Expression): Expression => make("flatten", { list: source });
export const range = (from: Expression, howMany: Expression): Expression =>
  make("range", { from, count: howMany });
export const zip = two("zip");
