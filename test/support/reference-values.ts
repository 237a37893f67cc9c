/** Values of the second interpreter, each with its kind, and how they are read, written and compared. */
import type { Source } from "./reference-operators.ts";

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

export const fail = (code: string): never => {
  throw new ReferenceFailure(code);
};
export const NONE: Tagged = { t: "null" };
export const int = (v: bigint): Tagged => ({ t: "integer", v });
export const text = (v: string): Tagged => ({ t: "text", v });
export const bool = (v: boolean): Tagged => ({ t: "boolean", v });
export const list = (v: readonly Tagged[]): Tagged => ({ t: "list", v });

/** What a path leads to: undefined when a part is missing, null when something on the way is absent. */
export function follow(value: Tagged, tokens: readonly string[]): Tagged | undefined {
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

export const need = (value: Tagged | undefined): Tagged => value ?? fail("missing");

export function untyped(value: unknown): Tagged {
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

export const sized = (value: bigint): Tagged =>
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

export function order(left: Tagged, right: Tagged): number {
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

export function realDate(value: string): boolean {
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
