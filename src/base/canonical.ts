/**
 * Canonical bytes (RFC 8785) over the closed JSON domain.
 *
 * Owns the one text that every digest and signature in Rote is made from. It refuses rather than repairs: what is
 * not in the domain has no canonical form, so two different values never share one text.
 *
 * - C1 Members are ordered by UTF-16 units; nothing is normalised.
 * - C2 Numbers are finite doubles in their shortest form; -0 is written as 0.
 * - C3 Every property is read once, and only own data is read: no `toJSON`, no getters, no inherited members.
 */
import { RoteError } from "./error.ts";
import type { JsonValue } from "./json-value.ts";
import { pointer } from "./pointer.ts";
import { hasLoneSurrogate } from "./text.ts";

/**
 * Deeper values are refused, a value that contains itself among them. Well above the reader's 64 levels because normal
 * forms nest deeper than what people write, well below what the stack takes.
 */
export const MAX_CANONICAL_DEPTH = 512;

/** The characters that JSON escapes, and surrogates, which may lack a partner. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be found
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;

const encoder = new TextEncoder();

/**
 * The canonical text of a value.
 *
 * @throws RoteError `not_canonical` with the pointer of the first value outside the domain: a number that is not
 * finite, a lone surrogate, `undefined`, a function, bigint or symbol, a hole, an accessor or hidden property, an
 * object that is neither plain nor null-prototype, or nesting over 512 levels (so every cycle).
 */
export function canonicalText(value: JsonValue): string {
  return write(value, []);
}

/** The UTF-8 bytes of `canonicalText`. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  return encoder.encode(canonicalText(value));
}

function write(value: unknown, path: string[]): string {
  switch (typeof value) {
    case "string":
      return writeText(value, path);
    case "number":
      if (!Number.isFinite(value)) throw refusal(path, `${value} is not a finite number`);
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (path.length >= MAX_CANONICAL_DEPTH) {
        throw refusal(
          path,
          `nested deeper than ${MAX_CANONICAL_DEPTH} levels, or containing itself`,
        );
      }
      return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path);
    default:
      throw refusal(path, `${typeof value} is not a JSON value`);
  }
}

function writeText(text: string, path: string[]): string {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  if (hasLoneSurrogate(text)) throw refusal(path, "text with a lone surrogate");
  return JSON.stringify(text);
}

function writeArray(list: readonly unknown[], path: string[]): string {
  if (Object.getPrototypeOf(list) !== Array.prototype) {
    throw refusal(path, "a list must be a plain array");
  }
  let text = "[";
  const depth = path.length;
  for (let index = 0; index < list.length; index += 1) {
    path[depth] = String(index);
    if (index > 0) text += ",";
    text += write(list[index], path);
  }
  path.length = depth;
  return `${text}]`;
}

function writeObject(record: object, path: string[]): string {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== null && prototype !== Object.prototype) {
    throw refusal(path, "an object must be plain or without prototype");
  }
  const keys = Object.keys(record);
  const depth = path.length;
  if (Reflect.ownKeys(record).length !== keys.length) {
    throw refusal(path, "an object must have no symbol keys and no hidden properties");
  }
  keys.sort();
  let text = "{";
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] ?? "";
    path[depth] = key;
    const member = Object.getOwnPropertyDescriptor(record, key);
    if (member === undefined || !("value" in member)) {
      throw refusal(path, "a getter is not a JSON value");
    }
    if (index > 0) text += ",";
    text += `${writeText(key, path)}:${write(member.value, path)}`;
  }
  path.length = depth;
  return `${text}}`;
}

function refusal(path: readonly string[], what: string): RoteError {
  const place = pointer(...path);
  return new RoteError(
    "not_canonical",
    `no canonical form: ${what} at ${place === "" ? "the root" : place}`,
    { pointer: place },
  );
}
