import { describe, expect, it } from "vitest";
import { canonicalBytes, canonicalText } from "../../../src/base/canonical.ts";
import { type JsonValue, readJson } from "../../../src/base/json.ts";
import { sharedPresent } from "../../support/shared.ts";
import {
  generatedParsingFiles,
  strictCases,
  vectorBytes,
  vectorFiles,
  vectorText,
} from "../../support/vectors-json.ts";

const SETS = ["vectors/jcs-rfc8785", "vectors/jcs-strict", "vectors/json-parsing"];
const absent = !sharedPresent(...SETS);

function accepted(bytes: Uint8Array): JsonValue {
  const reading = readJson(bytes, { numbers: "finite" });
  if (!reading.ok) throw new Error(`refused: ${reading.error.message}`);
  return reading.value;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

describe.skipIf(absent)("published JSON vectors (skipped where ../shared is absent)", () => {
  it("gives the published canonical bytes for every RFC 8785 file", () => {
    const files = vectorFiles("jcs-rfc8785/input");
    for (const { name, bytes } of files) {
      const expected = vectorBytes(`jcs-rfc8785/output/${name}`);
      const value = JSON.parse(new TextDecoder().decode(bytes));
      expect(hex(canonicalBytes(value)), name).toBe(hex(expected));
      const published = vectorText(`jcs-rfc8785/outhex/${name.replace(".json", ".txt")}`);
      expect(hex(expected), name).toBe(published.replace(/\s+/g, ""));
    }
    expect(files.length).toBe(6);
  });

  it("reads every RFC 8785 file to the same bytes, but the one with a number that would be rounded", () => {
    const refused: [string, string, string][] = [];
    const files = vectorFiles("jcs-rfc8785/input");
    for (const { name, bytes } of files) {
      const reading = readJson(bytes, { numbers: "finite" });
      if (reading.ok) {
        const expected = vectorBytes(`jcs-rfc8785/output/${name}`);
        expect(hex(canonicalBytes(reading.value)), name).toBe(hex(expected));
      } else {
        refused.push([name, reading.error.code, reading.error.pointer]);
      }
    }
    // 333333333.33333329 has a digit more than its double.
    expect(refused).toEqual([["values.json", "bad_number", "/numbers/0"]]);
    expect(files.length).toBe(6);
  });

  it("writes 10,000 doubles as published", () => {
    const lines = vectorText("jcs-rfc8785/es6-numbers-10000.txt").trimEnd().split("\n");
    const view = new DataView(new ArrayBuffer(8));
    const wrong = lines.filter((line) => {
      const [bits, text] = line.split(",");
      view.setBigUint64(0, BigInt(`0x${bits}`));
      return canonicalText(view.getFloat64(0)) !== text;
    });
    expect(wrong).toEqual([]);
    expect(lines.length).toBe(10_000);
  });

  it("reads every published double text, and writes it again unchanged", () => {
    const lines = vectorText("jcs-rfc8785/es6-numbers-10000.txt").trimEnd().split("\n");
    const texts = lines.map((line) => line.split(",")[1] ?? "");
    const values = accepted(new TextEncoder().encode(`[${texts.join(",")}]`));
    expect(canonicalText(values)).toBe(`[${texts.join(",")}]`);
    expect(texts.length).toBe(10_000);
  });

  it("gives the stated verdict for all 42 strict cases, and refuses the one that rounds", () => {
    let taken = 0;
    let refused = 0;
    for (const { name, input_hex, canonical_hex, reject } of strictCases()) {
      const reading = readJson(Buffer.from(input_hex, "hex"), { numbers: "finite" });
      if (reject === true || name === "integer above 2^53 silently rounds") {
        expect(reading.ok, name).toBe(false);
        refused += 1;
      } else {
        expect(reading.ok ? hex(canonicalBytes(reading.value)) : "refused", name).toBe(
          canonical_hex,
        );
        taken += 1;
      }
    }
    expect({ taken, refused }).toEqual({ taken: 14, refused: 28 });
  });

  it("takes every well-formed file of the parsing suite but the two with repeated names (B086)", () => {
    const files = vectorFiles("json-parsing/test_parsing").filter(({ name }) =>
      name.startsWith("y_"),
    );
    const refused: [string, string][] = [];
    for (const { name, bytes } of files) {
      const reading = readJson(bytes, { numbers: "finite" });
      if (!reading.ok) {
        refused.push([name, reading.error.code]);
        continue;
      }
      const known = JSON.parse(new TextDecoder().decode(bytes));
      expect(canonicalText(reading.value), name).toBe(canonicalText(known));
    }
    expect(refused).toEqual([
      ["y_object_duplicated_key.json", "duplicate_key"],
      ["y_object_duplicated_key_and_value.json", "duplicate_key"],
    ]);
    expect(files.length).toBe(95);
  });

  it("refuses every malformed file of the parsing suite, the two of 100,000 levels included (B102)", () => {
    const stored = vectorFiles("json-parsing/test_parsing").filter(({ name }) =>
      name.startsWith("n_"),
    );
    const files = [...stored, ...generatedParsingFiles()];
    for (const numbers of ["safe_integer", "finite"] as const) {
      for (const limits of [{ numbers }, { numbers, maxDepth: 1000 }]) {
        const taken = files.filter(({ bytes }) => readJson(bytes, limits).ok);
        expect(taken.map(({ name }) => name)).toEqual([]);
      }
    }
    expect(files.length).toBe(188);
  });

  it("refuses every file whose verdict is free but the one whose number it can keep", () => {
    const files = vectorFiles("json-parsing/test_parsing").filter(({ name }) =>
      name.startsWith("i_"),
    );
    const codes: Record<string, number> = {};
    const taken: string[] = [];
    for (const { name, bytes } of files) {
      const reading = readJson(bytes, { numbers: "finite" });
      if (reading.ok) taken.push(name);
      else codes[reading.error.code] = (codes[reading.error.code] ?? 0) + 1;
    }
    // 100000000000000000000 is exactly the shortest decimal of its double.
    expect(taken).toEqual(["i_number_too_big_pos_int.json"]);
    expect(codes).toEqual({ bad_number: 9, bad_encoding: 24, document_too_deep: 1 });
    expect(files.length).toBe(35);
  });

  it("never changes what the transformation files show other parsers changing", () => {
    const verdicts = new Map<string, string>();
    for (const { name, bytes } of vectorFiles("json-parsing/test_transform")) {
      const reading = readJson(bytes, { numbers: "finite" });
      verdicts.set(name, reading.ok ? canonicalText(reading.value) : reading.error.code);
    }
    expect(Object.fromEntries(verdicts)).toEqual({
      "number_-9223372036854775808.json": "bad_number",
      "number_-9223372036854775809.json": "bad_number",
      "number_1.0.json": "[1]",
      "number_1.000000000000000005.json": "bad_number",
      "number_1000000000000000.json": "[1000000000000000]",
      "number_10000000000000000999.json": "bad_number",
      "number_1e-999.json": "bad_number",
      "number_1e6.json": "[1000000]",
      "number_9223372036854775807.json": "bad_number",
      "number_9223372036854775808.json": "bad_number",
      "object_key_nfc_nfd.json": '{"e\u0301":"NFD","\u00e9":"NFC"}',
      "object_key_nfd_nfc.json": '{"e\u0301":"NFD","\u00e9":"NFC"}',
      "object_same_key_different_values.json": "duplicate_key",
      "object_same_key_same_value.json": "duplicate_key",
      "object_same_key_unclear_values.json": "duplicate_key",
      "string_1_escaped_invalid_codepoint.json": "bad_encoding",
      "string_1_invalid_codepoint.json": "bad_encoding",
      "string_2_escaped_invalid_codepoints.json": "bad_encoding",
      "string_2_invalid_codepoints.json": "bad_encoding",
      "string_3_escaped_invalid_codepoints.json": "bad_encoding",
      "string_3_invalid_codepoints.json": "bad_encoding",
      "string_with_escaped_NULL.json": '["A\\u0000B"]',
    });
  });
});
