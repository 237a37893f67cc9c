/**
 * A second, naive interpreter of docs/expressions.md: every value carries its kind, every operator is a few lines that
 * say what the document says. It shares no code with src/expression, so that a mistake there is not repeated here.
 * It counts the operators it evaluates and knows no other limit than the size of integers.
 */
import { createHash } from "node:crypto";

export type Tagged =
  | { readonly t: "null" }
  | { readonly t: "boolean"; readonly v: boolean }
  | { readonly t: "integer"; readonly v: bigint }
  | { readonly t: "text" | "date"; readonly v: string }
  | { readonly t: "timestamp"; readonly v: number }
  | { readonly t: "list"; readonly v: readonly Tagged[] }
  | { readonly t: "record" | "dictionary"; readonly v: ReadonlyMap<string, Tagged> }
  | { readonly t: "json"; readonly v: unknown };

export class ReferenceFailure extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

type Names = ReadonlyMap<string, { readonly value: Tagged; readonly at: number }>;
type Source = Record<string, unknown>;

const fail = (code: string): never => {
  throw new ReferenceFailure(code);
};
const NONE: Tagged = { t: "null" };
const int = (v: bigint): Tagged => ({ t: "integer", v });
const text = (v: string): Tagged => ({ t: "text", v });
const bool = (v: boolean): Tagged => ({ t: "boolean", v });
const list = (v: readonly Tagged[]): Tagged => ({ t: "list", v });

export interface ReferenceResult {
  readonly value: Tagged;
  /** Operators evaluated, and n log2 n for sorting n elements. */
  readonly fuel: number;
}

/** Evaluates an expression, short forms included. Throws `ReferenceFailure`. */
export function interpret(
  expression: unknown,
  inputs: ReadonlyMap<string, Tagged>,
  nodes: ReadonlyMap<string, Tagged> = new Map(),
): ReferenceResult {
  const machine = new Machine(inputs, nodes);
  return { value: machine.run(expression, new Map()), fuel: machine.fuel };
}

class Machine {
  fuel = 0;
  readonly inputs: ReadonlyMap<string, Tagged>;
  readonly nodes: ReadonlyMap<string, Tagged>;

  constructor(inputs: ReadonlyMap<string, Tagged>, nodes: ReadonlyMap<string, Tagged>) {
    this.inputs = inputs;
    this.nodes = nodes;
  }

  run(source: unknown, names: Names): Tagged {
    this.fuel += 1;
    if (Array.isArray(source)) return list(source.map((each) => this.run(each, names)));
    if (typeof source !== "object" || source === null) return untyped(source);
    const e = source as Source;
    if (!("op" in e)) return this.#short(e, names);
    const operator = OPERATORS[e["op"] as string];
    if (operator === undefined) throw new TypeError(`no operator ${String(e["op"])}`);
    return operator(e, {
      names,
      machine: this,
      at: (member) => this.run(e[member], names),
      has: (member) => e[member] !== undefined && !isDefaultMember(e, member),
      int: (member) => (this.run(e[member], names) as { v: bigint }).v,
      text: (member) => (this.run(e[member], names) as { v: string }).v,
      bool: (member) => (this.run(e[member], names) as { v: boolean }).v,
      list: (member) => (this.run(e[member], names) as { v: readonly Tagged[] }).v,
      each: (elements, member, name = "as", standard = "item") =>
        elements.map((value, at) =>
          this.run(
            e[member],
            new Map([...names, [(e[name] as string) ?? standard, { value, at }]]),
          ),
        ),
    });
  }

  #short(e: Source, names: Names): Tagged {
    const [form = "", path] = Object.entries(e)[0] ?? [];
    const [name = "", ...rest] = String(path).split("/");
    const tokens = rest.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (form === "index") return int(BigInt(names.get(name)?.at ?? 0));
    return need(follow(this.find(form, name, names), tokens));
  }

  find(form: string, name: string, names: Names): Tagged {
    const found =
      form === "input"
        ? this.inputs.get(name)
        : form === "node"
          ? this.nodes.get(name)
          : names.get(name)?.value;
    if (found === undefined) throw new TypeError(`no ${form} ${name}`);
    return found;
  }
}

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

/** An expression that says what leaving it out would mean is not there: it has the same normal form. */
function isDefaultMember(e: Source, member: string): boolean {
  const written = e[member] as Source | string | number | null;
  const plain =
    typeof written === "object" && written?.["op"] === "literal" && !("type" in written)
      ? written["value"]
      : written;
  if (e["op"] === "if" && member === "else") return plain === null;
  if (e["op"] === "join" && member === "separator") return plain === "";
  if (e["op"] === "date_add" && member !== "value") return plain === 0;
  const element = (e["as"] as string) ?? "item";
  if ((e["op"] === "sum" && member === "value") || (e["op"] === "distinct" && member === "key")) {
    const item = written as Source;
    return (
      item["item"] === element ||
      (item["op"] === "item" &&
        (item["name"] ?? "item") === element &&
        (item["pointer"] ?? "") === "")
    );
  }
  return false;
}

