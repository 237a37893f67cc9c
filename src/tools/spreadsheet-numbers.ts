/**
 * Numbers and dates of cells as text. A spreadsheet keeps doubles; nothing here calculates with one unless a date has
 * to be worked out, which is whole milliseconds.
 */

/** Digits before and after the point, and the power of ten. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
/** A double has no more, so a text that is longer than this says nothing more. */
const MAX_DIGITS = 340;

/**
 * The decimal number of a cell, without exponent and needless zeros; undefined for what is no number.
 *
 * Spreadsheet programs write 16.85 with the 17 digits of its double, 16.850000000000001. A fraction of 16 or 17 digits
 * is therefore taken for the shortest number that has the same double; everything else is as it stands.
 */
export function numberText(stored: string): string | undefined {
  const read = NUMBER.exec(stored.trim());
  if (read === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = read;
  if (whole.length + fraction.length > MAX_DIGITS) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const point = whole.length + Number(exponent);
  const significant = digits.replace(/0+$/, "").length;
  const isWhole = fraction.length <= Number(exponent);
  if (!isWhole && (significant === 16 || significant === 17)) {
    const shortest = NUMBER.exec(String(Math.abs(Number(stored))));
    if (shortest !== null) {
      const [, , w = "", f = "", e = "0"] = shortest;
      return plain(sign, `${w}${f}`, w.length + Number(e));
    }
  }
  return plain(sign, `${whole}${fraction}`, point);
}

function plain(sign: string, digits: string, point: number): string | undefined {
  if (Math.abs(point) > MAX_DIGITS) return undefined;
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits.padEnd(point, "0");
  const at = Math.max(point, 1);
  const whole = padded.slice(0, at).replace(/^0+(?=\d)/, "");
  const fraction = padded.slice(at).replace(/0+$/, "");
  const text = fraction === "" ? whole : `${whole}.${fraction}`;
  return text === "0" ? "0" : sign + text;
}

export interface Moment {
  readonly kind: "date" | "time";
  /** `2024-02-29`, `2024-02-29T10:30:00`, `10:30:00`, with thousandths where there are any. */
  readonly value: string;
}

const DAY = 86_400_000;

/** What a serial number says where its format is one of dates; undefined where it names no day that there is. */
export function momentOf(stored: string, from1904: boolean): Moment | undefined {
  const serial = Number(stored);
  if (!Number.isFinite(serial) || serial < 0) return undefined;
  const milliseconds = Math.round(serial * DAY);
  if (milliseconds < DAY) {
    return { kind: "time", value: clockOf(new Date(milliseconds)) };
  }
  const day = Math.floor(milliseconds / DAY);
  // Serial 60 is 29 February 1900, which never was: programs keep it for agreement with an older one.
  if (!from1904 && day === 60) return undefined;
  const days = from1904 ? day - 24_107 : day < 60 ? day - 25_568 : day - 25_569;
  const date = new Date(days * DAY + (milliseconds % DAY));
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return undefined;
  const calendar = date.toISOString().slice(0, 10);
  const value = milliseconds % DAY === 0 ? calendar : `${calendar}T${clockOf(date)}`;
  return { kind: "date", value };
}

function clockOf(date: Date): string {
  const clock = date.toISOString().slice(11, 23);
  return clock.endsWith(".000") ? clock.slice(0, 8) : clock;
}

/** Numbers of formats that every spreadsheet program has without naming them. */
function isBuiltIn(format: number): boolean {
  if (format >= 14 && format <= 22) return true;
  return (format >= 27 && format <= 36) || format === 45 || (format >= 50 && format <= 58);
}

/**
 * Whether a number format shows a day or a time of day. Elapsed time, `[h]:mm`, is a number.
 *
 * What a quote or a bracket opens and nothing closes reaches to the end, so that no text is looked through twice.
 */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return isBuiltIn(id);
  const [section = ""] = code.replaceAll(/"[^"]*(?:"|$)|\\.|_.|\*./g, "").split(";", 1);
  if (/\[(?:h+|m+|s+)\]/i.test(section)) return false;
  const bare = section.replaceAll(/\[[^\]]*(?:\]|$)/g, "");
  return !/general/i.test(bare) && /[dmyhs]/i.test(bare);
}
