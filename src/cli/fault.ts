import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { nearest } from "../base/text.ts";
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

/** The hint for a word that is none of the known ones: the nearest of these, else `otherwise`. */
export function meantHint(word: string, known: readonly string[], otherwise: string): string {
  const meant = nearest(word, known);
  return meant === undefined ? otherwise : `did you mean ${meant}?`;
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
  ["run_busy", "wait until that process is done with it, or end it: where it stands is kept"],
  ["lease_lost", "`rote runs show` tells what the other process does with it"],
]);

const STORES =
  "check the path; `rote run .. --memory DIRECTORY --phase training` makes a memory, and a host makes its store when it is first opened";

const LISTED =
  "sign with the key file of an approver; `rote keys show` of the trust store lists them";
const WAITING = "`rote approvals list` shows what waits";
const OF_KEYS = {
  expired: "the key is past its date: the trust store's owner lists another",
  not_yet_valid: "the key is not good yet: look at its dates with `rote keys show`",
  revoked: "the key is revoked: the trust store's owner lists another",
};
const RECONCILER =
  "sign with the key file of a reconciler; `rote keys show` of the trust store lists them";
const KEPT = "take the trust store of this host, in the version that its owner hands out";
const WRITTEN = "a trust store is what `rote keys enrol` writes";

/** The same where a code alone does not say it, by the fault that comes with it. */
const FAULTS: { readonly [code: string]: { readonly [fault: string]: string } } = {
  approval_refused: {
    already_decided:
      "`rote approvals show` tells what was decided; `rote runs resume` moves the run on",
    approval_expired: "sign again: the time that the signature was good for is over",
    ...OF_KEYS,
    no_pending_request: WAITING,
    request_expired: "a new run makes a new request",
    requester_may_not_approve: "somebody else than who asked has to approve",
    unknown_key: LISTED,
    wrong_approver: "give the name under which the key is listed with --as",
    wrong_role: LISTED,
  },
  reconciliation_refused: {
    ...OF_KEYS,
    unknown_key: RECONCILER,
    wrong_role: RECONCILER,
  },
  trust_refused: {
    foreign_root: "sign with keys of its root and no others: `rote keys show` of it lists them",
    malformed_document: WRITTEN,
    malformed_envelope: WRITTEN,
    repeated_key:
      "a key is listed once, for one holder in one role: `rote keys show` tells for whom",
    threshold_not_met: KEPT,
    unknown_key: KEPT,
    wrong_audience: KEPT,
    wrong_payload_type: WRITTEN,
    wrong_version: "versions follow one another: have the host opened with the one before it first",
  },
};

function hintFor(
  code: string,
  given: JsonValue | undefined,
  fault: JsonValue | undefined,
): string | null {
  // The library's own hints are methods that the command line does not have.
  if (code === "store_missing") return STORES;
  const faulty = FAULTS[code]?.[textOf(fault) ?? ""];
  if (faulty !== undefined) return faulty;
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
      hint: details === undefined ? hintFor(error.code, hint, data["fault"]) : textOf(hint),
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
