/** A JSON value of the closed domain: finite numbers, strings without lone surrogates, null-prototype objects. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** Has no prototype where it was read by us; of one given by a caller, look at own members only. */
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * An object to be filled: no prototype, and (made this way round) laid out by V8 as a plain object, which reads and
 * freezes several times faster than what `Object.create(null)` gives.
 */
export function emptyObject<T = JsonValue>(): { [member: string]: T } {
  return Object.setPrototypeOf({}, null);
}

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `Array.isArray` for JSON: that one does not tell the compiler what is left when it says no. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
