import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addToDate,
  calendarDay,
  dateOfDay,
  dayNumber,
  parseTimestamp,
  timestampText,
} from "../../../src/expression/dates.ts";
import { codes, failed, literal, result } from "../../support/expressions.ts";

const date = (value: string) => literal(value, "date");
const time = (value: string) => literal(value, "timestamp");

describe("date_add", () => {
  test.each([
    ["2026-01-31", { months: 1 }, "2026-02-28"],
    ["2024-01-31", { months: 1 }, "2024-02-29"],
    ["2024-02-29", { months: 12 }, "2025-02-28"],
    ["2024-02-29", { months: 48 }, "2028-02-29"],
    ["2026-03-31", { months: -1 }, "2026-02-28"],
    ["2026-01-15", { months: -1 }, "2025-12-15"],
    ["2026-12-15", { months: 1 }, "2027-01-15"],
    ["2026-01-31", { months: 1, days: 1 }, "2026-03-01"],
    ["2026-03-01", { days: -1 }, "2026-02-28"],
    ["2000-03-01", { days: -1 }, "2000-02-29"],
    ["1900-03-01", { days: -1 }, "1900-02-28"],
    ["1970-01-01", { days: -1 }, "1969-12-31"],
    ["0001-01-01", { days: 3652058 }, "9999-12-31"],
    ["9999-12-31", { days: -3652058 }, "0001-01-01"],
    ["2026-08-18", {}, "2026-08-18"],
    ["2026-08-18", { months: 0, days: 0 }, "2026-08-18"],
  ])("%s and %j is %s", (value, by, expected) => {
    expect(result({ op: "date_add", value: date(value), ...by })).toBe(expected);
  });

  test.each([
    ["9999-12-31", { days: 1 }],
    ["0001-01-01", { days: -1 }],
    ["9999-12-01", { months: 1 }],
    ["0001-01-31", { months: -1 }],
    ["9999-12-01", { months: 1, days: -40 }],
    ["2026-01-01", { days: literal("99999999999999999999", "integer") }],
    ["2026-01-01", { months: literal("-99999999999999999999", "integer") }],
  ])("%s and %j leaves the calendar", (value, by) => {
    expect(failed({ op: "date_add", value: date(value), ...by }).code).toBe("out_of_range");
  });
});

describe("days_between, seconds_between, month_end", () => {
  test.each([
    ["2026-01-01", "2026-03-01", "59"],
    ["2024-01-01", "2024-03-01", "60"],
    ["2026-03-01", "2026-01-01", "-59"],
    ["2026-03-01", "2026-03-01", "0"],
    ["0001-01-01", "9999-12-31", "3652058"],
  ])("from %s to %s are %s days", (from, to, expected) => {
    expect(result({ op: "days_between", from: date(from), to: date(to) })).toBe(expected);
  });

  test.each([
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01.999Z", "1"],
    ["2026-01-01T00:00:01.999Z", "2026-01-01T00:00:00Z", "-2"],
    ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "0"],
    ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "86400"],
  ])("from %s to %s are %s whole seconds, rounded down", (from, to, expected) => {
    expect(result({ op: "seconds_between", from: time(from), to: time(to) })).toBe(expected);
  });

  test.each([
    ["2026-02-01", "2026-02-28"],
    ["2024-02-29", "2024-02-29"],
    ["2026-04-30", "2026-04-30"],
    ["9999-12-01", "9999-12-31"],
  ])("the month of %s ends on %s", (value, expected) => {
    expect(result({ op: "month_end", value: date(value) })).toBe(expected);
  });

  test("texts and timestamps are no dates", () => {
    expect(codes({ op: "month_end", value: "2026-01-01" })).toEqual(["type_mismatch"]);
    expect(codes({ op: "days_between", from: time("2026-01-01T00:00:00Z"), to: 5 })).toEqual([
      "type_mismatch",
      "type_mismatch",
    ]);
  });
});

describe("the calendar", () => {
  test("agrees with the platform's on days of all eras, both ends included", () => {
    for (let day = -719_162; day <= 2_932_896; day += 61) {
      const text = dateOfDay(day) ?? "";
      const expected = new Date(day * 86_400_000).toISOString().slice(0, 10);
      if (text !== expected || dayNumber(calendarDay(text)) !== day) {
        throw new Error(`day ${day} is ${text}, expected ${expected}`);
      }
    }
    expect([dateOfDay(-719_162), dateOfDay(2_932_896)]).toEqual(["0001-01-01", "9999-12-31"]);
    expect([dateOfDay(-719_163), dateOfDay(2_932_897)]).toEqual([undefined, undefined]);
  });

  test("timestamps are written so that they read back", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
        expect(parseTimestamp(timestampText(ms))).toBe(ms);
        expect(new Date(ms).getTime()).toBe(new Date(timestampText(ms)).getTime());
      }),
    );
  });

  test("adding months and days back and forth stays in the calendar or leaves it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -719_162, max: 2_932_896 }),
        fc.bigInt({ min: -150_000n, max: 150_000n }),
        fc.bigInt({ min: -4_000_000n, max: 4_000_000n }),
        (day, months, days) => {
          const moved = addToDate(dateOfDay(day) ?? "", months, days);
          expect(moved === undefined || /^\d{4}-\d\d-\d\d$/.test(moved)).toBe(true);
        },
      ),
    );
  });
});
