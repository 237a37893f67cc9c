/** What every workpaper is asked and answers, whatever it is kept in. */
import type { JsonValue } from "../base/json.ts";
import { isInteger, membersOf } from "./members.ts";

const MAX_KEY = 200;
export const MAX_COUNT = 100;

const ENTRY_KEY: JsonValue = { type: "string", minLength: 1, maxLength: MAX_KEY };
const POSITION: JsonValue = { type: "integer", minimum: 1 };

interface Shape {
  readonly server: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

/** @param content schema of an entry's content */
export function appendShape(content: JsonValue): Shape {
  return {
    server: "workpaper",
    input: object({ key: ENTRY_KEY, content }),
    output: object({ key: ENTRY_KEY, position: POSITION }),
  };
}

/** @param content schema of an entry's content */
export function readShape(content: JsonValue): Shape {
  const operation = { type: "string" };
  const entry = object({ position: POSITION, key: ENTRY_KEY, operation, content });
  return {
    server: "workpaper",
    input: {
      type: "object",
      properties: {
        key: ENTRY_KEY,
        from: POSITION,
        count: { type: "integer", minimum: 1, maximum: MAX_COUNT },
      },
      oneOf: [{ required: ["key"] }, { required: ["from", "count"] }],
      dependentRequired: { from: ["count"], count: ["from"] },
      additionalProperties: false,
    },
    output: object({
      entries: { type: "array", items: entry },
      end: { type: "integer", minimum: 0, description: "the last position in use" },
    }),
  };
}

function object(properties: { readonly [member: string]: JsonValue }): JsonValue {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false };
}

export const KEY_FAULT = `/key: a text of 1 to ${MAX_KEY} characters`;

export function isEntryKey(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_KEY;
}

export type Wanted = { readonly key: string } | { readonly from: number; readonly count: number };

/** The entries that are asked for, or why that is no question. */
export function wantedOf(
  args: JsonValue,
  isKey: (value: JsonValue | undefined) => value is string = isEntryKey,
): Wanted | string {
  const members = membersOf(args, ["key", "from", "count"]);
  if (typeof members === "string") return members;
  const { key, from, count } = members;
  if (key !== undefined) {
    if (from !== undefined || count !== undefined) return "either key, or from and count";
    return isKey(key) ? { key } : KEY_FAULT;
  }
  if (!isInteger(from, 1)) return "/from: an integer from 1";
  if (!isInteger(count, 1) || count > MAX_COUNT) return `/count: an integer from 1 to ${MAX_COUNT}`;
  return { from, count };
}
