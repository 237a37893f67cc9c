/** JSON Pointers (RFC 6901), for reading only: own members and canonical indexes, nothing inherited. */
import { isJsonArray, type JsonValue } from "./json-value.ts";

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;
const BAD_ESCAPE = /~(?![01])/;

/** The reference tokens of a pointer, unescaped; undefined when the text is not a pointer. `""` is the whole document. */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || BAD_ESCAPE.test(text)) return undefined;
  const tokens = text.slice(1).split("/");
  return text.includes("~") ? tokens.map(unescapeToken) : tokens;
}

/** The pointer made of these tokens, each escaped. */
export function pointer(...tokens: readonly (string | number)[]): string {
  let text = "";
  for (const token of tokens) text += `/${escapeToken(String(token))}`;
  return text;
}

/**
 * The value that the tokens lead to, or undefined when there is none. Only own members are followed, and a list only
 * by the canonical text of an index within it: never `length`, `01`, `-` or `constructor`.
 */
export function readPointer(value: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const token of tokens) {
    if (typeof current !== "object" || current === null) return undefined;
    if (isJsonArray(current)) {
      if (!INDEX.test(token)) return undefined;
      current = current[Number(token)];
    } else {
      if (!Object.hasOwn(current, token)) return undefined;
      current = current[token];
    }
    if (current === undefined) return undefined;
  }
  return current;
}

function escapeToken(token: string): string {
  if (!token.includes("~") && !token.includes("/")) return token;
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapeToken(token: string): string {
  // ~1 first: "~01" is the two characters "~1".
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
