/**
 * Values in messages: short, on one line, and never a secret. Containers are shown as their shape; a text is left out
 * when it looks like a credential or stands under a name that says so.
 */
import type { JsonValue } from "../base/json.ts";
import type { Value } from "../model/value.ts";

const SHOWN_UNITS = 32;
const SHOWN_DIGITS = 24;
const SECRET_NAME =
  /pass(?:word|wd|phrase)?|secret|token|credential|api_?key|private|authorization|cookie|session|signature|\bpin\b|\bcvv\b|iban|ssn/i;

/** A value of a computation, whatever its type. */
export function show(value: Value | undefined, under: readonly string[] = []): string {
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
    case "number":
      return showDigits(String(value));
    case "string":
      return under.some((name) => SECRET_NAME.test(name)) ? hidden(value) : showText(value);
    default:
      if (value === null) return "null";
      if (Array.isArray(value)) return `a list of ${value.length}`;
      if (value instanceof Map) return `a dictionary of ${value.size}`;
      return `an object of ${Object.keys(value).length}`;
  }
}

/** A JSON value, by the same rules. */
export function showJson(value: JsonValue, under: readonly string[] = []): string {
  return show(value, under);
}

function showDigits(digits: string): string {
  if (digits.length <= SHOWN_DIGITS) return digits;
  return `${digits.slice(0, SHOWN_DIGITS)}.. (${digits.length} digits)`;
}

export function showText(text: string): string {
  if (looksSecret(text)) return hidden(text);
  const cut = text.length <= SHOWN_UNITS ? text : wholeCharacters(text.slice(0, SHOWN_UNITS));
  const quoted = JSON.stringify(cut).replace(UNSEEN, escapeUnit);
  return cut === text ? quoted : `${quoted}.. (${text.length} units)`;
}

/** Line separators, bidirectional marks and other characters that a terminal would act on or hide. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Long, unbroken, letters and digits mixed: keys and tokens look like this, names and sentences do not. */
function looksSecret(text: string): boolean {
  if (text.length < 20 || text.length > 4096 || /\s/.test(text)) return false;
  if (/^[\d:.TZ+-]+$/.test(text)) return false;
  return (
    /[A-Za-z]/.test(text) && /\d/.test(text) && !/^[a-z]+(?:[-_/.][a-z]+)*[-_/.]?\d+$/.test(text)
  );
}

function hidden(text: string): string {
  return `a text of ${text.length} units (hidden)`;
}

function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