const pointerTokens = (e: Source): readonly string[] =>
  ((e["pointer"] as string) ?? "")
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

/** What a path leads to: undefined when a part is missing, null when something on the way is absent. */
function follow(value: Tagged, tokens: readonly string[]): Tagged | undefined {
  let current: Tagged | undefined = value;
  for (const token of tokens) {
    if (current === undefined || current.t === "null") return current;
    current = partOf(current, token);
  }
  return current;
}

function partOf(value: Tagged, token: string): Tagged | undefined {
  if (value.t === "record") return value.v.get(token) ?? NONE;
  if (value.t === "dictionary") return value.v.get(token);
  const isIndex = /^(0|[1-9]\d*)$/.test(token);
  if (value.t === "list") return isIndex ? value.v[Number(token)] : undefined;
  if (value.t !== "json" || typeof value.v !== "object" || value.v === null) return undefined;
  if (Array.isArray(value.v)) {
    return isIndex && Number(token) < value.v.length
      ? { t: "json", v: value.v[Number(token)] }
      : undefined;
  }
  return Object.hasOwn(value.v, token) ? { t: "json", v: (value.v as Source)[token] } : undefined;
}

const need = (value: Tagged | undefined): Tagged => value ?? fail("missing");

function untyped(value: unknown): Tagged {
  if (value === null) return NONE;
  if (typeof value === "boolean") return bool(value);
  if (typeof value === "number") return int(BigInt(value));
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return list(value.map(untyped));
  return {
    t: "record",
    v: new Map(Object.entries(value as object).map(([k, v]) => [k, untyped(v)])),
  };
}

const sized = (value: bigint): Tagged =>
  (value < 0n ? -value : value) >= 2n ** 8192n ? fail("too_large") : int(value);

/** Equality of values that the checker found comparable; null equals null only. */
export function same(left: Tagged, right: Tagged): boolean {
  if (left.t !== right.t) return false;
  if (left.t === "null") return true;
  if (left.t === "json" && right.t === "json") return jsonText(left.v) === jsonText(right.v);
  if (left.t === "list" && right.t === "list") {
    return (
      left.v.length === right.v.length &&
      left.v.every((each, at) => same(each, right.v[at] ?? NONE))
    );
  }
  if (left.t === "record" && right.t === "record") {
    const names = [...new Set([...left.v.keys(), ...right.v.keys()])];
    return names.every((name) => same(left.v.get(name) ?? NONE, right.v.get(name) ?? NONE));
  }
  if (left.t === "dictionary" && right.t === "dictionary") {
    const other = right.v;
    return (
      left.v.size === other.size &&
      [...left.v].every(([key, value]) => other.has(key) && same(value, other.get(key) ?? NONE))
    );
  }
  return (left as { v: unknown }).v === (right as { v: unknown }).v;
}

function order(left: Tagged, right: Tagged): number {
  const one = (left as { v: bigint | string | number }).v;
  const other = (right as { v: bigint | string | number }).v;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** JSON text with sorted members. */
export function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${jsonText((value as Source)[key])}`).join(",")}}`;
}

/** The JSON form. Null fields are left out, so a record type with a field of type null cannot be told from one without. */
export function jsonOf(value: Tagged): unknown {
  switch (value.t) {
    case "null":
      return null;
    case "integer":
      return value.v.toString();
    case "timestamp":
      return new Date(value.v)
        .toISOString()
        .replace(".000Z", "Z")
        .replace(/^\+\d\d/, "");
    case "list":
      return value.v.map(jsonOf);
    case "record":
      return Object.fromEntries(
        [...value.v].filter(([, v]) => v.t !== "null").map(([k, v]) => [k, jsonOf(v)]),
      );
    case "dictionary":
      return Object.fromEntries([...value.v].map(([k, v]) => [k, jsonOf(v)]));
    default:
      return value.v;
  }
}

/** The reading rule. */
export function readAs(type: unknown, json: unknown): Tagged {
  const bad = (): never => fail("decode_failed");
  if (typeof type === "string") return readScalar(type, json) ?? bad();
  const t = type as Source;
  if ("optional" in t)
    return json === null || json === undefined ? NONE : readAs(t["optional"], json);
  if ("enum" in t) return (t["enum"] as unknown[]).includes(json) ? text(json as string) : bad();
  if ("decimal" in t) return readDecimal(json, t["decimal"] as number) ?? bad();
  if ("list" in t)
    return Array.isArray(json) ? list(json.map((each) => readAs(t["list"], each))) : bad();
  if (typeof json !== "object" || json === null || Array.isArray(json)) return bad();
  if ("dictionary" in t) {
    const keys = Object.keys(json).sort();
    return {
      t: "dictionary",
      v: new Map(keys.map((k) => [k, readAs(t["dictionary"], (json as Source)[k])])),
    };
  }
  const fields = Object.entries(t["record"] as Source).sort(([a], [b]) => (a < b ? -1 : 1));
  const read = fields.map(([name, field]) => {
    const isThere = Object.hasOwn(json, name);
    const mayLack = typeof field === "object" && field !== null && "optional" in field;
    if (!isThere && !mayLack && field !== "null") return bad();
    return [name, readAs(field, isThere ? (json as Source)[name] : null)] as const;
  });
  const known = new Set(fields.map(([name]) => name));
  if (t["others"] !== "ignore" && Object.keys(json).some((key) => !known.has(key)))
    fail("unknown_field");
  return { t: "record", v: new Map(read) };
}

