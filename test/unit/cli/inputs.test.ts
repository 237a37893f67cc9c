import { describe, expect, it } from "vitest";
import { inputsFromBytes, inputsFromWords, linesOf } from "../../../src/cli/run/inputs.ts";
import type { Plan } from "../../../src/model/plan.ts";
import type { Type } from "../../../src/model/type.ts";

const text: Type = { kind: "text" };
const readings: { readonly [name: string]: Type } = {
  quantity: { kind: "integer" },
  rate: { kind: "decimal", scale: 2 },
  note: { kind: "optional", of: text },
  paid: { kind: "boolean" },
  lines: { kind: "list", of: { kind: "integer" } },
  extra: { kind: "json" },
};
const plan = {
  id: "sample",
  inputs: Object.entries(readings).map(([name, reading]) => ({ name, reading, type: reading })),
} as unknown as Plan;

describe("inputs as words", () => {
  it("takes the text as typed where the type is written as text, and reads JSON elsewhere", () => {
    const words = [
      "quantity=05",
      "rate=12.50",
      "note=a=b",
      "paid=true",
      "lines=[1,2]",
      'extra="text"',
    ];
    expect({ ...inputsFromWords(words, plan) }).toEqual({
      quantity: "05",
      rate: "12.50",
      note: "a=b",
      paid: true,
      lines: [1, 2],
      extra: "text",
    });
  });

  it("keeps an empty text, and JSON-looking text where text is wanted", () => {
    expect({ ...inputsFromWords(["note=", "quantity=null"], plan) }).toEqual({
      note: "",
      quantity: "null",
    });
  });

  it.each([
    ["quantity", "bad_usage", "--input quantity has no name"],
    ["=5", "bad_usage", "--input =5 has no name"],
    ["quantty=5", "bad_input", 'recipe sample has no input "quantty"'],
    ["__proto__=5", "bad_input", 'recipe sample has no input "__proto__"'],
    ["paid=yes", "bad_input", "--input paid is read as JSON and is not"],
  ])("refuses %s", (word, code, message) => {
    expect(() => inputsFromWords([word], plan)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it("names the nearest input", () => {
    expect(() => inputsFromWords(["quantty=5"], plan)).toThrow(
      expect.objectContaining({
        data: expect.objectContaining({ hint: "did you mean quantity?" }),
      }),
    );
  });

  it("refuses a name given twice", () => {
    expect(() => inputsFromWords(["note=a", "note=b"], plan)).toThrow(
      expect.objectContaining({ code: "bad_usage" }),
    );
  });
});

describe("inputs as a document", () => {
  const bytes = (value: string) => new TextEncoder().encode(value);

  it("is an object with a member for each input, finite numbers included", () => {
    const read = inputsFromBytes(bytes('{"rate": 12.5}'));
    expect(read.ok && { ...read.value }).toEqual({ rate: 12.5 });
  });

  it.each([
    ["[]", "expected an object"],
    ['{"a":1,"a":2}', "duplicate_key at line 1"],
    ['{"a":1e400}', "bad_number at line 1"],
    ['{"a"', "bad_json at line 1"],
    [`${"[".repeat(100_000)}`, "document_too_deep"],
  ])("refuses %.20s", (document, message) => {
    const read = inputsFromBytes(bytes(document));
    expect(read.ok ? "" : read.error).toContain(message);
  });
});

describe("lines of inputs", () => {
  async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield new TextEncoder().encode(part);
  }
  async function told(source: AsyncIterable<Uint8Array>, maxBytes?: number) {
    const found: [number, string | true][] = [];
    for await (const line of linesOf(source, maxBytes)) {
      found.push([
        line.number,
        "tooLong" in line ? line.tooLong : new TextDecoder().decode(line.bytes),
      ]);
    }
    return found;
  }

  it("are the same however the file arrives in pieces; blank lines count and are left out", async () => {
    const whole = '{"a":1}\r\n\n  \n{"a":2}\n{"a":3}';
    const expected = [
      [1, '{"a":1}\r'],
      [4, '{"a":2}'],
      [5, '{"a":3}'],
    ];
    expect(await told(chunks(whole))).toEqual(expected);
    expect(await told(chunks(...whole))).toEqual(expected);
  });

  it("tells a line over the cap and goes on with the next", async () => {
    const source = chunks("1234", "5678\n12", "34\n", "x".repeat(9));
    expect(await told(source, 5)).toEqual([
      [1, true],
      [2, "1234"],
      [3, true],
    ]);
  });
});
