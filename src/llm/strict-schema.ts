import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";

/**
 * Whether a provider can hold a model to the schema to the letter: objects say all of their members, none of them left
 * out, and every value has a type. For others it is asked for as well as it can be.
 */
export function isStrictSchema(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false;
  const { anyOf, type } = schema;
  if (isJsonArray(anyOf)) return anyOf.every(isStrictSchema);
  if (type === "object") return isStrictObject(schema);
  if (type === "array") return schema["items"] !== undefined && isStrictSchema(schema["items"]);
  return typeof type === "string";
}

function isStrictObject(schema: JsonObject): boolean {
  const { properties, required, additionalProperties } = schema;
  if (additionalProperties !== false || !isJsonObject(properties) || !isJsonArray(required))
    return false;
  return Object.entries(properties).every(
    ([name, member]) => required.includes(name) && isStrictSchema(member),
  );
}
