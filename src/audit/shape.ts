/** Closed forms of JSON documents: what is not stated is refused, and a refusal names the member at fault. */
import { isDigest } from "../base/digest.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";

/** What is wrong with a value, or null. `at` is its path, for the message. */
export type Shape = (value: JsonValue | undefined, at: string) => string | null;

export const json: Shape = (value, at) => (value === undefined ? `${at} is missing` : null);

export const text: Shape = (value, at) =>
  typeof value === "string" ? null : `${at} is not a text`;

export const flag: Shape = (value, at) =>
  typeof value === "boolean" ? null : `${at} is neither true nor false`;

/** A whole number from 0. */
export const count: Shape = (value, at) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? null
    : `${at} is not a whole number from 0`;

export const digest: Shape = (value, at) =>
  typeof value === "string" && isDigest(value) ? null : `${at} is not a digest`;

export function matching(pattern: RegExp, what: string): Shape {
  return (value, at) =>
    typeof value === "string" && pattern.test(value) ? null : `${at} is not ${what}`;
}

export const hex64 = matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits");
export const integer = matching(/^(0|-?[1-9][0-9]*)$/, "a whole number in decimal text");

export function oneOf(values: readonly JsonValue[]): Shape {
  return (value, at) =>
    value !== undefined && values.includes(value)
      ? null
      : `${at} is none of ${values.map((each) => JSON.stringify(each)).join(", ")}`;
}

export function orNull(shape: Shape): Shape {
  return (value, at) => (value === null ? null : shape(value, at));
}

export function listOf(shape: Shape): Shape {
  return (value, at) => {
    if (!Array.isArray(value)) return `${at} is not a list`;
    for (let index = 0; index < value.length; index += 1) {
      const fault = shape(value[index], `${at}/${index}`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

/** Members that must be there, and members that may. */
export function record(
  required: { readonly [member: string]: Shape },
  optional: { readonly [member: string]: Shape } = {},
): Shape {
  const known = new Map([...Object.entries(required), ...Object.entries(optional)]);
  const needed = Object.keys(required);
  return (value, at) => {
    if (!isJsonObject(value)) return `${at} is not an object`;
    for (const member of needed) {
      if (!Object.hasOwn(value, member)) return `${at}/${member} is missing`;
    }
    for (const member of Object.keys(value)) {
      const shape = known.get(member);
      if (shape === undefined) return `${at}/${member} is unknown`;
      const fault = shape(value[member], `${at}/${member}`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

/** Any member names, each with a value of one form. */
export function dictionary(shape: Shape): Shape {
  return (value, at) => {
    if (!isJsonObject(value)) return `${at} is not an object`;
    for (const member of Object.keys(value)) {
      const fault = shape(value[member], `${at}/${member}`);
      if (fault !== null) return fault;
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
  return (value, at) =>
    isJsonObject(value) && Object.hasOwn(value, `${member}_blob`)
      ? blob(value, at)
      : inline(value, at);
}
