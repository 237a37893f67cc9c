/** Numbers and dates of the second interpreter. */
import { fail, type Tagged } from "./reference-values.ts";

export function quotient(a: bigint, b: bigint, rounding: unknown): bigint {
  if (b === 0n) return fail("division_by_zero");
  const down = (a - (((a % b) + b) % b)) / b;
  const rest = a - down * b;
  if (rest === 0n) return down;
  const positive = a < 0n === b < 0n;
  const twice = 2n * (rest < 0n ? -rest : rest);
  const size = b < 0n ? -b : b;
  switch (rounding) {
    case "floor":
      return down;
    case "ceiling":
      return down + 1n;
    case "truncate":
      return positive ? down : down + 1n;
    case "half_up":
      return twice > size || (twice === size && positive) ? down + 1n : down;
    case "half_even":
      return twice > size || (twice === size && down % 2n !== 0n) ? down + 1n : down;
    default:
      return fail("inexact");
  }
}

export const midnight = (date: string): number => Date.parse(`${date}T00:00:00Z`);

export function shifted(date: string, months: bigint, days: bigint): Tagged {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const count = BigInt(year) * 12n + BigInt(month - 1) + months;
  if (count < 12n || count > 9999n * 12n + 11n) return fail("out_of_range");
  const moved = new Date(0);
  const toYear = Number(count / 12n);
  const toMonth = Number(count % 12n);
  moved.setUTCFullYear(toYear, toMonth + 1, 0);
  moved.setUTCFullYear(toYear, toMonth, Math.min(day, moved.getUTCDate()));
  const at = BigInt(moved.getTime() / 86400000) + days;
  if (at < -719162n || at > 2932896n) return fail("out_of_range");
  return { t: "date", v: new Date(Number(at) * 86400000).toISOString().slice(0, 10) };
}

/** The JSON number value / 10^scale when its shortest decimal is exactly that. */
export function exactNumber(value: bigint, scale: number): number {
  const number = Number(`${value}e-${scale}`);
  const canonical = (written: string): string => {
    const [mantissa = "", exponent = "0"] = written.replace(/^-/, "").split("e");
    const [whole = "", fraction = ""] = mantissa.split(".");
    const digits = (whole + fraction).replace(/^0+/, "");
    const short = digits.replace(/0+$/, "");
    return `${short}e${short === "" ? 0 : Number(exponent) - fraction.length + digits.length - short.length}`;
  };
  const exact =
    Number.isFinite(number) && canonical(String(number)) === canonical(`${value}e-${scale}`);
  return exact ? number : fail("inexact");
}
