/**
 * What a procedure's type looks like as JSON Schema, for the model that is to answer. It guides the model; what the answer
 * is worth is decided where it is read, by the type.
 */
import { isJsonObject, type JsonValue, type JsonObject as Schema } from "../base/json.ts";

const INTEGER: Schema = {
  type: "string",
  pattern: "^(0|-?[1-9][0-9]*)$",
  description: "an integer in decimal digits",
};

const NAMED: { readonly [name: string]: Schema } = {
  null: { type: "null" },
  boolean: { type: "boolean" },
  integer: INTEGER,
  text: { type: "string" },
  date: { type: "string", format: "date" },
  timestamp: { type: "string", format: "date-time" },
  json: {},
};

/** `type` in its JSON form, names resolved. An object around it, since providers take nothing else at the top. */
export function answerSchema(type: JsonValue): JsonValue {
  return objectOf({ answer: schemaOf(type) });
}

function schemaOf(type: JsonValue | undefined): Schema {
  if (typeof type === "string") return NAMED[type] ?? {};
  if (!isJsonObject(type)) return {};
  const { enum: texts, list, record, dictionary, optional, decimal } = type;
  if (texts !== undefined) return { type: "string", enum: texts };
  if (list !== undefined) return { type: "array", items: schemaOf(list) };
  if (isJsonObject(record)) {
    return objectOf(
      Object.fromEntries(Object.entries(record).map(([name, member]) => [name, schemaOf(member)])),
    );
  }
  if (dictionary !== undefined) {
    return { type: "object", additionalProperties: schemaOf(dictionary) };
  }
  if (optional !== undefined) return { anyOf: [schemaOf(optional), { type: "null" }] };
  if (decimal !== undefined) return { type: "string", description: "a decimal number, like 12.50" };
  return {};
}

/** All members are asked for: what may be missing is null. */
function objectOf(properties: { readonly [name: string]: Schema }): Schema {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}
