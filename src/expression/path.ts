/** Pointers through types: what they lead to, checked once, and a reader that follows them. */
import type { JsonValue } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import type { DiagnosticCode } from "../model/diagnostic.ts";
import type { Type } from "../model/type.ts";
import type { RecordValue, Value } from "../model/value.ts";
import { isOptional, JSON_TYPE, NOTHING, NULL, optionalOf, presentOf, typeName } from "./types.ts";

/** Follows a path. Undefined means that a part is missing; null that an optional on the way, or at its end, is absent. */
export type PathReader = (value: Value) => Value | undefined;

export interface Path {
  readonly type: Type;
  readonly read: PathReader;
  /** Names of record fields, when the path is nothing but those and cannot miss. */
  readonly fields: readonly string[] | undefined;
}

export interface PathProblem {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint?: string;
}

interface Step {
  readonly kind: "field" | "index" | "key" | "json" | "none";
  readonly token: string;
  readonly index: number;
  /** The value that the step is taken from may be null for "absent". */
  readonly optional: boolean;
}

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;

/** Checks a path against the type it starts from. */
export function pathThrough(from: Type, tokens: readonly string[]): Path | PathProblem {
  if (tokens.length === 0) return { type: from, read: itself, fields: tokens };
  const steps: Step[] = [];
  let type = from;
  let optional = false;
  for (const token of tokens) {
    optional ||= isOptional(type);
    const step = stepInto(presentOf(type), token, isOptional(type));
    if ("code" in step) return step;
    steps.push(step.step);
    type = step.type;
  }
  return {
    type: optional ? optionalOf(type) : type,
    read: readerOf(steps),
    fields: steps.every(({ kind, optional: maybe }) => kind === "field" && !maybe)
      ? tokens
      : undefined,
  };
}

const itself: PathReader = (value) => value;

function stepInto(
  type: Type,
  token: string,
  optional: boolean,
): { readonly step: Step; readonly type: Type } | PathProblem {
  const index = INDEX.test(token) ? Number(token) : -1;
  const step = (kind: Step["kind"]): Step => ({ kind, token, index, optional });
  switch (type.kind) {
    case "record": {
      const field = type.fields.get(token);
      if (field !== undefined) return { step: step("field"), type: field };
      const meant = nearest(token, type.fields.keys());
      const message = `${typeName(type)} has no field ${shown(token)}`;
      return meant === undefined
        ? { code: "unknown_field", message }
        : { code: "unknown_field", message, hint: `did you mean ${meant}?` };
    }
    case "list":
      return index >= 0
        ? { step: step("index"), type: type.of }
        : {
            code: "bad_pointer",
            message: `${shown(token)} is no position of a list`,
            hint: "0, 1, 2, .. without leading zeros",
          };
    case "dictionary":
      return { step: step("key"), type: type.of };
    case "json":
      return { step: step("json"), type: JSON_TYPE };
    case "nothing":
      return { step: step("none"), type: optional ? NULL : NOTHING };
    default:
      return {
        code: "unknown_field",
        message: `${typeName(type)} has no parts, so none is called ${shown(token)}`,
      };
  }
}

function readerOf(steps: readonly Step[]): PathReader {
  const [first] = steps;
  if (first === undefined) return (value) => value;
  if (steps.length === 1) return (value) => take(value, first);
  return (value) => {
    let current: Value | undefined = value;
    for (let at = 0; at < steps.length; at += 1) {
      const step = steps[at];
      if (step === undefined) break;
      if (current === null && step.optional) return null;
      current = take(current, step);
      if (current === undefined) return undefined;
    }
    return current;
  };
}

function take(value: Value, step: Step): Value | undefined {
  if (value === null && step.optional) return null;
  switch (step.kind) {
    case "field":
      return (value as RecordValue)[step.token] ?? null;
    case "index":
      return (value as readonly Value[])[step.index];
    case "key":
      return (value as ReadonlyMap<string, Value>).get(step.token);
    case "json":
      return jsonPart(value as JsonValue, step.token, step.index);
    default:
      return null;
  }
}

/** A part of a json value by member name or canonical position: own members only. */
export function jsonPart(value: JsonValue, token: string, index: number): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return index < 0 ? undefined : value[index];
  return (value as { readonly [key: string]: JsonValue })[token];
}

function shown(token: string): string {
  return JSON.stringify(token.length <= 64 ? token : `${token.slice(0, 60)}..`);
}
