/** Values -> their JSON form, by type. The inverse of reading by the value type. */
import { assertNever } from "../base/assert.ts";
import { emptyObject, type JsonValue } from "../base/json-value.ts";
import { compareText } from "../base/text.ts";
import type { Type } from "../model/type.ts";
import type { RecordValue, Value } from "../model/value.ts";
import { timestampText } from "./dates.ts";

/**
 * The JSON form of a value of this type: integers as canonical decimal text, timestamps in UTC, null fields of records
 * left out, everything frozen and without prototype. The type must be the value's own (or one that it fits).
 */
export function writeValue(type: Type, value: Value): JsonValue {
  switch (type.kind) {
    case "optional":
      return value === null ? null : writeValue(type.of, value);
    case "null":
      return null;
    case "integer":
    case "decimal":
      return (value as bigint).toString();
    case "timestamp":
      return timestampText(value as number);
    case "boolean":
    case "text":
    case "enum":
    case "date":
    case "json":
      return value as JsonValue;
    case "list":
      return Object.freeze(
        (value as readonly Value[]).map((element) => writeValue(type.of, element)),
      );
    case "dictionary": {
      const json: { [key: string]: JsonValue } = Object.create(null);
      const entries = [...(value as ReadonlyMap<string, Value>)];
      entries.sort(([left], [right]) => compareText(left, right));
      for (const [key, element] of entries) json[key] = writeValue(type.of, element);
      return Object.freeze(json);
    }
    case "record": {
      const json = emptyObject();
      for (const [name, field] of type.fields) {
        const part = (value as RecordValue)[name] ?? null;
        if (part !== null || field.kind !== "optional") json[name] = writeValue(field, part);
      }
      return Object.freeze(json);
    }
    case "nothing":
      return null;
    default:
      return assertNever(type, "type");
  }
}
