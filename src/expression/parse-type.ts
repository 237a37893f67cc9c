/** Types as written in documents -> `Type`. Problems are reported at the part that is wrong; never throws. */
import { isJsonObject, type JsonValue } from "../base/json-value.ts";
import { pointer } from "../base/pointer.ts";
import { nearest } from "../base/text.ts";
import type { DiagnosticCode, Report } from "../model/diagnostic.ts";
import { NAME_PATTERN } from "../model/names.ts";
import { MAX_SCALE } from "../model/operators.ts";
import { BUILTIN_TYPES, type Type } from "../model/type.ts";
import { TYPE_LIMITS } from "./limits.ts";
import { typeExtent } from "./type-extent.ts";
import {
  BOOLEAN,
  DATE,
  dictionaryOf,
  enumOf,
  INTEGER,
  JSON_TYPE,
  listOf,
  NULL,
  recordOf,
  TEXT,
  TIMESTAMP,
} from "./types.ts";

const BUILTIN: ReadonlyMap<string, Type> = new Map<string, Type>([
  ["null", NULL],
  ["boolean", BOOLEAN],
  ["integer", INTEGER],
  ["text", TEXT],
  ["date", DATE],
  ["timestamp", TIMESTAMP],
  ["json", JSON_TYPE],
]);

const FORMS = ["enum", "list", "record", "dictionary", "optional", "decimal"] as const;

/** Finds a named type; undefined when there is none, "failed" when it has problems of its own (reported there). */
type Resolve = (name: string) => Type | "failed" | undefined;

interface Parsing {
  readonly resolve: Resolve;
  readonly names: Iterable<string>;
  readonly report: Report;
}

/**
 * The type that stands at `at`, or undefined after reporting what is wrong with it.
 *
 * @param names the types that the document defines, as `parseTypes` gave them
 */
export function parseType(
  source: JsonValue,
  names: ReadonlyMap<string, Type>,
  at: string,
  report: Report,
): Type | undefined {
  const parsing = { resolve: (name: string) => names.get(name), names: names.keys(), report };
  return bounded(parse(source, at, 1, parsing), at, report);
}

/**
 * The named types of a document. A type with problems is reported and left out. Names may refer to each other in any
 * order, not in a circle.
 */
export function parseTypes(
  source: JsonValue,
  at: string,
  report: Report,
): ReadonlyMap<string, Type> {
  const types = new Map<string, Type>();
  if (!isJsonObject(source)) {
    report({ code: "bad_shape", pointer: at, message: "types must be an object of named types" });
    return types;
  }
  const done = new Map<string, Type | "failed">();
  const open: string[] = [];
  const own = Object.keys(source);
  const resolve: Resolve = (name) => {
    const known = done.get(name);
    if (known !== undefined) return known;
    if (!Object.hasOwn(source, name) || BUILTIN.has(name)) return undefined;
    const place = at + pointer(name);
    const fail = (code: DiagnosticCode, message: string): "failed" => {
      report({ code, pointer: place, message });
      done.set(name, "failed");
      return "failed";
    };
    if (open.includes(name)) {
      const circle = [...open.slice(open.indexOf(name)), name];
      return fail("recursive_type", `type ${shown(name)} contains itself: ${circle.join(" -> ")}`);
    }
    if (open.length >= TYPE_LIMITS.depth) {
      return fail("too_deep", `named types refer to each other over ${TYPE_LIMITS.depth} levels`);
    }
    open.push(name);
    const parsed = parse(source[name] ?? null, place, 1, { resolve, names: own, report });
    open.pop();
    const type = done.has(name) ? undefined : bounded(parsed, place, report);
    done.set(name, type ?? "failed");
    return type ?? "failed";
  };
  for (const name of own) {
    const place = at + pointer(name);
    if (BUILTIN.has(name)) {
      report({ code: "name_taken", pointer: place, message: `${name} is a type of the language` });
    } else if (NAME_PATTERN.test(name)) {
      const type = resolve(name);
      if (type !== undefined && type !== "failed") types.set(name, type);
    } else {
      report({
        code: "bad_name",
        pointer: place,
        message: `${shown(name)} is no name for a type`,
        hint: "a small letter, then small letters, digits and underscores",
      });
    }
  }
  return types;
}

