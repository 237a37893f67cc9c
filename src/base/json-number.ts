/** Which number texts are taken as numbers. A number is taken exactly as written or not at all. */

/** The value, or why the text is refused. */
export type NumberReading = number | string;

const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** Reads the text of a JSON number (already checked against the grammar) as a safe integer in canonical form. */
export function readSafeInteger(text: string): NumberReading {
  const value = Number(text);
  if (CANONICAL_INTEGER.test(text)) {
    if (Number.isSafeInteger(value)) return value;
    return `${shown(text)} is beyond the safe integers (9007199254740991); write it as text`;
  }
  if (Number.isSafeInteger(value) && decimalOf(text) === decimalOf(String(value))) {
    return `${shown(text)} must be written ${value === 0 ? "0" : String(value)}`;
  }
  if (!Number.isFinite(value)) return `${shown(text)} is beyond the range of numbers`;
  return `${shown(text)} is not an integer here; write it as text`;
}

/**
 * Reads the text of a JSON number as a finite double, when it denotes exactly the shortest decimal of that double:
 * `1.50` and `1e2` are read, `9007199254740993` and `1e400` are refused. `-0` is read as 0: both texts denote zero, and
 * the canonical form knows no other zero.
 */
export function readFinite(text: string): NumberReading {
  const value = Number(text);
  const shortest = String(value);
  if (shortest === text) return value;
  if (!Number.isFinite(value)) return `${shown(text)} is beyond the range of numbers`;
  if (decimalOf(text) !== decimalOf(shortest)) {
    return `${shown(text)} would be rounded to ${shortest}; write it as text`;
  }
  return value === 0 ? 0 : value;
}

/** One text per decimal value: sign, significant digits, exponent of the last digit. Zero has no sign. */
function decimalOf(text: string): string {
  const negative = text.startsWith("-");
  const [mantissa = "", exponentText = "0"] = text.slice(negative ? 1 : 0).split(/[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = whole + fraction;
  let from = 0;
  let to = all.length;
  while (from < to && all.charCodeAt(from) === 0x30) from += 1;
  while (to > from && all.charCodeAt(to - 1) === 0x30) to -= 1;
  if (from === to) return "0";
  const exponent = Number(exponentText) - fraction.length + (all.length - to);
  return `${negative ? "-" : ""}${all.slice(from, to)}e${exponent}`;
}

function shown(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 30)}.. (${text.length} characters)`;
}
