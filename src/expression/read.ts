/**
 * JSON from outside -> values, by type: the one reading rule for run inputs, read results, model answers, tool
 * results, `decode` and typed literals. What it gives is deeply frozen and shares nothing mutable with its source.
 */
import { assertNever } from "../base/assert.ts";
import { parseInteger } from "../base/integer.ts";
import { emptyObject, isJsonArray, isJsonObject, type JsonValue } from "../base/json-value.ts";
import { pointer } from "../base/pointer.ts";
import { err, ok, type Result } from "../base/result.ts";
import { compareText, hasLoneSurrogate } from "../base/text.ts";
import type { Type } from "../model/type.ts";
import type { RecordValue, Value } from "../model/value.ts";
import { isDate, parseTimestamp } from "./dates.ts";
import { decimalOfNumber, parseDecimal } from "./decimals.ts";
import { EVALUATION_LIMITS, type EvaluationLimits, MAX_JSON_DEPTH } from "./limits.ts";
import { showJson } from "./show.ts";
import { isOptional, typeName } from "./types.ts";

/** Why JSON is not a value of a type: the first place that does not fit, members taken in text order. */
export interface ReadFailure {
  readonly code: "decode_failed" | "unknown_field" | "too_large";
  /** Place within the JSON that was read. */
  readonly pointer: string;
  readonly message: string;
}

interface Reading {
  readonly limits: EvaluationLimits;
  readonly path: (string | number)[];
  nodes: number;
  units: number;
}

/** Carries a failure out of the recursion; never leaves this file. */
class Refusal {
  readonly failure: ReadFailure;
  constructor(failure: ReadFailure) {
    this.failure = failure;
  }
}

/**
 * Reads a JSON value as a type. Pass the reading type for what comes from outside (its `decimal` parts are scaled) and
 * the value type for what was stored with `writeValue`.
 */
export function readValue(
  type: Type,
  json: JsonValue,
  limits: EvaluationLimits = EVALUATION_LIMITS,
): Result<Value, ReadFailure> {
  const reading: Reading = { limits, path: [], nodes: 0, units: 0 };
  try {
    return ok(read(type, json, reading));
  } catch (refusal) {
    if (refusal instanceof Refusal) return err(refusal.failure);
    throw refusal;
  }
}

function read(type: Type, json: JsonValue, reading: Reading): Value {
  if (type.kind === "optional") return json === null ? null : read(type.of, json, reading);
  if (type.kind === "json") return copyJson(json, reading, 1);
  count(reading, 1, 0);
  switch (type.kind) {
    case "null":
      return json === null ? null : wrong(type, json, reading);
    case "boolean":
      return typeof json === "boolean" ? json : wrong(type, json, reading);
    case "integer":
      return bounded(readInteger(json, reading), type, json, reading);
    case "decimal":
      return bounded(readDecimal(json, type.scale, reading), type, json, reading);
    case "text":
      return typeof json === "string" ? text(json, reading) : wrong(type, json, reading);
    case "enum":
      return typeof json === "string" && isWord(type, json) ? json : wrong(type, json, reading);
    case "date":
      return typeof json === "string" && isDate(json) ? json : wrong(type, json, reading);
    case "timestamp": {
      const ms = typeof json === "string" ? parseTimestamp(json) : undefined;
      return ms ?? wrong(type, json, reading);
    }
    case "list":
      return Array.isArray(json) ? list(type.of, json, reading) : wrong(type, json, reading);
    case "dictionary":
      return isJsonObject(json) ? dictionary(type.of, json, reading) : wrong(type, json, reading);
    case "record":
      return isJsonObject(json) ? record(type, json, reading) : wrong(type, json, reading);
    case "nothing":
      return wrong(type, json, reading);
    default:
      return assertNever(type, "type");
  }
}

/** An enum of more words than this is looked up in a set; a shorter one is as quickly gone through. */
const FEW_WORDS = 16;

const wordSets = new WeakMap<Type, ReadonlySet<string>>();

function isWord(type: Type & { kind: "enum" }, text: string): boolean {
  if (type.values.length <= FEW_WORDS) return type.values.includes(text);
  let words = wordSets.get(type);
  if (words === undefined) {
    words = new Set(type.values);
    wordSets.set(type, words);
  }
  return words.has(text);
}

function list(of: Type, json: readonly JsonValue[], reading: Reading): Value {
  if (json.length > reading.limits.elements) throw tooLong(json.length, reading);
  const { path } = reading;
  const depth = path.length;
  const values: Value[] = [];
  for (let index = 0; index < json.length; index += 1) {
    path[depth] = index;
    values.push(read(of, json[index] ?? null, reading));
  }
  path.length = depth;
  return Object.freeze(values);
}

function dictionary(
  of: Type,
  json: { readonly [key: string]: JsonValue },
  reading: Reading,
): Value {
  // Members have no order, so neither has what is refused first.
  const keys = Object.keys(json).sort(compareText);
  if (keys.length > reading.limits.elements) throw tooLong(keys.length, reading);
  const { path } = reading;
  const depth = path.length;
  const values = new Map<string, Value>();
  for (const key of keys) {
    path[depth] = key;
    values.set(text(key, reading), read(of, json[key] ?? null, reading));
  }
  path.length = depth;
  return values;
}

