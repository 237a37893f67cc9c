/**
 * What may be said about a provider in errors and traces: a short text with no key in it, whatever the provider echoed.
 */

/** A text of at most `MESSAGE_LENGTH` units without control characters and without any part of a key. */
export type Shown = (text: string) => string;

const MESSAGE_LENGTH = 300;
/** A provider that quotes a key may cut it: so much of one in a row counts as the key. */
const PART = 6;
const HIDDEN = "[key]";

export function showing(secrets: readonly string[]): Shown {
  const hide = hiding(secrets);
  return (text) =>
    bounded(
      hide(text.slice(0, 8 * MESSAGE_LENGTH))
        .replace(/\p{C}+/gu, "\ufffd")
        .replace(/\s+/g, " ")
        .trim(),
    );
}

/** The text without any part of a key, and else as it is. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const whole = secrets.filter((secret) => secret.length > 0).flatMap(formsOf);
  const parts = new Set(whole.flatMap(partsOf));
  const short = whole.filter((form) => form.length < PART && form.length > 2);
  return (text) =>
    short.reduce((rest, form) => rest.replaceAll(form, HIDDEN), withoutParts(text, parts));
}

/** How a provider that repeats a key is likely to write it. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString("base64"),
    bytes.toString("base64url"),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
}

function partsOf(form: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at + PART <= form.length; at += 1) parts.push(form.slice(at, at + PART));
  return parts;
}

function withoutParts(text: string, parts: ReadonlySet<string>): string {
  if (parts.size === 0) return text;
  let shown = "";
  let copied = 0;
  let end = -1;
  for (let at = 0; at + PART <= text.length; at += 1) {
    if (!parts.has(text.slice(at, at + PART))) continue;
    if (at > end) {
      shown += text.slice(copied, at) + HIDDEN;
    }
    end = at + PART;
    copied = end;
  }
  return shown + text.slice(copied);
}

/** Never half a character. */
function bounded(text: string): string {
  if (text.length <= MESSAGE_LENGTH) return text;
  const cut = text.slice(0, MESSAGE_LENGTH - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