function readScalar(type: string, json: unknown): Tagged | undefined {
  if (type === "json") return { t: "json", v: json };
  if (type === "null") return json === null ? NONE : undefined;
  if (type === "boolean") return typeof json === "boolean" ? bool(json) : undefined;
  if (type === "integer" && Number.isSafeInteger(json)) return int(BigInt(json as number));
  if (typeof json !== "string") return undefined;
  if (type === "text") return text(json);
  if (type === "integer") return /^(0|-?[1-9]\d*)$/.test(json) ? sized(BigInt(json)) : undefined;
  if (type === "date") return realDate(json) ? { t: "date", v: json } : undefined;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/i.test(json))
    return undefined;
  const upper = json.toUpperCase();
  if (!realDate(upper.slice(0, 10)) || upper.slice(11, 13) > "23" || upper.slice(17, 19) > "59")
    return undefined;
  const ms = Date.parse(upper);
  return ms >= -62135596800000 && ms <= 253402300799999 ? { t: "timestamp", v: ms } : undefined;
}

function realDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value) || value.startsWith("0000")) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === value;
}

function readDecimal(json: unknown, scale: number): Tagged | undefined {
  if (typeof json !== "number" && typeof json !== "string") return undefined;
  const match =
    typeof json === "number"
      ? /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(json))
      : /^(-?)(0|[1-9]\d*)(?:\.(\d+))?()$/.exec(json);
  if (match === null || (typeof json === "string" && /^-[0.]+$/.test(json))) return undefined;
  const [, sign, whole = "", fraction = "", exponent] = match;
  // digits * 10^power, brought to 10^-scale.
  const power = Number(exponent || 0) - fraction.length + scale;
  const digits = BigInt(whole + fraction);
  const unit = 10n ** BigInt(Math.abs(power));
  if (power < 0 && digits % unit !== 0n) return undefined;
  const magnitude = power < 0 ? digits / unit : digits * unit;
  return sized(sign === "-" ? -magnitude : magnitude);
}

function quotient(a: bigint, b: bigint, rounding: unknown): bigint {
  if (b === 0n) return fail("division_by_zero");
  const down = (a - (((a % b) + b) % b)) / b;
  const rest = a - down * b;
  if (rest === 0n) return down;
  const positive = a < 0n === b < 0n;
  const twice = 2n * (rest < 0n ? -rest : rest);
  const size = b < 0n ? -b : b;
  switch (rounding) {
    case "floor":
      return down;
    case "ceiling":
      return down + 1n;
    case "truncate":
      return positive ? down : down + 1n;
    case "half_up":
      return twice > size || (twice === size && positive) ? down + 1n : down;
    case "half_even":
      return twice > size || (twice === size && down % 2n !== 0n) ? down + 1n : down;
    default:
      return fail("inexact");
  }
}

const midnight = (date: string): number => Date.parse(`${date}T00:00:00Z`);

function shifted(date: string, months: bigint, days: bigint): Tagged {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const count = BigInt(year) * 12n + BigInt(month - 1) + months;
  if (count < 12n || count > 9999n * 12n + 11n) return fail("out_of_range");
  const moved = new Date(0);
  const toYear = Number(count / 12n);
  const toMonth = Number(count % 12n);
  moved.setUTCFullYear(toYear, toMonth + 1, 0);
  moved.setUTCFullYear(toYear, toMonth, Math.min(day, moved.getUTCDate()));
  const at = BigInt(moved.getTime() / 86400000) + days;
  if (at < -719162n || at > 2932896n) return fail("out_of_range");
  return { t: "date", v: new Date(Number(at) * 86400000).toISOString().slice(0, 10) };
}

/** The JSON number value / 10^scale when its shortest decimal is exactly that. */
function exactNumber(value: bigint, scale: number): number {
  const number = Number(`${value}e-${scale}`);
  const canonical = (written: string): string => {
    const [mantissa = "", exponent = "0"] = written.replace(/^-/, "").split("e");
    const [whole = "", fraction = ""] = mantissa.split(".");
    const digits = (whole + fraction).replace(/^0+/, "");
    const short = digits.replace(/0+$/, "");
    return `${short}e${short === "" ? 0 : Number(exponent) - fraction.length + digits.length - short.length}`;
  };
  const exact =
    Number.isFinite(number) && canonical(String(number)) === canonical(`${value}e-${scale}`);
  return exact ? number : fail("inexact");
}

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

const OPERATORS: Readonly<Record<string, Operator>> = {
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
