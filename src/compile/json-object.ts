/** Looking into JSON of unknown shape: own members only. */
import { isJsonArray, isJsonObject, type JsonValue } from "../base/json.ts";

/** An own member or element, or undefined. */
export function member(value: JsonValue | undefined, key: PropertyKey): JsonValue | undefined {
  if (isJsonArray(value)) return typeof key === "number" ? value[key] : undefined;
  if (!isJsonObject(value) || typeof key !== "string" || !Object.hasOwn(value, key))
    return undefined;
  return value[key];
}

/** What a value is, in words, for messages. */
export function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "a list";
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
