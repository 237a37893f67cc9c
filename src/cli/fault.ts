import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
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
  user_cancelled: "cancelled",
};

/**
 * Tells any thrown value. Only `RoteError` is a problem of what was given; anything else is a fault of ours and
 * says how to report it.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof RoteError) {
    const { hint, details, ...data } = error.data;
    return {
      exit: EXITS[error.code] ?? "problem",
      code: error.code,
      message: error.message,
      hint: typeof hint === "string" ? hint : null,
      details: typeof details === "string" ? details : null,
      data,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    exit: "internal",
    code: "internal_error",
    message: `this is a fault of rote, not of what you gave it: ${message}`,
    hint: "run it again with ROTE_DEBUG=1 and report what it prints together with `rote doctor --json`",
    details: null,
    data: {},
  };
}
