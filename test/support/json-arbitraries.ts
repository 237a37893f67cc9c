import fc from "fast-check";
import type { JsonValue } from "../../src/base/json.ts";

/** Well-formed texts with what serialisers get wrong: escapes, astral characters, names of built-ins, digits. */
export const jsonText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom("\u0000", "\b", "\u001f", '"', "\\", "/", "\u2028", "é", "€", "😀"),
  }),
  fc.constantFrom("toJSON", "__proto__", "constructor", "length", "0", "10", "9", "", "\ufb33"),
);

/** Doubles of the canonical domain, small integers and edges of the safe integers more often than chance has them. */
export const jsonNumber: fc.Arbitrary<number> = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -1000, max: 1000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
);

export interface JsonShape {
  readonly numbers?: fc.Arbitrary<number>;
  readonly names?: fc.Arbitrary<string>;
}

/** Values of the canonical domain, objects without prototype as the reader makes them. */
export function jsonValue(shape: JsonShape = {}): fc.Arbitrary<JsonValue> {
  const { numbers = jsonNumber, names = jsonText } = shape;
  return fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      fc.constantFrom(null, true, false),
      numbers,
      jsonText,
      fc.array(tie("value"), { maxLength: 5 }),
      fc
        .uniqueArray(fc.tuple(names, tie("value")), { maxLength: 6, selector: ([name]) => name })
        .map(record),
    ),
  })).value;
}

function record(entries: readonly (readonly [string, JsonValue])[]): JsonValue {
  const made: { [key: string]: JsonValue } = Object.create(null);
  for (const [name, value] of entries) made[name] = value;
  return made;
}

/** The same value with the members of every object in another order. */
export function shuffled(value: JsonValue, seed: number): JsonValue {
  if (Array.isArray(value)) return value.map((one: JsonValue) => shuffled(one, seed));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, shuffled(one, seed)] as const);
  const turn = entries.length === 0 ? 0 : seed % entries.length;
  const turned = [...entries.slice(turn), ...entries.slice(0, turn)];
  return record(seed % 2 === 0 ? turned : turned.reverse());
}
