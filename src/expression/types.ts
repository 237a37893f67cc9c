/** Making and describing types. Relations between them are in type-relations.ts. */
import { assertNever } from "../base/assert.ts";
import type { JsonValue } from "../base/json.ts";
import { compareText } from "../base/text.ts";
import type { Type } from "../model/type.ts";

export type TypeOf<Kind extends Type["kind"]> = Extract<Type, { readonly kind: Kind }>;

export const NULL: Type = Object.freeze({ kind: "null" });
export const BOOLEAN: Type = Object.freeze({ kind: "boolean" });
export const INTEGER: Type = Object.freeze({ kind: "integer" });
export const TEXT: Type = Object.freeze({ kind: "text" });
export const DATE: Type = Object.freeze({ kind: "date" });
export const TIMESTAMP: Type = Object.freeze({ kind: "timestamp" });
export const JSON_TYPE: Type = Object.freeze({ kind: "json" });
export const NOTHING: Type = Object.freeze({ kind: "nothing" });

export function listOf(of: Type): TypeOf<"list"> {
  return Object.freeze({ kind: "list", of });
}

export function dictionaryOf(of: Type): TypeOf<"dictionary"> {
  return Object.freeze({ kind: "dictionary", of });
}

/** `T?`. Already optional types stay as they are; an optional of nothing has only the value null. */
export function optionalOf(of: Type): Type {
  if (of.kind === "optional" || of.kind === "null") return of;
  return of.kind === "nothing" ? NULL : Object.freeze({ kind: "optional", of });
}

/** The type without its optional: what is left when the value is known not to be null. */
export function presentOf(type: Type): Type {
  if (type.kind === "optional") return type.of;
  return type.kind === "null" ? NOTHING : type;
}

export function isOptional(type: Type): boolean {
  return type.kind === "optional" || type.kind === "null";
}

/** The enum of these texts, in text order and without repeats. */
export function enumOf(values: Iterable<string>): TypeOf<"enum"> {
  return Object.freeze({
    kind: "enum",
    values: Object.freeze([...new Set(values)].sort(compareText)),
  });
}

/** The record with these fields, in text order. */
export function recordOf(
  fields: Iterable<readonly [string, Type]>,
  others: "refuse" | "ignore" = "refuse",
): TypeOf<"record"> {
  const sorted = [...fields].sort(([left], [right]) => compareText(left, right));
  return Object.freeze({ kind: "record", fields: new Map(sorted), others });
}

/** What a value has once it was read: without reading rules (`decimal`, `others`). */
export function valueType(type: Type): Type {
  switch (type.kind) {
    case "decimal":
      return INTEGER;
    case "list":
    case "dictionary":
    case "optional": {
      const of = valueType(type.of);
      return of === type.of ? type : Object.freeze({ kind: type.kind, of });
    }
    case "record": {
      let same = type.others === "refuse";
      const fields: [string, Type][] = [];
      for (const [name, field] of type.fields) {
        const value = valueType(field);
        same &&= value === field;
        fields.push([name, value]);
      }
      return same ? type : recordOf(fields);
    }
    default:
      return type;
  }
}

/** The type as it is written in a document, names resolved. `nothing` cannot be written; it is shown as an empty enum. */
export function typeToJson(type: Type): JsonValue {
  switch (type.kind) {
    case "enum":
      return json({ enum: [...type.values] });
    case "list":
      return json({ list: typeToJson(type.of) });
    case "dictionary":
      return json({ dictionary: typeToJson(type.of) });
    case "optional":
      return json({ optional: typeToJson(type.of) });
    case "decimal":
      return json({ decimal: type.scale });
    case "nothing":
      return json({ enum: [] });
    case "record": {
      const fields: { [name: string]: JsonValue } = Object.create(null);
      for (const [name, field] of type.fields) fields[name] = typeToJson(field);
      return json(
        type.others === "ignore" ? { record: fields, others: "ignore" } : { record: fields },
      );
    }
    case "null":
    case "boolean":
    case "integer":
    case "text":
    case "date":
    case "timestamp":
    case "json":
      return type.kind;
    default:
      return assertNever(type, "type");
  }
}

function json(members: { readonly [key: string]: JsonValue }): JsonValue {
  return Object.assign(Object.create(null), members);
}

const MAX_NAME = 120;

/** The type in words, for messages; cut where it grows long. */
export function typeName(type: Type): string {
  const name = describe(type, 4);
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 2)}..`;
}

function describe(type: Type, levels: number): string {
  if (levels === 0) return "..";
  switch (type.kind) {
    case "enum":
      return `enum ${some(
        type.values.map((text) => JSON.stringify(text.slice(0, 40))),
        " | ",
      )}`;
    case "list":
      return `list of ${describe(type.of, levels - 1)}`;
    case "dictionary":
      return `dictionary of ${describe(type.of, levels - 1)}`;
    case "optional":
      return `optional ${describe(type.of, levels - 1)}`;
    case "decimal":
      return `decimal with ${type.scale} places`;
    case "record": {
      const fields = [...type.fields].slice(0, SHOWN + 1);
      return `record {${some(
        fields.map(([name, field]) => `${name.slice(0, 40)}: ${describe(field, levels - 1)}`),
        ", ",
      )}}`;
    }
    default:
      return type.kind;
  }
}

const SHOWN = 6;

function some(parts: readonly string[], separator: string): string {
  const shown = parts.slice(0, SHOWN).join(separator);
  return parts.length <= SHOWN ? shown : `${shown}${separator}..`;
}
