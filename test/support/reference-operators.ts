/** Operators of the second interpreter, each in the few lines that say what docs/expressions.md says. */
import { createHash } from "node:crypto";
import type { Machine } from "./reference-interpreter.ts";
import { exactNumber, midnight, quotient, shifted } from "./reference-numbers.ts";
import {
  bool,
  fail,
  follow,
  int,
  jsonOf,
  jsonText,
  list,
  NONE,
  need,
  order,
  ReferenceFailure,
  readAs,
  realDate,
  same,
  sized,
  type Tagged,
  text,
  untyped,
} from "./reference-values.ts";

export type Names = ReadonlyMap<string, { readonly value: Tagged; readonly at: number }>;
export type Source = Record<string, unknown>;

interface Context {
  readonly names: Names;
  readonly machine: Machine;
  at(member: string): Tagged;
  has(member: string): boolean;
  int(member: string): bigint;
  text(member: string): string;
  bool(member: string): boolean;
  list(member: string): readonly Tagged[];
  each(elements: readonly Tagged[], member: string, name?: string, standard?: string): Tagged[];
}

const pointerTokens = (e: Source): readonly string[] =>
  ((e["pointer"] as string) ?? "")
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

type Operator = (e: Source, c: Context) => Tagged;

const arithmetic =
  (compute: (a: bigint, b: bigint) => bigint): Operator =>
  (_, c) => {
    const left = c.int("left");
    return sized(compute(left, c.int("right")));
  };
const ordering =
  (holds: (order: number) => boolean): Operator =>
  (_, c) => {
    const left = c.at("left");
    return bool(holds(order(left, c.at("right"))));
  };
const held = (values: readonly Tagged[]): number =>
  values.filter((v) => v.t === "boolean" && v.v).length;
const isSpace = (unit: string): boolean => /[\p{White_Space}\ufeff]/u.test(unit);
const firstOf = (values: readonly Tagged[]): Tagged => values[0] ?? NONE;

/** The part that get and has look for; undefined when it is absent. */
function sought(e: Source, c: Context): Tagged | undefined {
  const value = c.at("value");
  let found: Tagged | undefined = value;
  if (e["pointer"] !== undefined) found = follow(value, pointerTokens(e));
  else if (e["key"] !== undefined) {
    const key = (c.at("key") as { v: bigint | string }).v;
    if (value.t === "dictionary") found = value.v.get(String(key));
    else found = (value as { v: readonly Tagged[] }).v[Number(key)];
  }
  return found?.t === "null" ? undefined : found;
}

