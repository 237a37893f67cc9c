/** Reads stored values back by shape. What does not fit was not written by us: the store is damaged. */
import { type Digest, isDigest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readJson,
} from "../base/json.ts";

/** Bodies are written from admitted values; the outer shape adds a few levels to the 512 of canonical text. */
const LIMITS = {
  numbers: "finite",
  maxDepth: 600,
  maxBytes: 1_073_741_824,
  maxNodes: 1_000_000_000,
} as const;

export function damaged(what: string, cause?: unknown): RoteError {
  return new RoteError("memory_damaged", `the memory is damaged: ${what}`, {}, cause);
}

export function storedJson(text: string, what: string): JsonValue {
  const read = readJson(text, LIMITS);
  if (!read.ok) throw damaged(`${what} is not the JSON that was written (${read.error.message})`);
  return read.value;
}

export function storedObject(value: JsonValue | undefined, what: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw damaged(`${what} is not an object`);
}

export function storedList(value: JsonValue | undefined, what: string): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  throw damaged(`${what} is not a list`);
}

export function storedText(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw damaged(`${what} is not a text`);
}

export function storedDigest(value: unknown, what: string): Digest {
  if (typeof value === "string" && isDigest(value)) return value;
  throw damaged(`${what} is not a digest`);
}

export function storedBoolean(value: unknown, what: string): boolean {
  if (typeof value === "boolean") return value;
  throw damaged(`${what} is not a boolean`);
}

export function storedWord<Word extends string | number>(
  value: unknown,
  words: readonly Word[],
  what: string,
): Word {
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw damaged(`${what} is none of ${words.join(", ")}`);
}

/** A count or time that fits a number exactly; integers come from the driver as bigint. */
export function storedNumber(value: unknown, what: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && (typeof value === "bigint" || typeof value === "number")) {
    return number;
  }
  throw damaged(`${what} is not a whole number in range`);
}

export function storedInteger(value: unknown, what: string): bigint {
  if (typeof value === "bigint") return value;
  throw damaged(`${what} is not an integer`);
}

export function orNull<T>(
  value: JsonValue | undefined,
  read: (value: JsonValue, what: string) => T,
  what: string,
): T | null {
  return value === null || value === undefined ? null : read(value, what);
}
