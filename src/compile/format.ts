/** Diagnostics as plain text for people, in the manner of rustc. Contains no colour; needs no terminal. */
import type { Diagnostic } from "../model/diagnostic.ts";

export interface FormatOptions {
  /** How the document is called in front of line and column; default `document`. */
  readonly file?: string;
}

/**
 * One block per problem, separated by empty lines:
 *
 * ```text
 * error[unknown_operator]: node "total": no operator "multply"
 *   --> recipe.json:7:31
 *    |
 *  7 |     "step": {"kind": "pure", "value": {"op": "multply", "left": 1, "right": 2}}
 *    |                                       ^
 *    = at /nodes/0/step/value
 *    = hint: did you mean multiply?
 * ```
 *
 * Characters that do not show, or that reorder what stands beside them, are replaced: names and values come from
 * documents, and the text goes to terminals.
 */
export function formatDiagnostics(
  diagnostics: readonly Diagnostic[],
  { file = "document" }: FormatOptions = {},
): string {
  return diagnostics.map((one) => formatOne(one, file)).join("\n\n");
}

function formatOne(diagnostic: Diagnostic, file: string): string {
  const { code, pointer, message, hint, line, column, excerpt, caret, related } = diagnostic;
  const lines = [`error[${code}]: ${message}`];
  const located = line !== undefined && column !== undefined;
  lines.push(located ? `  --> ${file}:${line}:${column}` : `  --> ${file}`);
  const gutter = " ".repeat(located ? String(line).length + 1 : 2);
  if (located && excerpt !== undefined && caret !== undefined) {
    lines.push(`${gutter} |`);
    lines.push(` ${line} | ${excerpt}`);
    lines.push(`${gutter} | ${" ".repeat(caret)}^`);
  }
  if (pointer !== "") lines.push(`${gutter} = at ${pointer}`);
  for (const other of (related ?? []).slice(0, MOST_RELATED))
    lines.push(`${gutter} = see ${other}`);
  if (hint !== undefined) lines.push(`${gutter} = hint: ${hint}`);
  return lines.map(shown).join("\n");
}

const MOST_RELATED = 5;

const UNSHOWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be found
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function shown(line: string): string {
  return line.replace(UNSHOWN, "\ufffd");
}