export const OPERATORS: Readonly<Record<string, Operator>> = {
  literal: (e) => (e["type"] === undefined ? untyped(e["value"]) : readAs(e["type"], e["value"])),
  input: (e, c) =>
    need(follow(c.machine.find("input", e["name"] as string, c.names), pointerTokens(e))),
  node: (e, c) =>
    need(follow(c.machine.find("node", e["id"] as string, c.names), pointerTokens(e))),
  item: (e, c) =>
    need(
      follow(c.machine.find("item", (e["name"] as string) ?? "item", c.names), pointerTokens(e)),
    ),
  index: (e, c) => int(BigInt(c.names.get((e["name"] as string) ?? "item")?.at ?? 0)),
  let: (e, c) => {
    const value = c.at("value");
    return c.machine.run(e["in"], new Map([...c.names, [e["name"] as string, { value, at: 0 }]]));
  },
  add: arithmetic((a, b) => a + b),
  subtract: arithmetic((a, b) => a - b),
  multiply: arithmetic((a, b) => a * b),
  divide: (e, c) => {
    const left = c.int("left");
    return sized(quotient(left, c.int("right"), e["rounding"]));
  },
  modulo: (e, c) => {
    const left = c.int("left");
    const right = c.int("right");
    return sized(left - right * quotient(left, right, e["rounding"]));
  },
  power: (_, c) => {
    const base = c.int("base");
    const exponent = c.int("exponent");
    if (exponent < 0n) return fail("out_of_range");
    let result = 1n;
    for (let at = 0n; at < exponent && base !== 1n && base !== 0n && base !== -1n; at += 1n) {
      result *= base;
      sized(result);
    }
    if (base === 0n) return int(exponent === 0n ? 1n : 0n);
    return base === -1n ? int(exponent % 2n === 0n ? 1n : -1n) : sized(result);
  },
  absolute: (_, c) => {
    const value = c.int("value");
    return int(value < 0n ? -value : value);
  },
  minimum: (_, c) => {
    const left = c.at("left");
    const right = c.at("right");
    return order(left, right) <= 0 ? left : right;
  },
  maximum: (_, c) => {
    const left = c.at("left");
    const right = c.at("right");
    return order(left, right) >= 0 ? left : right;
  },
  equal: (_, c) => {
    const left = c.at("left");
    return bool(same(left, c.at("right")));
  },
  not_equal: (_, c) => {
    const left = c.at("left");
    return bool(!same(left, c.at("right")));
  },
  less: ordering((o) => o < 0),
  less_or_equal: ordering((o) => o <= 0),
  greater: ordering((o) => o > 0),
  greater_or_equal: ordering((o) => o >= 0),
  and: (e, c) =>
    bool((e["values"] as unknown[]).every((v) => (c.machine.run(v, c.names) as { v: boolean }).v)),
  or: (e, c) =>
    bool((e["values"] as unknown[]).some((v) => (c.machine.run(v, c.names) as { v: boolean }).v)),
  not: (_, c) => bool(!c.bool("value")),
  if: (_, c) => (c.bool("condition") ? c.at("then") : c.has("else") ? c.at("else") : NONE),
  concat: (e, c) =>
    text(
      (e["values"] as unknown[])
        .map((v) => (c.machine.run(v, c.names) as { v: string }).v)
        .join(""),
    ),
  length: (_, c) => int(BigInt([...c.text("value")].length)),
  lower: (_, c) => text(c.text("value").toLowerCase()),
  trim: (_, c) => {
    const units = c.text("value").split("");
    while (units.length > 0 && isSpace(units[0] ?? "")) units.shift();
    while (units.length > 0 && isSpace(units.at(-1) ?? "")) units.pop();
    return text(units.join(""));
  },
  split: (_, c) => {
    const value = c.text("value");
    const separator = c.text("separator");
    return separator === "" ? fail("out_of_range") : list(value.split(separator).map(text));
  },
  join: (_, c) => {
    const parts = c.list("list") as readonly { v: string }[];
    return text(parts.map(({ v }) => v).join(c.has("separator") ? c.text("separator") : ""));
  },
  starts_with: (_, c) => {
    const value = c.text("value");
    return bool(value.startsWith(c.text("with")));
  },
  ends_with: (_, c) => {
    const value = c.text("value");
    return bool(value.endsWith(c.text("with")));
  },
  contains: (_, c) => {
    const within = c.at("in");
    const value = c.at("value");
    if (within.t === "list") return bool(within.v.some((each) => same(each, value)));
    return bool((within as { v: string }).v.includes((value as { v: string }).v));
  },
  slice: (_, c) => {
    const value = c.at("value");
    const from = c.int("from");
    const count = c.has("count") ? c.int("count") : 10n ** 9n;
    if (from < 0n || count < 0n) return fail("out_of_range");
    const cut = <T>(all: readonly T[]): T[] =>
      all.filter((_one, at) => BigInt(at) >= from && BigInt(at) < from + count);
    return value.t === "list"
      ? list(cut(value.v))
      : text(cut([...(value as { v: string }).v]).join(""));
  },
  decode: (e, c) => {
    const value = c.at("value") as { v: unknown };
    try {
      return readAs(e["type"], value.v);
    } catch (error) {
      const code = error instanceof ReferenceFailure ? error.code : "";
      if (e["else"] !== undefined && code !== "too_large") return c.at("else");
      throw error;
    }
  },
  to_text: (e, c) => {
    const value = c.at("value");
    if (value.t !== "integer") return text(String(jsonOf(value)));
    const scale = (e["scale"] as number) ?? 0;
    const digits = (value.v < 0n ? -value.v : value.v).toString().padStart(scale + 1, "0");
    const whole = digits.slice(0, digits.length - scale);
    const sign = value.v < 0n ? "-" : "";
    return text(
      scale === 0 ? sign + digits : `${sign}${whole}.${digits.slice(digits.length - scale)}`,
    );
  },
  to_json: (e, c) => {
    if (e["number"] !== undefined)
      return { t: "json", v: exactNumber(c.int("value"), e["number"] as number) };
    return { t: "json", v: jsonOf(c.at("value")) };
  },
  date_add: (_, c) => {
    const date = c.text("value");
    const months = c.has("months") ? c.int("months") : 0n;
    return shifted(date, months, c.has("days") ? c.int("days") : 0n);
  },
  days_between: (_, c) => {
    const from = midnight(c.text("from"));
    return int(BigInt((midnight(c.text("to")) - from) / 86400000));
  },
  seconds_between: (_, c) => {
    const from = (c.at("from") as { v: number }).v;
    return int(BigInt(Math.floor(((c.at("to") as { v: number }).v - from) / 1000)));
  },
  month_end: (_, c) => {
    const date = c.text("value");
    const first = `${date.slice(0, 8)}01`;
    for (let day = 31; ; day -= 1)
      if (realDate(first.slice(0, 8) + day)) return { t: "date", v: first.slice(0, 8) + day };
  },
  list: (e, c) => list((e["values"] as unknown[]).map((v) => c.machine.run(v, c.names))),
  record: (e, c) => {
    const fields = Object.entries(e["fields"] as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return { t: "record", v: new Map(fields.map(([k, v]) => [k, c.machine.run(v, c.names)])) };
  },
  get: (e, c) => sought(e, c) ?? (e["else"] === undefined ? fail("missing") : c.at("else")),
  has: (e, c) => bool(sought(e, c) !== undefined),
  default: (_, c) => {
    const value = c.at("value");
    return value.t === "null" ? c.at("else") : value;
  },
  merge: (_, c) => {
    const left = c.at("left") as { t: "record"; v: ReadonlyMap<string, Tagged> };
    const right = c.at("right") as { v: ReadonlyMap<string, Tagged> };
    return { t: left.t, v: new Map([...left.v, ...right.v]) };
  },
  entries: (_, c) => {
    const all = [...(c.at("value") as { v: ReadonlyMap<string, Tagged> }).v];
    c.machine.fuel += nLogN(all.length);
    const sorted = all.sort(([a], [b]) => (a < b ? -1 : 1));
    return list(
      sorted.map(([key, value]) => ({
        t: "record",
        v: new Map([
          ["key", text(key)],
          ["value", value],
        ]),
      })),
    );
  },
  digest: (_, c) => {
    const form = jsonText(jsonOf(c.at("value")));
    return text(`sha256:${createHash("sha256").update(`rote-value/v1\n${form}`).digest("hex")}`);
  },
  map: (_, c) => list(c.each(c.list("list"), "value")),
  filter: (_, c) => {
    const elements = c.list("list");
    const where = c.each(elements, "where");
    return list(elements.filter((_one, at) => (where[at] as { v: boolean }).v));
  },
  fold: (e, c) => {
    const elements = c.list("list");
    let total = c.at("from");
    for (const [at, value] of elements.entries()) {
      const names = new Map([
        ...c.names,
        [(e["as"] as string) ?? "item", { value, at }] as const,
        [(e["into"] as string) ?? "total", { value: total, at: 0 }] as const,
      ]);
      total = c.machine.run(e["value"], names);
    }
    return total;
  },
  all: (e, c) => {
    const where = c.each(c.list("list"), "where");
    return bool(where.length === 0 ? (e["empty"] as boolean) : held(where) === where.length);
  },
  any: (_, c) => bool(held(c.each(c.list("list"), "where")) > 0),
  sum: (_, c) => {
    const elements = c.list("list");
    const values = c.has("value") ? c.each(elements, "value") : elements;
    return values.reduce<Tagged>(
      (sum, v) => sized((sum as { v: bigint }).v + (v as { v: bigint }).v),
      int(0n),
    );
  },
  count: (e, c) => {
    const elements = c.list("list");
    return int(
      BigInt(e["where"] === undefined ? elements.length : held(c.each(elements, "where"))),
    );
  },
  sort_by: (e, c) => {
    const elements = c.list("list");
    const keys = c.each(elements, "key");
    c.machine.fuel += nLogN(elements.length);
    const sign = e["order"] === "descending" ? -1 : 1;
    const order3 = elements.map((value, at) => ({ value, at, key: keys[at] ?? NONE }));
    order3.sort((a, b) => sign * order(a.key, b.key) || a.at - b.at);
    return list(order3.map(({ value }) => value));
  },
  group_by: (_, c) => {
    const elements = c.list("list");
    const keys = c.each(elements, "key");
    const groups: { key: Tagged; items: Tagged[] }[] = [];
    for (const [at, value] of elements.entries()) {
      const key = keys[at] ?? NONE;
      const group = groups.find((each) => same(each.key, key));
      if (group === undefined) groups.push({ key, items: [value] });
      else group.items.push(value);
    }
    return list(
      groups.map(({ key, items }) => ({
        t: "record",
        v: new Map([
          ["key", key],
          ["items", list(items)],
        ]),
      })),
    );
  },
  distinct: (_, c) => {
    const elements = c.list("list");
    const keys = c.has("key") ? c.each(elements, "key") : elements;
    return list(
      elements.filter((_one, at) => keys.findIndex((key) => same(key, keys[at] ?? NONE)) === at),
    );
  },
  lookup: (_, c) => {
    const elements = c.list("list");
    const where = c.each(elements, "where");
    const found = elements.filter((_one, at) => (where[at] as { v: boolean }).v);
    return found.length > 1 ? fail("ambiguous") : firstOf(found);
  },
  first: (_, c) => firstOf(c.list("list")),
  last: (_, c) => firstOf(c.list("list").slice(-1)),
  flatten: (_, c) => {
    const outer = c.list("list").filter((each) => each.t !== "null");
    // Lists that are optional elements stay lists; the generator of programs says which one is meant by what it makes.
    return list(outer.flatMap((each) => (each.t === "list" ? each.v : [each])));
  },
  range: (_, c) => {
    const from = c.int("from");
    const count = c.int("count");
    if (count < 0n) return fail("out_of_range");
    if (count > 100_000n) return fail("too_large");
    return list(Array.from({ length: Number(count) }, (_one, at) => sized(from + BigInt(at))));
  },
  zip: (_, c) => {
    const left = c.list("left");
    const right = c.list("right");
    if (left.length !== right.length) return fail("length_mismatch");
    return list(
      left.map((value, at) => ({
        t: "record",
        v: new Map([
          ["left", value],
          ["right", right[at] ?? NONE],
        ]),
      })),
    );
  },
};

/** n times the whole part of log2 n. */
function nLogN(n: number): number {
  return n < 2 ? 0 : n * (n.toString(2).length - 1);
}
