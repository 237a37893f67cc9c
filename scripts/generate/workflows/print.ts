/** JSON as the formatter of this repository leaves it: on one line where that fits, else a line for each member. */
import { isJsonArray, type JsonValue } from "../../../src/base/json.ts";

const WIDTH = 100;

export function printed(document: JsonValue): string {
  return `${lines(document, 0, 0)}\n`;
}

/** `taken`: letters that stand on the line already, and behind the value. */
function lines(value: JsonValue, indent: number, taken: number): string {
  const flat = onOneLine(value);
  if (value === null || typeof value !== "object") return flat;
  if (indent > 0 && indent + taken + flat.length <= WIDTH) return flat;
  const inner = indent + 2;
  const isArray = isJsonArray(value);
  const parts = isArray
    ? value.map((one, at, { length }) => lines(one, inner, comma(at, length)))
    : Object.entries(value).map(([name, one], at, { length }) => {
        const key = `${JSON.stringify(name)}: `;
        return key + lines(one, inner, key.length + comma(at, length));
      });
  if (parts.length === 0) return flat;
  const margin = " ".repeat(inner);
  const body = parts.map((part) => `${margin}${part}`).join(",\n");
  const close = `\n${" ".repeat(indent)}`;
  return isArray ? `[\n${body}${close}]` : `{\n${body}${close}}`;
}

function comma(at: number, length: number): number {
  return at < length - 1 ? 1 : 0;
}

function onOneLine(value: JsonValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${onOneLine(one)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
