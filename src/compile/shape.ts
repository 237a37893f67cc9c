/**
 * What zod says about a document, as diagnostics. A member that zod does not know is reported and then left out, so
 * that the rest of its object is still judged.
 */
import * as z from "zod/mini";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { pointer } from "../base/pointer.ts";
import { nearest } from "../base/text.ts";
import type { Diagnostic, Report } from "../model/diagnostic.ts";
import { IN_ENGLISH } from "../model/in-english.ts";
import { ID_PATTERN, NAME_PATTERN, TOOL_PATTERN } from "../model/names.ts";
import { kindOf, member } from "./json-object.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** The value read by the schema, or undefined after reporting why not. */
export function readShape<T>(
  schema: z.ZodMiniType<T>,
  value: JsonValue,
  at: string,
  report: Report,
): T | undefined {
  const first = schema.safeParse(value, IN_ENGLISH);
  if (first.success) return first.data;
  let repairable = true;
  for (const issue of first.error.issues) {
    for (const found of diagnose(issue, schema, value, at)) report(found);
    if (issue.code !== "unrecognized_keys") repairable = false;
  }
  if (!repairable) return undefined;
  const second = schema.safeParse(withoutUnknown(value, first.error.issues));
  return second.success ? second.data : undefined;
}

/** Unknown members reported of one object; whoever has more has another problem. */
const MOST_UNKNOWN = 100;

type Members<S extends z.core.$ZodShape> = { readonly [K in keyof S]?: z.output<S[K]> };

/** Reads an object member by member: those that fit are returned, the others reported. */
export function readMembers<S extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<S>,
  value: JsonValue,
  at: string,
  report: Report,
): Members<S> {
  const read: { [K in keyof S]?: z.output<S[K]> } = {};
  if (!isJsonObject(value)) {
    report({ code: "bad_shape", pointer: at, message: `expected an object, got ${kindOf(value)}` });
    return read;
  }
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  for (const key of unknown.slice(0, MOST_UNKNOWN)) report(unknownKey(key, known, at));
  for (const key of known as (keyof S & string)[]) {
    const field = schema.shape[key] as z.ZodMiniType<z.output<S[typeof key]>>;
    const given = member(value, key);
    if (given !== undefined) {
      const found = readShape(field, given, `${at}${pointer(key)}`, report);
      if (found !== undefined) read[key] = found;
    } else if (field.type !== "optional") {
      report(missingKey(key, at));
    }
  }
  return read;
}

function diagnose(issue: Issue, schema: z.ZodMiniType, root: JsonValue, at: string): Diagnostic[] {
  const place = `${at}${pointer(...issue.path.map(String))}`;
  const given = valueAt(root, issue.path);
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = knownKeys(schema, root, issue.path);
      return issue.keys.slice(0, MOST_UNKNOWN).map((key) => unknownKey(key, known, place));
    }
    case "invalid_key":
      return [{ code: "bad_name", pointer: place, ...wording(NAME_PATTERN, issue.path.at(-1)) }];
    case "too_big":
      return [
        {
          code: "limit_exceeded",
          pointer: place,
          message: `at most ${issue.maximum}${unitOf(issue.origin)}`,
        },
      ];
    case "too_small":
      return [
        {
          code: "bad_shape",
          pointer: place,
          message: `at least ${issue.minimum}${unitOf(issue.origin)}`,
        },
      ];
    default:
      break;
  }
  if (given === undefined) {
    return [missingKey(String(issue.path.at(-1)), parentOf(at, issue.path))];
  }
  switch (issue.code) {
    case "invalid_type": {
      const message = `expected ${EXPECTED[issue.expected] ?? issue.expected}, got ${kindOf(given)}`;
      return [{ code: "bad_shape", pointer: place, message }];
    }
    case "invalid_format": {
      const pattern = PATTERNS.find((one) => String(one) === issue["pattern"]);
      if (pattern !== undefined) {
        return [{ code: "bad_name", pointer: place, ...wording(pattern, given) }];
      }
      const message = "expected 64 lower-case hexadecimal digits";
      return [{ code: "bad_shape", pointer: place, message }];
    }
    case "invalid_value":
      return [
        {
          code: place === "/version" ? "unsupported_version" : "bad_shape",
          pointer: place,
          message: `expected ${issue.values.map((one) => JSON.stringify(one)).join(" or ")}, got ${quote(given)}`,
        },
      ];
    case "invalid_union": {
      const kinds = knownKinds(issue);
      const near = typeof given === "string" ? nearest(given, kinds) : undefined;
      return [
        {
          code: "bad_shape",
          pointer: place,
          message: `no step kind ${quote(given)}`,
          hint: near === undefined ? `kinds are ${kinds.join(", ")}` : `did you mean ${near}?`,
        },
      ];
    }
    default:
      return [{ code: "bad_shape", pointer: place, message: issue.message }];
  }
}

