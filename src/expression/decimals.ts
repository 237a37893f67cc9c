/** Decimal text and JSON numbers <-> integers of a fixed scale, exactly or not at all. */

const PLAIN = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;
const SHORTEST = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/;

/**
 * The integer that plain decimal text denotes at a scale: `12.5` at 2 is 1250. Undefined for anything else (no plus
 * sign, no leading zeros, no exponent, no bare point, no minus zero) and when a digit beyond the scale is not zero.
 */
export function parseDecimal(text: string, scale: number): bigint | undefined {
  const match = PLAIN.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = ""] = match;
  for (let at = scale; at < fraction.length; at += 1) {
    if (fraction.charCodeAt(at) !== 0x30) return undefined;
  }
  const magnitude = BigInt(whole + fraction.slice(0, scale).padEnd(scale, "0"));
  if (sign === "") return magnitude;
  return magnitude === 0n ? undefined : -magnitude;
}

/** The integer that the shortest decimal of a finite number denotes at a scale, if no digit is lost. */
export function decimalOfNumber(value: number, scale: number): bigint | undefined {
  const parts = shortestDecimal(value);
  if (parts === undefined) return undefined;
  const places = parts.exponent + scale;
  if (parts.digits === 0n) return 0n;
  if (places >= 0) return parts.digits * 10n ** BigInt(places);
  const unit = 10n ** BigInt(-places);
  return parts.digits % unit === 0n ? parts.digits / unit : undefined;
}

/** The JSON number `value / 10^scale`; undefined unless its shortest decimal is exactly that. */
export function numberOfDecimal(value: bigint, scale: number): number | undefined {
  const number = Number(`${value}e-${scale}`);
  const parts = shortestDecimal(number);
  if (parts === undefined) return undefined;
  const places = parts.exponent + scale;
  const exact =
    places >= 0
      ? parts.digits * 10n ** BigInt(places) === value
      : parts.digits === value * 10n ** BigInt(-places);
  return exact ? number : undefined;
}

/** `1250` at scale 2 is `12.50`, `-5` is `-0.05`. */
export function decimalText(value: bigint, scale: number): string {
  if (scale === 0) return value.toString();
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${negative ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

interface Shortest {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The shortest decimal of a double is what ECMAScript prints: digits times ten to the exponent. */
function shortestDecimal(value: number): Shortest | undefined {
  const match = Number.isFinite(value) ? SHORTEST.exec(String(value)) : null;
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction);
  return {
    digits: sign === "" ? digits : -digits,
    exponent: Number(exponent) - fraction.length,
  };
}
