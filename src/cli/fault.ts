import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { ERROR_CODES } from "../model/codes.ts";
import type { ExitName } from "../model/stop.ts";

/** A problem of what the user gave, ready to be told: what it is, and in `hint` what to do next. */
export function fault(
  code: string,
  message: string,
  hint?: string,
  more: { readonly [key: string]: JsonValue } = {},
): RoteError {
  return new RoteError(code, message, hint === undefined ? more : { hint, ...more });
}

/** A command line that parses but says something that cannot be meant. */
export function usageFault(message: string, hint?: string): RoteError {
  return fault("bad_usage", message, hint);
}

/** An error as it is told to the user. */
export interface Failure {
  readonly exit: ExitName;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  /** Text for people between message and hint: a list of problems with source. */
  readonly details: string | null;
  /** Everything else the error carries; machine-readable, free of secrets. */
  readonly data: { readonly [key: string]: JsonValue };
}

const EXITS: { readonly [code: string]: ExitName } = {
  bad_usage: "usage",
  not_qualified: "denied",
  environment_changed: "denied",
  approval_refused: "denied",
  reconciliation_refused: "denied",
  trust_refused: "denied",
  user_cancelled: "cancelled",
  internal_error: "internal",
};

/** What to do next, in terms of this command, for errors of the library that do not say it. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["bad_input", "give --input name=value for each, or --inputs FILE; `rote check` lists them"],
  [
    "environment_changed",
    "bind the recipe to the present one with `rote bind`; it has to qualify again",
  ],
  ["host_required", "name the module that describes the host with --host FILE"],
  ["journal_required", "name the module that describes the host with --host FILE"],
  ["run_busy", "wait until that process is done with it, or end that process"],
  ["lease_lost", "`rote runs show` tells what the other process does with it"],
]);

function hintFor(code: string, given: JsonValue | undefined): string | null {
  // The library's own hint is a method that the command line does not have.
  if (code === "store_missing")
    return "`rote run .. --memory DIRECTORY --phase training` makes one";
  const store = code.startsWith("store_") || code === "disk_full";
  const doctor = store ? "`rote doctor DIRECTORY` looks at the disk and at the files" : null;
  return textOf(given) ?? HINTS.get(code) ?? doctor ?? listedTodo(code);
}

function listedTodo(code: string): string | null {
  const listed = Object.entries(ERROR_CODES).find(([name]) => name === code);
  return listed === undefined ? null : listed[1].todo;
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/**
 * Tells any thrown value. A `RoteError` or a refusal by the operating system is a problem of what was given; anything
 * else is a fault of ours and says how to report it.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof RoteError) {
    const { hint, details, ...data } = error.data;
    return {
      exit: EXITS[error.code] ?? "problem",
      code: error.code,
      message: error.message,
      hint: details === undefined ? hintFor(error.code, hint) : textOf(hint),
      details: textOf(details),
      data,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && "syscall" in error) {
    return { exit: "problem", code: "system_error", message, hint: null, details: null, data: {} };
  }
  return {
    exit: "internal",
    code: "internal_error",
    message: `this is a fault of rote, not of what you gave it: ${message}`,
    hint: "run it again with ROTE_DEBUG=1 and report what it prints together with `rote doctor --json`",
    details: null,
    data: {},
  };
}
