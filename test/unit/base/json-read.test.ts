import { describe, expect, it } from "vitest";
import {
  type JsonError,
  type JsonLimits,
  type JsonValue,
  readJson,
} from "../../../src/base/json.ts";

function taken(source: string | Uint8Array, limits?: JsonLimits): JsonValue {
  const reading = readJson(source, limits);
  if (!reading.ok) throw new Error(`refused: ${reading.error.message}`);
  return reading.value;
}

function refused(source: string | Uint8Array, limits?: JsonLimits): JsonError {
  const reading = readJson(source, limits);
  if (reading.ok) throw new Error("taken");
  return reading.error;
}

describe("readJson", () => {
  it("reads every kind of value, from bytes and from text alike", () => {
    const text = ' {"a": [1, -2, 0, true, false, null], "é": "\\u00e9\\n\\"", "": {}}\r\n\t';
    const expected = { a: [1, -2, 0, true, false, null], é: 'é\n"', "": {} };
    expect(JSON.stringify(taken(text))).toBe(JSON.stringify(expected));
    expect(JSON.stringify(taken(new TextEncoder().encode(text)))).toBe(JSON.stringify(expected));
  });

  it("makes objects without prototype at every depth", () => {
    const value = taken('{"a":[{"b":{}}]}') as { a: [{ b: object }] };
    for (const one of [value, value.a[0], value.a[0].b]) {
      expect(Object.getPrototypeOf(one)).toBeNull();
    }
  });

  it("keeps __proto__, constructor and hasOwnProperty as plain data (B101)", () => {
    const value = taken('{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}');
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor", "hasOwnProperty"]);
    expect((value as { admin?: unknown }).admin).toBeUndefined();
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}',
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("admin");
    expect({}).not.toHaveProperty("admin");
  });

  it.each([
    ['{"effect":"deny","effect":"allow"}', "/effect", 1, 18],
    ['{"rules":[1],\n "rules":[2]}', "/rules", 2, 2],
    ['{"nodes":[{"id":"a","id":"a"}]}', "/nodes/0/id", 1, 21],
    ['{"operation":1,"\\u006fperation":1}', "/operation", 1, 16],
    ['{"__proto__":1,"__proto__":1}', "/__proto__", 1, 16],
    ['{"a/b":{"~":1,"~":null}}', "/a~1b/~0", 1, 15],
    ['{"":0,"":0}', "/", 1, 7],
  ])("refuses the repeated name in %s and points at the repetition (B086)", (...row) => {
    const [text, pointer, line, column] = row;
    expect(refused(text)).toMatchObject({ code: "duplicate_key", pointer, line, column });
  });

  it("takes one name in several objects", () => {
    expect(JSON.stringify(taken('[{"a":{"a":1}},{"a":1}]'))).toBe('[{"a":{"a":1}},{"a":1}]');
  });

  it("takes 0 to 64 levels by default and refuses the 65th, whatever follows (B102)", () => {
    expect(taken("[".repeat(64) + "]".repeat(64))).toBeDefined();
    expect(refused("[".repeat(65) + "]".repeat(65))).toMatchObject({
      code: "document_too_deep",
      offset: 64,
      message: "nested deeper than 64 levels",
    });
    expect(refused(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).toMatchObject({
      code: "document_too_deep",
      pointer: "/a".repeat(64),
    });
    for (const text of ["[".repeat(100_000), `${"[".repeat(100_000)}${"]".repeat(100_000)}`]) {
      expect(refused(text).code).toBe("document_too_deep");
      expect(refused(text, { maxDepth: 1_000_000 }).code).toBe("document_too_deep");
    }
    expect(taken(`${"[".repeat(1000)}${"]".repeat(1000)}`, { maxDepth: 1000 })).toBeDefined();
  });

  it("refuses a document over the cap in bytes before it looks at one of them (B102)", () => {
    const notJson = new Uint8Array(50 * 1024 * 1024).fill(0xff);
    expect(refused(notJson)).toEqual({
      code: "document_too_large",
      pointer: "",
      offset: 0,
      line: 0,
      column: 0,
      excerpt: "",
      caret: 0,
      message: "larger than the 16777216 bytes allowed",
    });
    expect(refused('"éé"', { maxBytes: 5 }).code).toBe("document_too_large");
    expect(taken('"éé"', { maxBytes: 6 })).toBe("éé");
    expect(taken(new TextEncoder().encode('"éé"'), { maxBytes: 6 })).toBe("éé");
  });

  it("counts every value against the cap on values", () => {
    expect(taken('[1,{"a":2}]', { maxNodes: 4 })).toBeDefined();
    expect(refused('[1,{"a":2}]', { maxNodes: 3 })).toMatchObject({
      code: "document_too_large",
      pointer: "/1/a",
    });
  });

  it.each([
    [
      "[1, 2",
      "the document ends here, expected a comma or ], in the list that begins at line 1, column 1",
      "",
      6,
    ],
    [
      '{"a": {"b": 1',
      "the document ends here, expected a comma or }, in the object that begins at line 1, column 7",
      "/a",
      14,
    ],
    [
      '{"a"',
      "the document ends here, expected a colon after the name, in the object that begins at line 1, column 1",
      "/a",
      5,
    ],
    [
      '{"a":',
      "the document ends here, expected a value, in the object that begins at line 1, column 1",
      "/a",
      6,
    ],
    [
      '[{"a":1},',
      "the document ends here, expected a value, in the list that begins at line 1, column 1",
      "/1",
      10,
    ],
    ["", "the document ends here, expected a value", "", 1],
    ['{"a":"b', "the document ends inside this text, expected a closing double quote", "/a", 6],
    [
      "[-",
      "the document ends here, expected a digit after the minus sign, in the list that begins at line 1, column 1",
      "/0",
      3,
    ],
    [
      "[1.",
      "the document ends here, expected a digit after the point, in the list that begins at line 1, column 1",
      "/0",
      4,
    ],
    ["tru", "found tru, expected a value", "", 1],
  ])(
    "says of the truncated %s where it ends and what was expected",
    (text, message, pointer, column) => {
      expect(refused(text)).toMatchObject({ code: "bad_json", message, pointer, line: 1, column });
    },
  );

  it.each([
    ['{"a":1,}', "found }, expected a member name in double quotes (no comma before it)"],
    ["[1,]", "found ], expected a value (no comma before it)"],
    [
      "{'a':1}",
      "found ', expected a member name in double quotes (names and texts take double quotes)",
    ],
    ["[1 // one\n]", "found /, expected a comma or ] (JSON has no comments)"],
    ["[True]", "found True, expected a value"],
    ["[NaN]", "found NaN, expected a value"],
    ["{a:1}", "found a, expected a member name in double quotes"],
    ['{"a" 1}', "found 1, expected a colon after the name"],
    ["[1 2]", "found 2, expected a comma or ]"],
    ["[1}", "found }, expected a comma or ]"],
    ["{} {}", "found {, expected nothing after the one value"],
    ["[\u00a01]", "found U+00A0, expected a value"],
    ["[+1]", "found +1, expected a value"],
    [
      '["a\nb"]',
      "the line ends inside a text: its closing double quote is missing (a line break is written \\n)",
    ],
    ['["a\tb"]', "a control character in a text is written \\u0009"],
    ['["\\x"]', 'a backslash is followed by one of "\\/bfnrtu only'],
    ['["\\u12g4"]', "\\u is followed by four hexadecimal digits"],
  ])("says of %s what is wrong in words", (text, message) => {
    expect(refused(text)).toMatchObject({ code: "bad_json", message });
  });

  it("gives line, column and an excerpt that shows no control or bidirectional characters", () => {
    const text = '{\n  "a": 1,\r\n\t"b\u202e\u200b": x\n}';
    expect(refused(text)).toEqual({
      code: "bad_json",
      pointer: "/b\u202e\u200b",
      offset: 21,
      line: 3,
      column: 9,
      excerpt: ' "b\ufffd\ufffd": x',
      caret: 8,
      message: "found x, expected a value",
    });
  });

  it("cuts a long line to 120 characters around the place, never through a character", () => {
    const text = `["${"😀".repeat(500)}", x, "${"😀".repeat(500)}"]`;
    const error = refused(text);
    expect(error.excerpt.length).toBeLessThanOrEqual(120);
    expect(error.excerpt).not.toMatch(/[\ud800-\udfff]/u);
    expect(error.excerpt[error.caret]).toBe("x");
    expect(text[error.offset]).toBe("x");
  });

  it("refuses a byte order mark, in bytes and in text", () => {
    for (const source of [new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), "\ufeff{}"]) {
      expect(refused(source)).toMatchObject({
        code: "bad_encoding",
        offset: 0,
        line: 1,
        column: 1,
      });
    }
  });

  it.each([
    ["5b22ff225d", 2],
    ["5b22c3a9eda080225d", 3],
    ["5b22f09f9880c0af225d", 4],
    ["5b22e282", 2],
    ["5b0a22f0908d", 3],
    ["ff", 0],
    ["80", 0],
  ])("refuses the bytes %s as not UTF-8, at the first of them", (hex, offset) => {
    expect(refused(Buffer.from(hex, "hex"))).toMatchObject({ code: "bad_encoding", offset });
  });

  it.each([
    ['["\\ud800"]', "/0", 2],
    ['["ab\\udc00"]', "/0", 4],
    ['["\\ude00\\ud83d"]', "/0", 2],
    ['["\\ud83dx"]', "/0", 2],
    ['["\\ud83d\\n"]', "/0", 2],
    ['["\\ud83d\\uffff"]', "/0", 2],
    ['["\\ud83d\\ue000"]', "/0", 2],
    ['["\\ud83d\\ud83d\\ude00"]', "/0", 2],
    ['{"\\ud800":1}', "", 2],
  ])("refuses the escaped surrogate without partner in %s (B085)", (text, pointer, offset) => {
    expect(refused(text)).toMatchObject({ code: "bad_encoding", pointer, offset });
  });

  it("refuses a text that holds a surrogate without partner as it is", () => {
    expect(refused('["a\ud800"]')).toMatchObject({ code: "bad_encoding", offset: 3, column: 4 });
  });

  it("takes pairs of surrogates, escaped or not", () => {
    expect(taken('["\\ud83d\\ude00","😀","\\uD83D\\uDE00"]')).toEqual(["😀", "😀", "😀"]);
  });
});

