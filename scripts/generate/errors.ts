import { ERROR_CODES } from "../../src/model/codes.ts";
import { code, GENERATED, markdownTable } from "../markdown.ts";

/** docs/errors.md from the closed list of error codes. */
export function outputs(): ReadonlyMap<string, string> {
  const rows = Object.entries(ERROR_CODES)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, { meaning, todo }]) => [code(name), meaning, todo]);
  const text = [
    GENERATED,
    "",
    "# Errors",
    "",
    "The closed list of `src/model/codes.ts`: every code that a `RoteError` can carry. Match `error.code`, never the",
    "message; `error.data` carries the details. How a run ends is no error: see [states.md](states.md).",
    "",
    markdownTable(["code", "meaning", "what to do"], rows),
    "",
  ].join("\n");
  return new Map([["docs/errors.md", text]]);
}
