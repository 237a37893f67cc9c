import fc from "fast-check";
import { expect, it } from "vitest";
import { hasLoneSurrogate } from "../../src/base/text.ts";
import { escaped } from "../../src/host/index.ts";

const text = fc.string({ unit: "binary", maxLength: 30 });

it("no two texts that a string of JSON can hold are shown alike", () => {
  const quoted = (one: string) => escaped(JSON.stringify(one));
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(quoted(left) === quoted(right)).toBe(left === right);
    }),
    { numRuns: 2_000 },
  );
  // Texts that differ by one character that nobody sees are what would be confused.
  fc.assert(
    fc.property(
      text,
      fc.nat(30),
      fc.constantFrom("\u200b", "\u202e", "\ufe0f", "\u3164", "\\"),
      (one, at, more) => {
        const other = one.slice(0, at) + more + one.slice(at);
        expect(quoted(other)).not.toBe(quoted(one));
      },
    ),
    { numRuns: 2_000 },
  );
});

it("what is shown is one line of characters that are shown, and is shown again as it is", () => {
  fc.assert(
    fc.property(text, (one) => {
      const shown = escaped(one);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u);
      expect(shown).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
      expect(!hasLoneSurrogate(shown)).toBe(true);
      expect(escaped(shown)).toBe(shown);
    }),
    { numRuns: 3_000 },
  );
});

it("plain ASCII is shown as it is", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\x20-\x7e]*$/), (one) => {
      expect(escaped(one)).toBe(one);
    }),
  );
});
