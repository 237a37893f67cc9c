/** Closed forms of JSON documents: what is not stated is refused, and a refusal names the member at fault. */
import { isDigest } from "../base/digest.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";

/**
 * What is wrong with a value, or null: the path from the value to what is at fault, and what it is not. Whoever asks puts
 * the path of the value before it. Most values are as they should be, so paths are made only of faults.
 */
export type Shape = (value: JsonValue | undefined) => string | null;

export const json: Shape = (value) => (value === undefined ? " is missing" : null);

export const text: Shape = (value) => (typeof value === "string" ? null : " is not a text");

export const flag: Shape = (value) =>
  typeof value === "boolean" ? null : " is neither true nor false";

/** A whole number from 0. */
export const count: Shape = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? null
    : " is not a whole number from 0";

export const digest: Shape = (value) =>
  typeof value === "string" && isDigest(value) ? null : " is not a digest";

export function matching(pattern: RegExp, what: string): Shape {
  return (value) => (typeof value === "string" && pattern.test(value) ? null : ` is not ${what}`);
}

export const hex64 = matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits");
export const integer = matching(/^(0|-?[1-9][0-9]*)$/, "a whole number in decimal text");

export function oneOf(values: readonly JsonValue[]): Shape {
  const known: ReadonlySet<JsonValue | undefined> = new Set(values);
  return (value) =>
    known.has(value)
      ? null
      : ` is none of ${values.map((each) => JSON.stringify(each)).join(", ")}`;
}

export function orNull(shape: Shape): Shape {
  return (value) => (value === null ? null : shape(value));
}

export function listOf(shape: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return " is not a list";
    for (let index = 0; index < value.length; index += 1) {
      const fault = shape(value[index]);
      if (fault !== null) return `/${index}${fault}`;
    }
    return null;
  };
}

/** Members that must be there, and members that may. What is missing is said before what is wrong. */
export function record(
  required: { readonly [member: string]: Shape },
  optional: { readonly [member: string]: Shape } = {},
): Shape {
  const needed = Object.keys(required);
  const known = new Map([...Object.entries(optional), ...Object.entries(required)]);
  const missing = (value: JsonObject) => {
    const member = needed.find((each) => !Object.hasOwn(value, each));
    return member === undefined ? null : `/${member} is missing`;
  };
  return (value) => {
    if (!isJsonObject(value)) return " is not an object";
    const members = Object.keys(value);
    for (const member of members) {
      const shape = known.get(member);
      if (shape === undefined) return missing(value) ?? `/${member} is unknown`;
      const fault = shape(value[member]);
      if (fault !== null) return missing(value) ?? `/${member}${fault}`;
    }
    // All members are known, so where there are as many as can be, none is missing.
    return members.length === known.size ? null : missing(value);
  };
}

/** Any member names, each with a value of one form. */
export function dictionary(shape: Shape): Shape {
  return (value) => {
    if (!isJsonObject(value)) return " is not an object";
    for (const member of Object.keys(value)) {
      const fault = shape(value[member]);
      if (fault !== null) return `/${member}${fault}`;
    }
    return null;
  };
}

/** The value of `member`, or the digest of its bytes under `member_blob`: exactly one of both. */
export function kept(
  member: string,
  shape: Shape,
  rest: { readonly [member: string]: Shape },
): Shape {
  const inline = record({ ...rest, [member]: shape });
  const blob = record({ ...rest, [`${member}_blob`]: hex64 });
  return (value) =>
    isJsonObject(value) && Object.hasOwn(value, `${member}_blob`) ? blob(value) : inline(value);
}
