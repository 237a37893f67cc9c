/** Calendar arithmetic; the calendar itself is in ../dates.ts. */
import { type Operation, operandOf, typed } from "../checking.ts";
import { addToDate, calendarDay, dateText, dayNumber, daysInMonth } from "../dates.ts";
import { asIntegers, asNumbers, asTexts, fail } from "../frame.ts";
import { DATE, INTEGER, TIMESTAMP } from "../types.ts";

const dateAdd: Operation = (node, checking) => {
  const value = operandOf(node, "value", DATE, checking);
  const months = operandOf(node, "months", INTEGER, checking);
  const days = operandOf(node, "days", INTEGER, checking);
  if (value === undefined) return undefined;
  if (months === undefined && node.operands.has("months")) return undefined;
  if (days === undefined && node.operands.has("days")) return undefined;
  const always = [value, months, days].filter((each) => each !== undefined);
  return typed(node, checking, DATE, always, (lowering, site) => {
    const date = asTexts(value.lower(lowering));
    const byMonths = months === undefined ? () => 0n : asIntegers(months.lower(lowering));
    const byDays = days === undefined ? () => 0n : asIntegers(days.lower(lowering));
    return (frame) => {
      const given = date(frame);
      const moved = addToDate(given, byMonths(frame), byDays(frame));
      if (moved !== undefined) return moved;
      throw fail(frame, site, "out_of_range", `from ${given} it leaves the years 1 to 9999`);
    };
  });
};

const daysBetween: Operation = (node, checking) => {
  const from = operandOf(node, "from", DATE, checking);
  const to = operandOf(node, "to", DATE, checking);
  if (from === undefined || to === undefined) return undefined;
  return typed(node, checking, INTEGER, [from, to], (lowering) => {
    const first = asTexts(from.lower(lowering));
    const last = asTexts(to.lower(lowering));
    return (frame) => {
      const start = dayNumber(calendarDay(first(frame)));
      return BigInt(dayNumber(calendarDay(last(frame))) - start);
    };
  });
};

const secondsBetween: Operation = (node, checking) => {
  const from = operandOf(node, "from", TIMESTAMP, checking);
  const to = operandOf(node, "to", TIMESTAMP, checking);
  if (from === undefined || to === undefined) return undefined;
  return typed(node, checking, INTEGER, [from, to], (lowering) => {
    const first = asNumbers(from.lower(lowering));
    const last = asNumbers(to.lower(lowering));
    return (frame) => {
      const start = first(frame);
      return BigInt(Math.floor((last(frame) - start) / 1000));
    };
  });
};

const monthEnd: Operation = (node, checking) => {
  const value = operandOf(node, "value", DATE, checking);
  if (value === undefined) return undefined;
  return typed(node, checking, DATE, [value], (lowering) => {
    const date = asTexts(value.lower(lowering));
    return (frame) => {
      const { year, month } = calendarDay(date(frame));
      return dateText({ year, month, day: daysInMonth(year, month) });
    };
  });
};

export const dates = {
  date_add: dateAdd,
  days_between: daysBetween,
  seconds_between: secondsBetween,
  month_end: monthEnd,
};