function record(
  type: Type & { kind: "record" },
  json: { readonly [key: string]: JsonValue },
  reading: Reading,
): Value {
  const { path } = reading;
  const depth = path.length;
  const values = emptyObject<Value>();
  let found = 0;
  for (const [name, field] of type.fields) {
    path[depth] = name;
    if (Object.hasOwn(json, name)) {
      found += 1;
      values[name] = read(field, json[name] ?? null, reading);
    } else if (isOptional(field)) {
      values[name] = null;
    } else {
      path.length = depth;
      throw refusal("decode_failed", `the field ${shownName(name)} is missing`, reading);
    }
  }
  path.length = depth;
  if (type.others === "refuse") {
    const keys = Object.keys(json);
    if (keys.length > found) {
      const [unknown = ""] = keys.filter((key) => !type.fields.has(key)).sort(compareText);
      throw refusal("unknown_field", `there is no field ${shownName(unknown)}`, reading);
    }
  }
  return Object.freeze(values);
}

/** A record value with these fields, frozen. */
export function recordValue(fields: Iterable<readonly [string, Value]>): RecordValue {
  const values = emptyObject<Value>();
  for (const [name, value] of fields) values[name] = value;
  return Object.freeze(values);
}

function readInteger(json: JsonValue, reading: Reading): bigint | undefined {
  if (typeof json === "number") return Number.isSafeInteger(json) ? BigInt(json) : undefined;
  if (typeof json !== "string") return undefined;
  if (/^-?[1-9][0-9]*$/.test(json)) checkDigits(json, reading);
  return parseInteger(json);
}

function readDecimal(json: JsonValue, scale: number, reading: Reading): bigint | undefined {
  if (typeof json === "number") return decimalOfNumber(json, scale);
  if (typeof json !== "string") return undefined;
  checkDigits(json, reading);
  return parseDecimal(json, scale);
}

/** Conversion takes more than linear time, so text that cannot be small enough is refused before. */
function checkDigits(text: string, reading: Reading): void {
  if (text.length > reading.limits.integerBits + 64) {
    throw refusal("too_large", `a number of ${text.length} digits`, reading);
  }
}

function bounded(value: bigint | undefined, type: Type, json: JsonValue, reading: Reading): bigint {
  if (value === undefined) return wrong(type, json, reading);
  const bits = reading.limits.integerBits;
  if (BigInt.asIntN(64, value) === value && bits >= 64) return value;
  const magnitude = value < 0n ? -value : value;
  if (magnitude >> BigInt(bits) === 0n) return value;
  throw refusal("too_large", `an integer of more than ${bits} bits`, reading);
}

function text(value: string, reading: Reading): string {
  if (value.length > reading.limits.textUnits) {
    throw refusal("too_large", `a text of ${value.length} units`, reading);
  }
  if (hasLoneSurrogate(value)) throw refusal("decode_failed", "a lone surrogate", reading);
  count(reading, 0, value.length);
  return value;
}

/** json is kept as it is, but as our own frozen copy. */
function copyJson(json: JsonValue, reading: Reading, depth: number): JsonValue {
  count(reading, 1, 0);
  if (typeof json === "string") return text(json, reading);
  if (typeof json === "number" && !Number.isFinite(json)) {
    throw refusal("decode_failed", "a number that is not finite", reading);
  }
  if (typeof json !== "object" || json === null) return json;
  if (depth > MAX_JSON_DEPTH) {
    throw refusal("too_large", `json nested over ${MAX_JSON_DEPTH} levels`, reading);
  }
  const { path } = reading;
  const at = path.length;
  if (isJsonArray(json)) {
    if (json.length > reading.limits.elements) throw tooLong(json.length, reading);
    const copy: JsonValue[] = [];
    for (let index = 0; index < json.length; index += 1) {
      path[at] = index;
      copy.push(copyJson(json[index] ?? null, reading, depth + 1));
    }
    path.length = at;
    return Object.freeze(copy);
  }
  const keys = Object.keys(json);
  if (keys.length > reading.limits.elements) throw tooLong(keys.length, reading);
  const copy: { [key: string]: JsonValue } = Object.create(null);
  for (const key of keys) {
    path[at] = key;
    copy[text(key, reading)] = copyJson(json[key] ?? null, reading, depth + 1);
  }
  path.length = at;
  return Object.freeze(copy);
}

function count(reading: Reading, nodes: number, units: number): void {
  reading.nodes += nodes;
  reading.units += units;
  if (reading.nodes > reading.limits.nodes) {
    throw refusal("too_large", `a value of more than ${reading.limits.nodes} parts`, reading);
  }
  if (reading.units > reading.limits.units) {
    throw refusal("too_large", `texts of more than ${reading.limits.units} units`, reading);
  }
}

function tooLong(length: number, reading: Reading): Refusal {
  return refusal("too_large", `${length} elements, more than ${reading.limits.elements}`, reading);
}

function wrong(type: Type, json: JsonValue, reading: Reading): never {
  const under = reading.path.map(String);
  throw refusal("decode_failed", `${showJson(json, under)} is no ${typeName(type)}`, reading);
}

function refusal(code: ReadFailure["code"], what: string, reading: Reading): Refusal {
  const place = pointer(...reading.path);
  const message = place === "" ? what : `${what} (at ${place})`;
  return new Refusal({ code, pointer: place, message });
}

function shownName(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 60)}..`);
}
