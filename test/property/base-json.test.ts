import { isDeepStrictEqual } from "node:util";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { canonicalize as jsonCanonicalize } from "json-canonicalize";
import { describe, expect, it } from "vitest";
import { canonicalBytes, canonicalText } from "../../src/base/canonical.ts";
import { digestOf } from "../../src/base/digest.ts";
import { admitJson, type JsonValue, locate, readJson } from "../../src/base/json.ts";
import { parsePointer, pointer, readPointer } from "../../src/base/pointer.ts";
import { jsonText, jsonValue, shuffled } from "../support/json-arbitraries.ts";

function read(text: string): JsonValue {
  const reading = readJson(text, { numbers: "finite" });
  if (!reading.ok) throw new Error(`${reading.error.message}: ${text}`);
  return reading.value;
}

/** Every place of a value, as tokens. */
function placesIn(value: JsonValue): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [[]];
  const members = Object.entries(value).flatMap(([name, one]) =>
    placesIn(one).map((tokens) => [name, ...tokens]),
  );
  return [[], ...members];
}

describe("canonical form", () => {
  it("is what canonicalize writes, over the whole domain", () => {
    fc.assert(
      fc.property(jsonValue(), (value) => {
        expect(canonicalText(value)).toBe(canonicalize(value));
      }),
      { numRuns: 2000 },
    );
  });

  it("is what json-canonicalize writes, wherever no member is called toJSON", () => {
    // It leaves the members of such an object unsorted.
    const names = jsonText.filter((name) => name !== "toJSON");
    fc.assert(
      fc.property(jsonValue({ names }), (value) => {
        expect(canonicalText(value)).toBe(jsonCanonicalize(value));
      }),
      { numRuns: 2000 },
    );
  });

  it("has as bytes the UTF-8 of its text", () => {
    fc.assert(
      fc.property(jsonValue(), (value) => {
        const text = canonicalText(value);
        expect(Buffer.from(canonicalBytes(value)).equals(Buffer.from(text, "utf8"))).toBe(true);
      }),
    );
  });

  it("reads back as the same value, and writes again the same", () => {
    fc.assert(
      fc.property(jsonValue(), (value) => {
        const text = canonicalText(value);
        const again = read(text);
        expect(isDeepStrictEqual(again, value)).toBe(true);
        expect(canonicalText(again)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it("is the same for what admission makes of a value", () => {
    fc.assert(
      fc.property(jsonValue(), (value) => {
        const admitted = admitJson(JSON.parse(JSON.stringify(value)), { numbers: "finite" });
        expect(admitted.ok && canonicalText(admitted.value)).toBe(canonicalText(value));
      }),
    );
  });
});

describe("digest", () => {
  it("ignores the order of members (B072)", () => {
    fc.assert(
      fc.property(jsonValue(), fc.nat(100), (value, seed) => {
        expect(digestOf("rote-test/v1", shuffled(value, seed))).toBe(
          digestOf("rote-test/v1", value),
        );
      }),
    );
  });

  it("ignores nothing else: equal digests, equal values", () => {
    const small = jsonValue({
      numbers: fc.integer({ min: 0, max: 1 }),
      names: fc.constantFrom("a", "b"),
    });
    fc.assert(
      fc.property(small, small, (left, right) => {
        const same = isDeepStrictEqual(left, right);
        expect(digestOf("rote-test/v1", left) === digestOf("rote-test/v1", right)).toBe(same);
      }),
      { numRuns: 1000 },
    );
  });

  it("changes with any one change of a value", () => {
    fc.assert(
      fc.property(jsonValue(), jsonText, (value, text) => {
        const before = digestOf("rote-test/v1", value);
        const changes: JsonValue[] = [[value], { [text]: value }, canonicalText(value)];
        for (const changed of changes) expect(digestOf("rote-test/v1", changed)).not.toBe(before);
      }),
    );
  });
});

describe("strict reader", () => {
  it("agrees with JSON.parse on any text it takes", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"b"',
      '"\\u0061"',
      "1",
      "-0",
      "1.5",
      "1e2",
      "true",
      "null",
      " ",
      "\n",
      '"',
      "\\",
    );
    const broken = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
    const damaged = fc
      .tuple(jsonValue(), fc.nat(), fc.nat(2), pieces)
      .map(([value, at, cut, piece]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        return text.slice(0, place) + piece + text.slice(place + cut);
      });
    let takenTexts = 0;
    fc.assert(
      fc.property(fc.oneof(broken, damaged), (text) => {
        const reading = readJson(text, { numbers: "finite" });
        if (reading.ok) {
          takenTexts += 1;
          expect(canonicalText(reading.value)).toBe(canonicalText(JSON.parse(text)));
          return;
        }
        const { code, offset, line, column, caret, excerpt } = reading.error;
        expect(offset).toBeLessThanOrEqual(text.length);
        expect(text.slice(0, offset).split("\n").length).toBe(line);
        expect(offset - text.lastIndexOf("\n", offset - 1)).toBe(column);
        expect(caret).toBeLessThanOrEqual(excerpt.length);
        // What only the grammar refuses, the platform refuses as well.
        if (code === "bad_json") expect(() => JSON.parse(text)).toThrow(SyntaxError);
      }),
      { numRuns: 5000 },
    );
    expect(takenTexts).toBeGreaterThan(500);
  });

  it("never throws, whatever the bytes, and takes none that are not UTF-8", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const quoted = new Uint8Array([0x5b, 0x22, ...bytes, 0x22, 0x5d]);
        for (const source of [bytes, quoted]) {
          const reading = readJson(source);
          const text = Buffer.from(source).toString("utf8");
          const lossless = Buffer.from(text, "utf8").equals(Buffer.from(source));
          if (reading.ok) expect(lossless).toBe(true);
          if (!lossless)
            expect(reading).toMatchObject({ ok: false, error: { code: "bad_encoding" } });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("finds a repeated name wherever one is put", () => {
    const objects = jsonValue().filter(
      (value) =>
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        Object.keys(value).length > 0,
    );
    fc.assert(
      fc.property(objects, fc.nat(), (value, pick) => {
        const names = Object.keys(value as object);
        const name = names[pick % names.length] ?? "";
        const inner = JSON.stringify(value).slice(0, -1);
        const escaped = [...name].map((one) =>
          [...Array(one.length).keys()]
            .map((at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, "0")}`)
            .join(""),
        );
        const text = `[${inner},"${escaped.join("")}":0}]`;
        expect(readJson(text, { numbers: "finite" })).toMatchObject({
          ok: false,
          error: { code: "duplicate_key", pointer: pointer(0, name) },
        });
      }),
    );
  });

  it("takes a number exactly when its decimal is the shortest of its double", () => {
    const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });
    fc.assert(
      fc.property(
        digits,
        fc.integer({ min: -340, max: 320 }),
        fc.boolean(),
        (whole, exponent, point) => {
          const text =
            point && exponent <= 0 && exponent > -60
              ? shifted(whole, -exponent)
              : `${whole}e${exponent}`;
          const reading = readJson(text, { numbers: "finite" });
          const value = Number(text);
          const exact = Number.isFinite(value) && sameDecimal(whole, exponent, value);
          expect(reading.ok).toBe(exact);
          if (reading.ok) expect(reading.value).toBe(value === 0 ? 0 : value);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

/** whole / 10^places as plain decimal text. */
function shifted(whole: bigint, places: number): string {
  const sign = whole < 0n ? "-" : "";
  const text = String(whole < 0n ? -whole : whole).padStart(places + 1, "0");
  return places === 0 ? sign + text : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** Whether whole * 10^exponent is the number that the shortest text of the double says, over integers only. */
function sameDecimal(whole: bigint, exponent: number, value: number): boolean {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (match === null) throw new Error(`unexpected number text ${value}`);
  const [, sign = "", integer = "", fraction = "", power = "0"] = match;
  const other = BigInt(`${integer}${fraction}`) * (sign === "-" ? -1n : 1n);
  const otherExponent = Number(power) - fraction.length;
  const lowest = Math.min(exponent, otherExponent);
  return whole * 10n ** BigInt(exponent - lowest) === other * 10n ** BigInt(otherExponent - lowest);
}

describe("pointers", () => {
  it("lead to every place of a value, and locate finds that value in the text", () => {
    fc.assert(
      fc.property(jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const pointers = placesIn(value).map((tokens) => pointer(...tokens));
        const places = locate(text, pointers);
        const lines = text.split("\n");
        for (const one of pointers) {
          const found = readPointer(value, parsePointer(one) ?? []);
          expect(found).not.toBeUndefined();
          const { line = 0, column = 0 } = places.get(one) ?? {};
          const rest = [lines[line - 1]?.slice(column - 1), ...lines.slice(line)].join("\n");
          const written = JSON.stringify(found).replaceAll(/\s/g, "");
          expect(rest.replaceAll(/\s/g, "").startsWith(written)).toBe(true);
        }
      }),
    );
  });

  it("say the tokens they were made of", () => {
    fc.assert(
      fc.property(fc.array(jsonText, { maxLength: 5 }), (tokens) => {
        expect(parsePointer(pointer(...tokens))).toEqual(tokens);
      }),
    );
  });
});