describe("numbers of our own documents", () => {
  it.each([
    ["0", 0],
    ["-1", -1],
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
  ])("takes %s", (text, value) => {
    expect(taken(text)).toBe(value);
  });

  it.each([
    ["1.0", "1.0 must be written 1"],
    ["1e2", "1e2 must be written 100"],
    ["-0", "-0 must be written 0"],
    ["-0.0", "-0.0 must be written 0"],
    ["0e7", "0e7 must be written 0"],
    ["1.5", "1.5 is not an integer here; write it as text"],
    ["1e-400", "1e-400 is not an integer here; write it as text"],
    [
      "9007199254740992",
      "9007199254740992 is beyond the safe integers (9007199254740991); write it as text",
    ],
    [
      "9007199254740993",
      "9007199254740993 is beyond the safe integers (9007199254740991); write it as text",
    ],
    ["1e400", "1e400 is beyond the range of numbers"],
    ["01", "a number does not begin with a zero"],
    ["-01", "a number does not begin with a zero"],
  ])("refuses %s and says how to write it (B085)", (text, message) => {
    expect(refused(`{"amount":${text}}`)).toMatchObject({
      code: "bad_number",
      pointer: "/amount",
      column: 11,
      message,
    });
  });
});

describe("numbers from outside", () => {
  const finite = { numbers: "finite" } as const;

  it.each([
    ["1.50", 1.5],
    ["1e2", 100],
    ["1E+2", 100],
    ["0.1", 0.1],
    ["93.8", 93.8],
    ["-0.25", -0.25],
    ["100.0", 100],
    ["1e22", 1e22],
    ["10000000000000000000000", 1e22],
    ["5e-324", 5e-324],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["9007199254740992", 9007199254740992],
    ["0.000001e6", 1],
    ["0e99999999999999999999", 0],
    ["0.000", 0],
  ])("takes %s as exactly that", (text, value) => {
    expect(Object.is(taken(text, finite), value)).toBe(true);
  });

  it.each(["-0", "-0.0", "-0e5"])("takes %s as 0, the only zero of the canonical form", (text) => {
    expect(Object.is(taken(text, finite), 0)).toBe(true);
  });

  it.each([
    ["9007199254740993", "9007199254740993 would be rounded to 9007199254740992; write it as text"],
    ["0.10000000000000001", "0.10000000000000001 would be rounded to 0.1; write it as text"],
    [
      "333333333.33333329",
      "333333333.33333329 would be rounded to 333333333.3333333; write it as text",
    ],
    [
      "12345678901234567890",
      "12345678901234567890 would be rounded to 12345678901234567000; write it as text",
    ],
    ["1e-400", "1e-400 would be rounded to 0; write it as text"],
    ["4e-324", "4e-324 would be rounded to 5e-324; write it as text"],
    ["1e400", "1e400 is beyond the range of numbers"],
    ["-1e309", "-1e309 is beyond the range of numbers"],
  ])("refuses %s by place instead of rounding it (B083)", (text, message) => {
    expect(refused(`[0,{"x":${text}}]`, finite)).toMatchObject({
      code: "bad_number",
      pointer: "/1/x",
      message,
    });
  });

  it("shows of a number of a million digits only the beginning", () => {
    expect(refused("1".repeat(1_000_000), finite).message).toBe(
      "111111111111111111111111111111.. (1000000 characters) is beyond the range of numbers",
    );
  });
});
