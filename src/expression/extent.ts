/**
 * How large a value is when everything shared is counted as often as it occurs. An expression can share parts (a list
 * of one list twice, and so on), so a small value in memory may be without bound when written; whatever writes a value
 * or hands it out measures it first.
 */
import type { JsonValue } from "../base/json.ts";
import type { Type } from "../model/type.ts";
import type { RecordValue, Value } from "../model/value.ts";
import { isScalar } from "./equality.ts";
import { type EvaluationLimits, MAX_JSON_DEPTH } from "./limits.ts";

export interface Extent {
  /** Scalars and containers. */
  nodes: number;
  /** Units of texts and keys, and the hexadecimal digits of integers beyond 64 bits. */
  units: number;
}

interface Measuring extends Extent {
  readonly limits: EvaluationLimits;
}

/** The extent of a value of a type, or why it is too large. Freezes every list and record on the way. */
export function measure(type: Type, value: Value, limits: EvaluationLimits): Extent | string {
  const state: Measuring = { nodes: 0, units: 0, limits };
  return visit(type, value, 1, state) ? state : tooMuch(state);
}

function tooMuch(state: Measuring): string {
  const { limits } = state;
  if (state.nodes > limits.nodes) return `a value of more than ${limits.nodes} parts`;
  if (state.units > limits.units) return `texts of more than ${limits.units} units in all`;
  return `json nested over ${MAX_JSON_DEPTH} levels`;
}

function add(state: Measuring, nodes: number, units: number): boolean {
  state.nodes += nodes;
  state.units += units;
  return state.nodes <= state.limits.nodes && state.units <= state.limits.units;
}

function visit(type: Type, value: Value, depth: number, state: Measuring): boolean {
  if (value === null || value === undefined) return add(state, 1, 0);
  switch (type.kind) {
    case "optional":
      return visit(type.of, value, depth, state);
    case "text":
      return add(state, 1, (value as string).length);
    case "integer":
      return add(state, 1, unitsOf(value as bigint));
    case "list":
      return visitList(type.of, value as readonly Value[], depth, state);
    case "dictionary":
      return visitDictionary(type.of, value as ReadonlyMap<string, Value>, depth, state);
    case "record": {
      if (!add(state, 1, 0)) return false;
      for (const [name, field] of type.fields) {
        if (!visit(field, (value as RecordValue)[name] ?? null, depth + 1, state)) return false;
      }
      Object.freeze(value);
      return true;
    }
    case "json":
      return visitJson(value as JsonValue, depth, state);
    default:
      return add(state, 1, 0);
  }
}

function visitList(of: Type, list: readonly Value[], depth: number, state: Measuring): boolean {
  if (!add(state, 1, 0)) return false;
  if (isScalar(of) && of.kind !== "text" && of.kind !== "integer") {
    if (!add(state, list.length, 0)) return false;
  } else {
    for (const element of list) if (!visit(of, element, depth + 1, state)) return false;
  }
  Object.freeze(list);
  return true;
}

function visitDictionary(
  of: Type,
  dictionary: ReadonlyMap<string, Value>,
  depth: number,
  state: Measuring,
): boolean {
  if (!add(state, 1, 0)) return false;
  for (const [key, element] of dictionary) {
    if (!add(state, 0, key.length) || !visit(of, element, depth + 1, state)) return false;
  }
  return true;
}

function visitJson(value: JsonValue, depth: number, state: Measuring): boolean {
  if (typeof value === "string") return add(state, 1, value.length);
  if (!add(state, 1, 0)) return false;
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_JSON_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const element of value) if (!visitJson(element, depth + 1, state)) return false;
    return true;
  }
  const object = value as { readonly [key: string]: JsonValue };
  for (const key of Object.keys(object)) {
    if (!add(state, 0, key.length)) return false;
    if (!visitJson(object[key] ?? null, depth + 1, state)) return false;
  }
  return true;
}

function unitsOf(value: bigint): number {
  return BigInt.asIntN(64, value) === value ? 0 : value.toString(16).length;
}
