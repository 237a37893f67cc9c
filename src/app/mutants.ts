/**
 * Every small way in which a result can be wrong and still have its type: what `rote check --score` shows a verifier.
 *
 * M1. A mutant has the type of the original and differs from it.
 * M2. Mutants come in a fixed order and each is made only when asked for, so that a large result costs nothing until
 *     some of its mutants are chosen.
 * M3. One mutant changes one place.
 */
import { canonicalText } from "../base/canonical.ts";
import { emptyObject, type JsonValue } from "../base/json-value.ts";
import { pointer } from "../base/pointer.ts";
import type { Type } from "../model/type.ts";
import type { RecordValue, Value } from "../model/value.ts";

export interface Mutant {
  /** JSON Pointer into the result. */
  readonly pointer: string;
  /** What was done there, in words. */
  readonly change: string;
  readonly build: () => Value;
}

/** A change below some place: the tokens from there on. */
interface Change {
  readonly tokens: readonly (string | number)[];
  readonly change: string;
  readonly build: () => Value;
}

const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
const MAX_ENUM_CHANGES = 8;

export function* mutantsOf(type: Type, value: Value): Generator<Mutant> {
  for (const { tokens, change, build } of changesOf(type, value)) {
    yield { pointer: pointer(...tokens), change, build };
  }
}

function here(change: string, value: Value): Change {
  return { tokens: [], change, build: () => value };
}

function* changesOf(type: Type, value: Value): Generator<Change> {
  switch (type.kind) {
    case "null":
    case "nothing":
    case "decimal":
      return;
    case "boolean":
      yield here("flipped", value !== true);
      return;
    case "integer":
      if (typeof value !== "bigint") return;
      yield here("plus one", value + 1n);
      yield here("minus one", value - 1n);
      return;
    case "text":
      if (typeof value === "string") yield* changedTexts(value);
      return;
    case "enum":
      for (const other of type.values.filter((text) => text !== value).slice(0, MAX_ENUM_CHANGES)) {
        yield here(`made ${JSON.stringify(other)}`, other);
      }
      return;
    case "date":
      if (typeof value === "string") yield* movedDates(value);
      return;
    case "timestamp":
      if (typeof value !== "number") return;
      yield here("a second later", value + SECOND_MS);
      yield here("a second earlier", value - SECOND_MS);
      return;
    case "list":
      if (isList(value)) yield* changedLists(value, type.of);
      return;
    case "record":
      if (isRecord(value)) yield* changedRecords(value, type.fields);
      return;
    case "dictionary":
      if (value instanceof Map)
        yield* changedDictionaries(value as ReadonlyMap<string, Value>, type.of);
      return;
    case "optional":
      if (value === null) {
        const filled = leastValue(type.of);
        if (filled !== undefined) yield here("filled in", filled);
        return;
      }
      yield here("made null", null);
      yield* changesOf(type.of, value);
      return;
    case "json":
      yield* changedJson(value as JsonValue);
      return;
  }
}

function* changedTexts(text: string): Generator<Change> {
  yield here("text changed", `${text}x`);
  if (text !== "") yield here("text emptied", "");
}

function* movedDates(date: string): Generator<Change> {
  const day = Date.parse(`${date}T00:00:00Z`);
  for (const [change, moved] of [
    ["a day later", day + DAY_MS],
    ["a day earlier", day - DAY_MS],
  ] as const) {
    const text = new Date(moved).toISOString();
    // Years outside 0001 to 9999 are written with a sign, or as 0000: no date of ours.
    if (/^\d{4}-/.test(text) && !text.startsWith("0000")) yield here(change, text.slice(0, 10));
  }
}

function* changedLists(list: readonly Value[], of: Type): Generator<Change> {
  for (const [index, element] of list.entries()) {
    const place = (change: string, build: () => Value): Change => ({
      tokens: [index],
      change,
      build,
    });
    yield place("dropped", () => list.toSpliced(index, 1));
    yield place("repeated", () => list.toSpliced(index, 0, element));
    const next = list[index + 1];
    if (next !== undefined && !sameText(element, next)) {
      yield place("swapped with the next", () => list.toSpliced(index, 2, next, element));
    }
    yield* within(index, changesOf(of, element), (changed) => list.with(index, changed));
  }
}

