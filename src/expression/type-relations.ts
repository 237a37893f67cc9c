/**
 * How types relate: what fits where, and what two have in common.
 *
 * - T1 `fits(T, common)` holds for both sides of every `leastCommon`.
 * - T2 A value of a type is, unchanged, a value of every type it fits; nothing is converted at run time. A record that
 *   lacks an optional field is read as having null there.
 */
import type { Type } from "../model/type.ts";
import {
  dictionaryOf,
  enumOf,
  isOptional,
  listOf,
  NULL,
  optionalOf,
  presentOf,
  recordOf,
  TEXT,
} from "./types.ts";

export function sameType(left: Type, right: Type): boolean {
  if (left === right) return true;
  switch (left.kind) {
    case "enum":
      return (
        right.kind === "enum" &&
        left.values.length === right.values.length &&
        left.values.every((text, index) => text === right.values[index])
      );
    case "list":
    case "dictionary":
    case "optional":
      return left.kind === right.kind && sameType(left.of, right.of);
    case "decimal":
      return right.kind === "decimal" && left.scale === right.scale;
    case "record": {
      if (right.kind !== "record" || left.others !== right.others) return false;
      if (left.fields.size !== right.fields.size) return false;
      for (const [name, field] of left.fields) {
        const other = right.fields.get(name);
        if (other === undefined || !sameType(field, other)) return false;
      }
      return true;
    }
    default:
      return left.kind === right.kind;
  }
}

/** True when every value of `given` is also one of `wanted`. */
export function fits(given: Type, wanted: Type): boolean {
  if (given === wanted || given.kind === "nothing") return true;
  switch (wanted.kind) {
    case "optional":
      return given.kind === "null" || fits(presentOf(given), wanted.of);
    case "text":
      return given.kind === "text" || given.kind === "enum";
    case "enum":
      return given.kind === "enum" && includesAll(wanted.values, given.values);
    case "list":
    case "dictionary":
      return given.kind === wanted.kind && fits(given.of, wanted.of);
    case "record": {
      if (given.kind !== "record") return false;
      for (const [name, field] of given.fields) {
        const place = wanted.fields.get(name);
        if (place === undefined || !fits(field, place)) return false;
      }
      for (const [name, field] of wanted.fields) {
        if (!given.fields.has(name) && !isOptional(field)) return false;
      }
      return true;
    }
    case "decimal":
      return given.kind === "decimal" && given.scale === wanted.scale;
    default:
      return given.kind === wanted.kind;
  }
}

/** Both lists are sorted and without repeats. */
function includesAll(all: readonly string[], some: readonly string[]): boolean {
  let at = 0;
  for (const text of some) {
    while (at < all.length && all[at] !== text) at += 1;
    if (at === all.length) return false;
  }
  return true;
}

/** The least type that both fit, or undefined when there is none. */
export function leastCommon(left: Type, right: Type): Type | undefined {
  if (left === right || right.kind === "nothing") return left;
  if (left.kind === "nothing") return right;
  if (isOptional(left) || isOptional(right)) {
    const present = leastCommon(presentOf(left), presentOf(right));
    return present === undefined ? undefined : optionalOf(present);
  }
  if (left.kind === "enum" && right.kind === "enum") return union(left, right);
  if (isTextual(left) && isTextual(right)) return TEXT;
  if (left.kind === "list" && right.kind === "list") {
    const of = leastCommon(left.of, right.of);
    return of === undefined ? undefined : keep(left, right, of, listOf);
  }
  if (left.kind === "dictionary" && right.kind === "dictionary") {
    const of = leastCommon(left.of, right.of);
    return of === undefined ? undefined : keep(left, right, of, dictionaryOf);
  }
  if (left.kind === "record" && right.kind === "record") return commonRecord(left, right);
  return sameType(left, right) ? left : undefined;
}

type Container = Extract<Type, { readonly kind: "list" | "dictionary" }>;

/** Keeps an identical type instead of a copy, so that long chains of branches share one object. */
function keep(left: Container, right: Container, of: Type, make: (of: Type) => Type): Type {
  if (left.of === of) return left;
  return right.of === of ? right : make(of);
}

/** Texts, and enums of them. */
export function isTextual(type: Type): boolean {
  return type.kind === "text" || type.kind === "enum";
}

function union(left: Type & { kind: "enum" }, right: Type & { kind: "enum" }): Type {
  if (includesAll(left.values, right.values)) return left;
  if (includesAll(right.values, left.values)) return right;
  return enumOf([...left.values, ...right.values]);
}

function commonRecord(
  left: Type & { kind: "record" },
  right: Type & { kind: "record" },
): Type | undefined {
  const fields: [string, Type][] = [];
  for (const [name, field] of left.fields) {
    const common = leastCommon(field, right.fields.get(name) ?? NULL);
    if (common === undefined || (!right.fields.has(name) && !isOptional(field))) return undefined;
    fields.push([name, common]);
  }
  for (const [name, field] of right.fields) {
    if (left.fields.has(name)) continue;
    if (!isOptional(field)) return undefined;
    fields.push([name, field]);
  }
  const same =
    fields.length === left.fields.size &&
    fields.every(([name, field]) => left.fields.get(name) === field);
  return same ? left : recordOf(fields);
}

/**
 * True for types that have a common type but no value in common, because of enums of other words: as they are, or in a
 * field that cannot be absent on both sides. Never true of lists and dictionaries, which may be empty, nor of null:
 * comparing with it is allowed with every type.
 */
export function neverEqual(left: Type, right: Type): boolean {
  if (left === right) return false;
  const one = presentOf(left);
  const other = presentOf(right);
  if (one.kind === "enum" && other.kind === "enum") {
    const words = new Set(one.values);
    return !other.values.some((text) => words.has(text));
  }
  if (one.kind !== "record" || other.kind !== "record") return false;
  for (const [name, field] of one.fields) {
    const partner = other.fields.get(name);
    if (partner === undefined || (isOptional(field) && isOptional(partner))) continue;
    if (neverEqual(field, partner)) return true;
  }
  return false;
}

/** Types whose values have an order. An enum has none: its words are not sorted by meaning. */
export function isOrdered(type: Type): boolean {
  return (
    type.kind === "integer" ||
    type.kind === "text" ||
    type.kind === "date" ||
    type.kind === "timestamp" ||
    type.kind === "nothing"
  );
}