const PATTERNS = [ID_PATTERN, NAME_PATTERN, TOOL_PATTERN];

const EXPECTED: { readonly [expected: string]: string } = {
  string: "text",
  array: "a list",
  object: "an object",
  record: "an object",
  int: "a whole number",
  number: "a whole number",
};

function wording(pattern: RegExp, given: unknown): { message: string; hint: string } {
  const message = `${quote(given)} cannot be a name here`;
  if (pattern === ID_PATTERN) {
    return {
      message,
      hint: "ids are 1 to 64 of a-z, 0-9, dot, underscore and hyphen, and start with a letter or digit",
    };
  }
  if (pattern === NAME_PATTERN) {
    return {
      message,
      hint: "names are 1 to 64 of a-z, 0-9 and underscore, and start with a letter",
    };
  }
  return {
    message,
    hint: "tool names are 1 to 128 of letters, digits and . _ : / - and start with a letter or digit",
  };
}

function unitOf(origin: string): string {
  if (origin === "array") return " elements";
  return origin === "string" ? " characters" : "";
}

function unknownKey(key: string, known: readonly string[], at: string): Diagnostic {
  const near = nearest(key, known);
  return {
    code: "unknown_key",
    pointer: `${at}${pointer(key)}`,
    message: `no member ${quote(key)} is known here`,
    hint: near === undefined ? `known are ${known.join(", ")}` : `did you mean ${near}?`,
  };
}

function missingKey(key: string, at: string): Diagnostic {
  return { code: "missing_key", pointer: at, message: `member "${key}" is missing` };
}

/** A value in a message: short, so that a message never carries a document. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function parentOf(at: string, path: Path): string {
  return `${at}${pointer(...path.slice(0, -1).map(String))}`;
}

function valueAt(root: JsonValue, path: Path): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const token of path) value = member(value, token);
  return value;
}

function withoutUnknown(root: JsonValue, issues: readonly Issue[]): JsonValue {
  let value = root;
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys") value = drop(value, issue.path, issue.keys);
  }
  return value;
}

function drop(value: JsonValue, path: Path, keys: readonly string[]): JsonValue {
  const [head, ...rest] = path;
  if (head === undefined) {
    if (!isJsonObject(value)) return value;
    return objectOf(Object.entries(value).filter(([key]) => !keys.includes(key)));
  }
  const inner = member(value, head);
  if (inner === undefined) return value;
  const changed = drop(inner, rest, keys);
  if (Array.isArray(value)) return value.map((one, index) => (index === head ? changed : one));
  if (!isJsonObject(value)) return value;
  return objectOf(
    Object.entries(value).map(([key, one]) => [key, key === head ? changed : one] as const),
  );
}

function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: { [key: string]: JsonValue } = Object.create(null);
  for (const [key, value] of entries) object[key] = value;
  return object;
}

function knownKinds(issue: Extract<Issue, { code: "invalid_union" }>): readonly string[] {
  const options: unknown = "options" in issue ? issue.options : undefined;
  return Array.isArray(options) ? options.map(String) : [];
}

/** Members that the schema knows at a path, for "did you mean". */
function knownKeys(schema: z.ZodMiniType, root: JsonValue, path: Path): readonly string[] {
  let here: unknown = schema;
  let value: JsonValue | undefined = root;
  for (const token of path) {
    here = shapeOf(here, value)?.[String(token)];
    value = member(value, token);
  }
  return Object.keys(shapeOf(here, value) ?? {});
}

function shapeOf(schema: unknown, value: JsonValue | undefined): z.core.$ZodShape | undefined {
  if (schema instanceof z.ZodMiniObject) return schema.shape;
  if (schema instanceof z.ZodMiniExactOptional) return shapeOf(schema.def.innerType, value);
  if (!(schema instanceof z.ZodMiniDiscriminatedUnion)) return undefined;
  const kind = member(value, "kind");
  for (const option of schema.def.options) {
    const shape = shapeOf(option, value);
    const literal: unknown = shape?.["kind"];
    if (literal instanceof z.ZodMiniLiteral && literal.def.values.some((one) => one === kind))
      return shape;
  }
  return undefined;
}
