import { emptyObject, type JsonValue } from "./json-value.ts";

/** A copy that shares nothing with its original, which must be of the closed domain already: nothing is checked again. */
export function copyJson(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy = emptyObject();
  for (const [key, member] of Object.entries(value)) copy[key] = copyJson(member);
  return copy;
}
