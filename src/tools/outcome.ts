/** How an adapter says what became of a call, and how it breaks without saying too much. */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { shortened } from "../base/text.ts";
import type { ToolOutcome } from "../ports/tool.ts";

/** Messages end up in receipts, which are small and kept for ever. */
const MESSAGE_LENGTH = 300;

/** `notApplied` and `refusal` make these; an instance, since no result of a tool can be mistaken for one. */
export class Declared extends Error {
  override readonly name = "Declared";
  readonly outcome: ToolOutcome;

  constructor(outcome: ToolOutcome & { readonly message: string }) {
    super(outcome.message);
    this.outcome = outcome;
  }
}

/**
 * The tool's own word that nothing happened at the target. To be thrown or returned by a function that knows it; an
 * effect then counts as failed before it began, and may be asked for again.
 *
 * `code` is one word of letters, digits and `. _ : / -`.
 */
export function notApplied(code: string, message: string): Declared {
  return new Declared({ kind: "not_applied", code: checkCode(code), message: bounded(message) });
}

/** The target's answer is no, and nothing was changed: not found, already closed. To be thrown or returned. */
export function refusal(code: string, message: string): Declared {
  return new Declared({ kind: "refused", code: checkCode(code), message: bounded(message) });
}

export function done(result: JsonValue): ToolOutcome {
  return { kind: "done", result };
}

/** As `refusal`, by an adapter of ours. */
export function refused(code: string, message: string): ToolOutcome {
  return { kind: "refused", code, message: bounded(message) };
}

/** As `notApplied`, by an adapter of ours. */
export function nothingDone(code: string, message: string): ToolOutcome {
  return { kind: "not_applied", code, message: bounded(message) };
}

export const CANCELLED: ToolOutcome = {
  kind: "not_applied",
  code: "cancelled",
  message: "cancelled before anything was sent",
};

/** The gate asks `fault` before; who calls a tool without asking is told the same. */
export function badArguments(fault: string): ToolOutcome {
  return nothingDone("tool_arguments_invalid", fault);
}

/**
 * A break-down that leaves open what happened. The cause is kept for the application's log; its text is not repeated,
 * since it may hold what nobody meant to record.
 */
export class ToolBroke extends Error {
  override readonly name = "ToolBroke";
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(bounded(message), { cause });
    this.code = code;
  }
}

export function broke(code: string, message: string, cause?: unknown): ToolBroke {
  return new ToolBroke(code, message, cause);
}

/** The kind of an error and its code where that is one word: enough to search for, and never its text. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "something that is not an Error";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const word = /^[A-Za-z0-9_.-]{1,60}$/;
  const name = word.test(error.name) ? error.name : "Error";
  return word.test(code) ? `${name} ${code}` : name;
}

export function bounded(text: string): string {
  return shortened(text, MESSAGE_LENGTH);
}

function checkCode(code: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(code)) return code;
  throw new RoteError("bad_tool", `${JSON.stringify(bounded(code))} is no code of a refusal`);
}
