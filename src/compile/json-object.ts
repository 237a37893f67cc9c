/** Looking into JSON of unknown shape: own members only. */
import type { JsonValue } from "../base/json.ts";

export type JsonObject = { readonly [key: string]: JsonValue };

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** An own member or element, or undefined. */
export function member(value: JsonValue | undefined, key: PropertyKey): JsonValue | undefined {
  if (isList(value)) return typeof key === "number" ? value[key] : undefined;
  if (!isObject(value) || typeof key !== "string" || !Object.hasOwn(value, key)) return undefined;
  return value[key];
}

/** What a value is, in words, for messages. */
export function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
      return "a number";
    case "boolean":
      return "a boolean";
    default:
      return "an object";
  }
}
