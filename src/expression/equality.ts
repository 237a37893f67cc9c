/**
 * Deep equality and grouping keys, compiled from a type. Both pay for what they look at; both treat a field that is
 * absent as null.
 */
import { assertNever } from "../base/assert.ts";
import type { JsonValue } from "../base/json.ts";
import { compareText } from "../base/text.ts";
import type { Type } from "../model/type.ts";
import type { RecordValue, Value } from "../model/value.ts";
import type { Site } from "./failure.ts";
import { type Frame, spend } from "./frame.ts";

/** Work in parts; paid for in batches so that comparing scalars costs nothing extra. */
export interface Work {
  readonly frame: Frame;
  readonly site: Site;
  parts: number;
}

const BATCH = 1024;

function work(state: Work, parts: number): void {
  state.parts += parts;
  if (state.parts >= BATCH) settle(state);
}

/** Pays for what was counted so far. */
export function settle(state: Work): void {
  const whole = state.parts >>> 5;
  state.parts -= whole << 5;
  if (whole > 0) spend(state.frame, whole, state.site);
}

export type Same = (left: Value, right: Value, state: Work) => boolean;

/** Scalars compare by identity of value: texts by units, integers and json numbers by value. */
export function isScalar(type: Type): boolean {
  switch (type.kind) {
    case "list":
    case "record":
    case "dictionary":
    case "json":
      return false;
    case "optional":
      return isScalar(type.of);
    default:
      return true;
  }
}

const sameScalar: Same = (left, right, state) => {
  if (typeof left === "string") work(state, 1 + (left.length >>> 3));
  else work(state, 1);
  return (left ?? null) === (right ?? null);
};

/** Equality of two values of one type. */
export function equalityOf(type: Type): Same {
  switch (type.kind) {
    case "null":
    case "boolean":
    case "integer":
    case "decimal":
    case "text":
    case "enum":
    case "date":
    case "timestamp":
    case "nothing":
      return sameScalar;
    case "json":
      return sameJson;
    case "optional": {
      const same = equalityOf(type.of);
      return (left, right, state) => {
        const one = left ?? null;
        const other = right ?? null;
        if (one === null || other === null) return one === other;
        return same(one, other, state);
      };
    }
    case "list": {
      const same = equalityOf(type.of);
      return (left, right, state) => {
        const one = left as readonly Value[];
        const other = right as readonly Value[];
        work(state, 1);
        if (one === other) return true;
        if (one.length !== other.length) return false;
        for (let index = 0; index < one.length; index += 1) {
          if (!same(one[index] ?? null, other[index] ?? null, state)) return false;
        }
        return true;
      };
    }
    case "dictionary": {
      const same = equalityOf(type.of);
      return (left, right, state) => {
        const one = left as ReadonlyMap<string, Value>;
        const other = right as ReadonlyMap<string, Value>;
        work(state, 1);
        if (one.size !== other.size) return false;
        for (const [key, value] of one) {
          work(state, 1);
          const partner = other.get(key);
          if (partner === undefined || !same(value, partner, state)) return false;
        }
        return true;
      };
    }
    case "record": {
      const fields = [...type.fields].map(([name, field]) => [name, equalityOf(field)] as const);
      return (left, right, state) => {
        work(state, 1);
        for (const [name, same] of fields) {
          const one = (left as RecordValue)[name] ?? null;
          const other = (right as RecordValue)[name] ?? null;
          if (!same(one, other, state)) return false;
        }
        return true;
      };
    }
    default:
      return assertNever(type, "type");
  }
}

const sameJson: Same = (left, right, state) =>
  sameJsonValue(left as JsonValue, right as JsonValue, state);

