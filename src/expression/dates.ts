/**
 * Dates and timestamps of the proleptic Gregorian calendar, years 1 to 9999, without `Date` where its leniency could
 * leak in. A date is its text, so text order is date order; a timestamp is milliseconds since 1970 UTC.
 */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const DAY_MS = 86_400_000;
const MIN_DAY = -719_162;
const MAX_DAY = 2_932_896;
/** 0001-01-01T00:00:00Z and the end of 9999. */
const MIN_MS = MIN_DAY * DAY_MS;
const MAX_MS = (MAX_DAY + 1) * DAY_MS - 1;

export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** True when the text is a date that exists. */
export function isDate(text: string): boolean {
  return partsOf(text) !== undefined;
}

function partsOf(text: string): CalendarDay | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  const exists =
    year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  return exists ? { year, month, day } : undefined;
}

/** The parts of a date that is known to exist. */
export function calendarDay(date: string): CalendarDay {
  return {
    year: Number(date.slice(0, 4)),
    month: Number(date.slice(5, 7)),
    day: Number(date.slice(8, 10)),
  };
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

/** Days since 1970-01-01, in whole eras of 400 years that begin in March, so that leap days come last. */
export function dayNumber({ year, month, day }: CalendarDay): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + dayOfEra + dayOfYear - 719_468;
}

/** The date of a day number, or undefined outside years 1 to 9999. */
export function dateOfDay(days: number): string | undefined {
  if (days < MIN_DAY || days > MAX_DAY) return undefined;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return dateText({ year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day });
}

export function dateText({ year, month, day }: CalendarDay): string {
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
}

/**
 * The date `months` and then `days` later, the day cut to the last of its month in between; undefined when a step
 * leaves years 1 to 9999.
 */
export function addToDate(date: string, months: bigint, days: bigint): string | undefined {
  let parts = calendarDay(date);
  if (months !== 0n) {
    const count = BigInt(parts.year) * 12n + BigInt(parts.month - 1) + months;
    if (count < 12n || count >= 120_000n) return undefined;
    const year = Math.floor(Number(count) / 12);
    const month = (Number(count) % 12) + 1;
    parts = { year, month, day: Math.min(parts.day, daysInMonth(year, month)) };
  }
  if (days === 0n) return dateText(parts);
  const moved = BigInt(dayNumber(parts)) + days;
  return moved < MIN_DAY || moved > MAX_DAY ? undefined : dateOfDay(Number(moved));
}

/**
 * Milliseconds since 1970 UTC of an RFC 3339 text with any offset and at most three fraction digits; undefined for
 * anything else, for second 60, and for what falls outside years 1 to 9999 in UTC.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, date = "", hour, minute, second, fraction = "", sign, offsetHour, offsetMinute] = match;
  const day = partsOf(date);
  if (day === undefined) return undefined;
  const clock = [Number(hour), Number(minute), Number(second)] as const;
  if (clock[0] > 23 || clock[1] > 59 || clock[2] > 59) return undefined;
  const offset = [Number(offsetHour ?? 0), Number(offsetMinute ?? 0)] as const;
  if (offset[0] > 23 || offset[1] > 59) return undefined;
  const east = (offset[0] * 60 + offset[1]) * (sign === "-" ? -1 : 1);
  const minutes = clock[0] * 60 + clock[1] - east;
  const ms =
    dayNumber(day) * DAY_MS + minutes * 60_000 + clock[2] * 1000 + Number(fraction.padEnd(3, "0"));
  return ms < MIN_MS || ms > MAX_MS ? undefined : ms;
}

/** UTC, with three more digits only where they are not all zero. */
export function timestampText(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const rest = ms - day * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const fraction = rest % 1000;
  const clock = time.map((part) => digits(part, 2)).join(":");
  return `${dateOfDay(day) ?? ""}T${clock}${fraction === 0 ? "" : `.${digits(fraction, 3)}`}Z`;
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