function* changedRecords(
  record: RecordValue,
  fields: ReadonlyMap<string, Type>,
): Generator<Change> {
  for (const [name, type] of fields) {
    const rebuild = (changed: Value): Value => withField(record, name, changed);
    yield* within(name, changesOf(type, record[name] ?? null), rebuild);
  }
}

function* changedDictionaries(dictionary: ReadonlyMap<string, Value>, of: Type): Generator<Change> {
  for (const [key, value] of dictionary) {
    yield {
      tokens: [key],
      change: "dropped",
      build: () => new Map([...dictionary].filter(([other]) => other !== key)),
    };
    const rebuild = (changed: Value): Value => new Map(dictionary).set(key, changed);
    yield* within(key, changesOf(of, value), rebuild);
  }
}

function* changedJson(value: JsonValue): Generator<Change> {
  if (value === null) {
    yield here("filled in", true);
  } else if (typeof value === "boolean") {
    yield here("flipped", !value);
  } else if (typeof value === "number") {
    for (const [change, moved] of [
      ["plus one", value + 1],
      ["minus one", value - 1],
    ] as const) {
      if (moved !== value) yield here(change, moved);
    }
  } else if (typeof value === "string") {
    yield* changedTexts(value);
  } else if (isList(value)) {
    yield* changedLists(value, { kind: "json" });
  } else {
    yield* changedMembers(value);
  }
}

function* changedMembers(object: { readonly [key: string]: JsonValue }): Generator<Change> {
  for (const name of Object.keys(object).sort()) {
    yield {
      tokens: [name],
      change: "dropped",
      build: () => withoutMember(object, name),
    };
    const rebuild = (changed: Value): Value => withField(object, name, changed);
    yield* within(name, changedJson(object[name] ?? null), rebuild);
  }
}

function* within(
  token: string | number,
  changes: Generator<Change>,
  rebuild: (changed: Value) => Value,
): Generator<Change> {
  for (const { tokens, change, build } of changes) {
    yield { tokens: [token, ...tokens], change, build: () => rebuild(build()) };
  }
}

/** A value of the type for an optional that had none; undefined where the type names no obvious one. */
function leastValue(type: Type): Value | undefined {
  switch (type.kind) {
    case "boolean":
      return false;
    case "integer":
      return 0n;
    case "text":
      return "";
    case "date":
      return "2000-01-01";
    case "timestamp":
      return 0;
    case "json":
      return true;
    case "enum":
      return type.values[0];
    case "list":
      return [];
    case "dictionary":
      return new Map();
    case "record":
      return leastRecord(type.fields);
    case "null":
    case "nothing":
    case "optional":
    case "decimal":
      return undefined;
  }
}

function leastRecord(fields: ReadonlyMap<string, Type>): Value | undefined {
  const record = emptyObject<Value>();
  for (const [name, type] of fields) {
    const value = type.kind === "optional" ? null : leastValue(type);
    if (value === undefined) return undefined;
    record[name] = value;
  }
  return record;
}

function withField(record: RecordValue, name: string, value: Value): Value {
  const changed = Object.assign(emptyObject<Value>(), record);
  changed[name] = value;
  return changed;
}

function withoutMember(object: { readonly [key: string]: JsonValue }, name: string): Value {
  const changed = Object.assign(emptyObject<Value>(), object);
  delete changed[name];
  return changed;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isRecord(value: Value): value is RecordValue {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map)
  );
}

/** Equal values have equal texts; two values of one type that differ have different texts. */
function sameText(left: Value, right: Value): boolean {
  return canonicalText(plain(left)) === canonicalText(plain(right));
}

function plain(value: Value): JsonValue {
  if (typeof value === "bigint") return String(value);
  if (isList(value)) return value.map(plain);
  if (value instanceof Map)
    return [...(value as ReadonlyMap<string, Value>)].map(([key, item]) => [key, plain(item)]);
  if (!isRecord(value)) return value as JsonValue;
  return Object.keys(value).map((name) => [name, plain(value[name] ?? null)]);
}