function sameJsonValue(left: JsonValue, right: JsonValue, state: Work): boolean {
  if (typeof left !== "object" || left === null) return sameScalar(left, right, state);
  work(state, 1);
  if (typeof right !== "object" || right === null) return false;
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) {
      const mine = left[index];
      const theirs = right[index];
      if (mine === undefined || theirs === undefined) return false;
      if (!sameJsonValue(mine, theirs, state)) return false;
    }
    return true;
  }
  if (Array.isArray(right)) return false;
  const one = left as { readonly [key: string]: JsonValue };
  const other = right as { readonly [key: string]: JsonValue };
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) {
    const value = one[key];
    const partner = other[key];
    if (value === undefined || partner === undefined) return false;
    if (!sameJsonValue(value, partner, state)) return false;
  }
  return true;
}

/** A key for maps: equal values of the type have one key, different ones have different keys. */
export type KeyOf = (value: Value, state: Work) => Value;

/**
 * Grouping keys of a type. A scalar is its own key, except that a large integer is written as text; anything that is
 * no scalar is written as text, self-delimiting.
 */
export function keyOf(type: Type): KeyOf {
  if (isScalar(type)) {
    return (value, state) => {
      if (typeof value === "string") work(state, value.length >>> 3);
      return typeof value === "bigint" ? integerKey(value, state) : (value ?? null);
    };
  }
  const write = writer(type);
  return write;
}

/**
 * The engine's maps tell integers apart by their lowest 64 bits at first, so that multiples of 2^64 would all be
 * compared with each other. No type has both integers and texts, so the text is no other value's key.
 */
function integerKey(value: bigint, state: Work): Value {
  if (BigInt.asIntN(64, value) === value) return value;
  const text = value.toString(32);
  // Five bits to a digit, and eight bits to a part: 256 bits cost 1.
  work(state, (text.length * 5) >>> 3);
  return text;
}

type Writer = (value: Value, state: Work) => string;

function writer(type: Type): Writer {
  switch (type.kind) {
    case "null":
    case "boolean":
    case "integer":
    case "decimal":
    case "text":
    case "enum":
    case "date":
    case "timestamp":
    case "nothing":
      return writeScalar;
    case "json":
      return (value, state) => writeJson(value as JsonValue, state);
    case "optional": {
      const write = writer(type.of);
      return (value, state) => ((value ?? null) === null ? "~" : `?${write(value, state)}`);
    }
    case "list": {
      const write = writer(type.of);
      return (value, state) => {
        const list = value as readonly Value[];
        work(state, 1);
        let text = `[${list.length}:`;
        for (const element of list) text += write(element, state);
        return text;
      };
    }
    case "dictionary": {
      const write = writer(type.of);
      return (value, state) => {
        const entries = [...(value as ReadonlyMap<string, Value>)];
        work(state, 1 + entries.length);
        entries.sort(([left], [right]) => compareText(left, right));
        let text = `{${entries.length}:`;
        for (const [key, element] of entries) {
          text += writeScalar(key, state) + write(element, state);
        }
        return text;
      };
    }
    case "record": {
      const fields = [...type.fields].map(([name, field]) => [name, writer(field)] as const);
      return (value, state) => {
        work(state, 1);
        let text = "";
        for (const [name, write] of fields)
          text += write((value as RecordValue)[name] ?? null, state);
        return text;
      };
    }
    default:
      return assertNever(type, "type");
  }
}

const writeScalar: Writer = (value, state) => {
  const text = String(value);
  work(state, 1 + (text.length >>> 3));
  return `${text.length}:${text}`;
};

function writeJson(value: JsonValue, state: Work): string {
  if (typeof value !== "object" || value === null) {
    // The type letter keeps 1 apart from "1".
    return (typeof value).charAt(0) + writeScalar(value, state);
  }
  work(state, 1);
  if (Array.isArray(value)) {
    let text = `[${value.length}:`;
    for (const element of value) text += writeJson(element, state);
    return text;
  }
  const object = value as { readonly [key: string]: JsonValue };
  const keys = Object.keys(object).sort(compareText);
  let text = `{${keys.length}:`;
  for (const key of keys) text += writeScalar(key, state) + writeJson(object[key] ?? null, state);
  return text;
}
