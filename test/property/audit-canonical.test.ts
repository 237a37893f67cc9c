/** The auditor's quick look at canonical text, beside the strict reader and writer that say what canonical is. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCanonical, textOf } from "../../src/audit/canonical.ts";
import { plainLength } from "../../src/audit/plain-length.ts";
import { sameBytes } from "../../src/base/bytes.ts";
import { canonicalBytes, canonicalText } from "../../src/base/canonical.ts";
import { digestOf, digestText } from "../../src/base/digest.ts";
import { type JsonValue, readJson } from "../../src/base/json.ts";
import { jsonText, jsonValue } from "../support/json-arbitraries.ts";

/** Whole numbers with as many zeros at their end as exponents need, and those around them. */
const numbers = fc.oneof(
  fc.tuple(fc.integer({ min: -99, max: 99 }), fc.nat(14)).map(([first, zeros]) => {
    return first === 0 ? 0 : first * 10 ** zeros;
  }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
);
const names = fc.oneof(jsonText, fc.stringMatching(/^[a-c0-1_]{0,3}$/));
const values = jsonValue({ numbers, names });

/** What a text may have beside the canonical text of its value. */
const LIBERTIES = ["blanks", "order", "repeated", "numbers", "escapes"] as const;
type Liberties = ReadonlySet<(typeof LIBERTIES)[number]>;

/** Writes a value with some of them; `chance` says where each is taken. */
function freely(value: JsonValue, liberties: Liberties, chance: () => boolean): string {
  const takes = (liberty: (typeof LIBERTIES)[number]) => liberties.has(liberty) && chance();
  const blank = () => (takes("blanks") ? " " : "");
  const write = (each: JsonValue): string => {
    if (typeof each === "number") return takes("numbers") ? shortest(each) : String(each);
    if (typeof each === "string") return textIn(each);
    if (typeof each !== "object" || each === null) return String(each);
    if (Array.isArray(each)) return `[${each.map(padded).join(",")}]`;
    const members = Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1));
    const all = takes("repeated") ? [...members.slice(0, 1), ...members] : members;
    const turned = takes("order") ? all.toReversed() : all;
    return `{${turned.map(([name, one]) => `${textIn(name)}:${padded(one)}`).join(",")}}`;
  };
  const textIn = (text: string) =>
    takes("escapes") ? canonicalText(text).replace("a", "\\u0061") : canonicalText(text);
  const padded = (each: JsonValue) => blank() + write(each);
  return write(value);
}

/** With an exponent where there are zeros to be saved. */
function shortest(value: number): string {
  return String(value).replace(/0{1,14}$/u, (zeros) => `e${zeros.length}`);
}

function isCanonical(bytes: Uint8Array): boolean {
  const read = readJson(bytes, { numbers: "finite", maxDepth: 512, maxNodes: 1_000_000 });
  return read.ok && sameBytes(canonicalBytes(read.value), bytes);
}

/** That a text is read exactly when it is canonical, and as what the strict reader reads. */
function agrees(bytes: Uint8Array): void {
  const read = readCanonical(bytes);
  expect(read.ok).toBe(isCanonical(bytes));
  if (read.ok) expect(canonicalText(read.value)).toBe(Buffer.from(bytes).toString("utf8"));
}

describe("bytes that must be canonical", () => {
  it("are taken when they are the canonical text of any value", () => {
    fc.assert(
      fc.property(values, (value) => {
        const bytes = canonicalBytes(value);
        expect(isCanonical(bytes)).toBe(true);
        agrees(bytes);
      }),
    );
  });

  it("are judged as the strict reader and writer judge them, however they are spelled", () => {
    fc.assert(
      fc.property(
        values,
        fc.subarray([...LIBERTIES], { maxLength: 2 }),
        fc.infiniteStream(fc.boolean()),
        (value, liberties, stream) => {
          const chance = () => stream.next().value === true;
          agrees(Buffer.from(freely(value, new Set(liberties), chance)));
        },
      ),
      { numRuns: 400 },
    );
  });

  it("are judged so with any few bytes of them changed", () => {
    const changes = fc.array(
      fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\ eE+-.0129au/', "\u0000", "é"), fc.nat(2)),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(values, changes, (value, made) => {
        let text = canonicalText(value);
        for (const [where, what, over] of made) {
          const at = where % (text.length + 1);
          text = text.slice(0, at) + what + text.slice(at + over);
        }
        agrees(Buffer.from(text));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["a number that is as short with an exponent", "[1e2]"],
    ["members that are out of order", '{"b":1,"a":1}'],
    ["a short number and a blank", '{"a":1e3 ,"b":1}'],
    ["a short number and a repeated member", '{"a":1e9,"a":1e12}'],
    ["a short number and a negative zero", "[1e3,-0]"],
    ["members in order only as the platform lists them", '{"b":1,"10":1}'],
    ["a number beyond what is exact", "[9007199254740993]"],
    ["a repeated member that hides in an escape", '{"a":1,"\\u0061":1}'],
    ["nothing in it but a blank", "{ }"],
    ["half of a surrogate pair", '["\\ud800"]'],
    ["more levels than anything canonical has", "[".repeat(513) + "]".repeat(513)],
  ])("are refused with %s", (_, text) => {
    const bytes = Buffer.from(text);
    expect(isCanonical(bytes)).toBe(false);
    expect(readCanonical(bytes).ok).toBe(false);
  });

  it("are written again as the strict writer writes them, and have its digests", () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = canonicalText(value);
        const read = readCanonical(Buffer.from(text));
        if (!read.ok) throw new Error(read.error.message);
        expect(textOf(read.value)).toBe(text);
        expect(digestText("rote-value/v1", text)).toBe(digestOf("rote-value/v1", value));
      }),
    );
  });

  it("have the length that is foretold of them", () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = canonicalText(value);
        const length = plainLength(value, 512);
        if (!text.includes("\\") && !Number.isNaN(length)) expect(length).toBe(text.length);
      }),
    );
  });
});
