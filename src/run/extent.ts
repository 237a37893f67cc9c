/**
 * How much a run has made so far. Each evaluation is bounded by itself; what a run keeps of all of them is bounded here,
 * by the same count: scalars and containers, and units of texts, shared parts as often as they occur.
 */
import type { Value } from "../model/value.ts";

export interface Extent {
  readonly parts: number;
  readonly units: number;
}

/** Ten whole values of the largest extent in parts, sixteen in texts: what fits the memory of a small process. */
export const RUN_EXTENT: Extent = { parts: 10_000_000, units: 268_435_456 };

export const NO_EXTENT: Extent = Object.freeze({ parts: 0, units: 0 });

/** `before` and the value together, or undefined when that is over the limit. Stops counting there. */
export function extended(
  before: Extent,
  value: Value,
  limit: Extent = RUN_EXTENT,
): Extent | undefined {
  const count = { parts: before.parts, units: before.units };
  return add(count, value, limit) ? count : undefined;
}

type Count = { -readonly [Part in keyof Extent]: Extent[Part] };

function add(count: Count, value: unknown, limit: Extent): boolean {
  count.parts += 1;
  if (typeof value === "string") count.units += value.length;
  else if (typeof value === "bigint") count.units += unitsOf(value);
  if (count.parts > limit.parts || count.units > limit.units) return false;
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    for (const element of value) if (!add(count, element, limit)) return false;
    return true;
  }
  if (value instanceof Map) {
    for (const [key, element] of value as ReadonlyMap<string, unknown>) {
      count.units += key.length;
      if (!add(count, element, limit)) return false;
    }
    return true;
  }
  for (const element of Object.values(value)) if (!add(count, element, limit)) return false;
  return true;
}

/** Integers beyond 64 bits by their hexadecimal digits. */
function unitsOf(value: bigint): number {
  return BigInt.asIntN(64, value) === value ? 0 : value.toString(16).length;
}