function parse(source: JsonValue, at: string, depth: number, parsing: Parsing): Type | undefined {
  if (depth > TYPE_LIMITS.depth) {
    return refuse(parsing, "too_deep", at, `types nest over ${TYPE_LIMITS.depth} levels`);
  }
  if (typeof source === "string") return named(source, at, parsing);
  if (!isJsonObject(source)) {
    return refuse(parsing, "unknown_type", at, "a type is a name or an object such as {list: ..}");
  }
  const keys = Object.keys(source);
  const forms = FORMS.filter((form) => Object.hasOwn(source, form));
  const [form] = forms;
  if (form === undefined || forms.length > 1) {
    const [key] = keys;
    const hint = key === undefined ? undefined : nearest(key, FORMS);
    const message = `a type has exactly one of ${FORMS.join(", ")}`;
    return refuse(parsing, "unknown_type", at, message, hint && `did you mean ${hint}?`);
  }
  const extra = keys.find((key) => key !== form && !(form === "record" && key === "others"));
  if (extra !== undefined) {
    return refuse(parsing, "unknown_member", at, `a ${form} type has no member ${shown(extra)}`);
  }
  const inner = source[form] ?? null;
  const place = `${at}/${form}`;
  switch (form) {
    case "list": {
      const of = parse(inner, place, depth + 1, parsing);
      return of && listOf(of);
    }
    case "dictionary": {
      const of = parse(inner, place, depth + 1, parsing);
      return of && dictionaryOf(of);
    }
    case "optional":
      return optional(parse(inner, place, depth + 1, parsing), at, parsing);
    case "enum":
      return enumeration(inner, at, parsing);
    case "decimal":
      return typeof inner === "number" &&
        Number.isInteger(inner) &&
        inner >= 0 &&
        inner <= MAX_SCALE
        ? Object.freeze({ kind: "decimal", scale: inner })
        : refuse(
            parsing,
            "unknown_type",
            at,
            `decimal places are an integer from 0 to ${MAX_SCALE}`,
          );
    default:
      return record(source, at, depth, parsing);
  }
}

function named(name: string, at: string, parsing: Parsing): Type | undefined {
  const type = BUILTIN.get(name) ?? parsing.resolve(name);
  if (type === "failed") return undefined;
  if (type !== undefined) return type;
  const hint = nearest(name, [...BUILTIN_TYPES, ...parsing.names]);
  return refuse(
    parsing,
    "unknown_type",
    at,
    `there is no type ${shown(name)}`,
    hint && `did you mean ${hint}?`,
  );
}

function optional(of: Type | undefined, at: string, parsing: Parsing): Type | undefined {
  if (of === undefined) return undefined;
  if (of.kind === "optional" || of.kind === "null") {
    return refuse(
      parsing,
      "nested_optional",
      at,
      "an optional type must not be optional or null itself",
    );
  }
  return Object.freeze({ kind: "optional", of });
}

function enumeration(source: JsonValue, at: string, parsing: Parsing): Type | undefined {
  if (!Array.isArray(source) || source.length === 0 || !source.every(isText)) {
    return refuse(parsing, "unknown_type", at, "an enum is a list of at least one text");
  }
  const type = enumOf(source);
  return type.values.length === source.length
    ? type
    : refuse(parsing, "unknown_type", at, "an enum lists every text once");
}

function record(
  source: { readonly [key: string]: JsonValue },
  at: string,
  depth: number,
  parsing: Parsing,
): Type | undefined {
  const inner = source["record"] ?? null;
  const others = Object.hasOwn(source, "others") ? source["others"] : "refuse";
  if (others !== "refuse" && others !== "ignore") {
    return refuse(parsing, "unknown_type", at, 'others is "ignore" or "refuse"');
  }
  if (!isJsonObject(inner)) {
    return refuse(parsing, "unknown_type", at, "a record is an object of field types");
  }
  const fields: [string, Type][] = [];
  let complete = true;
  for (const name of Object.keys(inner)) {
    const place = `${at}/record${pointer(name)}`;
    const field = parse(inner[name] ?? null, place, depth + 1, parsing);
    if (field === undefined) complete = false;
    else fields.push([name, field]);
  }
  return complete ? recordOf(fields, others) : undefined;
}

/** Names make small documents with large types possible, so the resolved type is measured. */
function bounded(type: Type | undefined, at: string, report: Report): Type | undefined {
  if (type === undefined) return undefined;
  const extent = typeExtent(type);
  if (extent.depth > TYPE_LIMITS.depth) {
    const message = `the type nests over ${TYPE_LIMITS.depth} levels when names are resolved`;
    report({ code: "too_deep", pointer: at, message });
    return undefined;
  }
  if (extent.parts > TYPE_LIMITS.parts) {
    const message = `the type has over ${TYPE_LIMITS.parts} parts when names are resolved`;
    report({ code: "limit_exceeded", pointer: at, message });
    return undefined;
  }
  return type;
}

function refuse(
  parsing: Parsing,
  code: DiagnosticCode,
  at: string,
  message: string,
  hint?: string | undefined,
): undefined {
  parsing.report(
    hint === undefined ? { code, pointer: at, message } : { code, pointer: at, message, hint },
  );
  return undefined;
}

function isText(value: JsonValue): value is string {
  return typeof value === "string";
}

function shown(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 60)}..`);
}
