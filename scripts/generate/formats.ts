import { FINDING_CODES } from "../../src/audit/index.ts";
import { compareText } from "../../src/base/text.ts";
import type { Outputs } from "../generate.ts";
import { code, markdownTable, withGeneratedPart } from "../markdown.ts";

/** The closed list of what an audit can find, inside of docs/formats.md. */
export function outputs(): Outputs {
  const rows = Object.entries(FINDING_CODES)
    .sort(([left], [right]) => compareText(left, right))
    .map(([name, { severity, meaning, todo }]) => [code(name), severity, meaning, todo]);
  const table = markdownTable(["code", "severity", "meaning", "what to do"], rows);
  return new Map([["docs/formats.md", withGeneratedPart("docs/formats.md", "findings", table)]]);
}
