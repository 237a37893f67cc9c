import { describe, expect, test } from "vitest";
import { readValue, valueType, writeValue } from "../../../src/expression/index.ts";
import { json, plain, typeOf } from "../../support/expressions.ts";

/** The JSON form of what was read, or code and place of the refusal. */
function reading(type: unknown, source: unknown): unknown {
  const parsed = typeOf(type);
  const read = readValue(parsed, json(source));
  if (!read.ok) return `${read.error.code} ${read.error.pointer}`.trim();
  return plain(writeValue(valueType(parsed), read.value));
}

describe("integer", () => {
  test.each([
    ["0", "0"],
    ["-12", "-12"],
    [12, "12"],
    [-0, "0"],
    [9007199254740991, "9007199254740991"],
    ["9007199254740993", "9007199254740993"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
  ])("%j is read", (source, form) => {
    expect(reading("integer", source)).toBe(form);
  });

  test.each([
    "",
    " ",
    " 5",
    "5 ",
    "+5",
    "-0",
    "007",
    "-01",
    "0x10",
    "1e3",
    "1_000",
    "12.0",
    "１２",
    "-",
    "--1",
    "Infinity",
    1.5,
    9007199254740992,
    null,
    true,
    ["5"],
    { value: 5 },
  ])(
    "%j is refused: only canonical decimal text and safe integers are integers (B097)",
    (source) => {
      expect(reading("integer", source)).toBe("decode_failed");
    },
  );

  test('12 and "12" are the same input', () => {
    const read = [12, "12"].map((source) => readValue(typeOf("integer"), source));
    expect(read[0]).toEqual(read[1]);
  });

  test("8192 bits are read, one more is too large, and a million digits are refused unread", () => {
    const largest = (2n ** 8192n - 1n).toString();
    expect(reading("integer", largest)).toBe(largest);
    expect(reading("integer", (-(2n ** 8192n - 1n)).toString())).toBe(`-${largest}`);
    expect(reading("integer", (2n ** 8192n).toString())).toBe("too_large");
    expect(reading("integer", "9".repeat(1_000_000))).toBe("too_large");
  });
});

describe("decimal", () => {
  test.each([
    ["12.5", 2, "1250"],
    [12.5, 2, "1250"],
    ["12.50", 2, "1250"],
    ["12.500", 2, "1250"],
    ["12", 2, "1200"],
    ["-0.05", 2, "-5"],
    ["0.00", 2, "0"],
    [-0, 2, "0"],
    ["7", 0, "7"],
    [1e21, 0, "1000000000000000000000"],
    [1e-7, 7, "1"],
    [0.1, 30, "100000000000000000000000000000"],
    ["12345678901234567890.12", 2, "1234567890123456789012"],
  ])("%j at scale %i is %s", (source, scale, form) => {
    expect(reading({ decimal: scale }, source)).toBe(form);
  });

  test.each([
    ["12.505", 2],
    [12.505, 2],
    ["1e3", 2],
    ["+1.00", 2],
    [".5", 2],
    ["5.", 2],
    ["05.0", 2],
    ["-0.00", 2],
    ["1,000.00", 2],
    ["", 2],
    [" 1", 2],
    [1e-7, 2],
    [null, 2],
    [true, 2],
  ])("%j at scale %i is refused: nothing is rounded", (source, scale) => {
    expect(reading({ decimal: scale }, source)).toBe("decode_failed");
  });

  test("a value that was stored is read by its value type, never scaled twice", () => {
    const type = typeOf({ list: { decimal: 2 } });
    const read = readValue(type, json(["12.50"]));
    const stored = read.ok ? writeValue(valueType(type), read.value) : null;
    expect(stored).toEqual(["1250"]);
    expect(readValue(valueType(type), stored)).toEqual({ ok: true, value: [1250n] });
  });
});

describe("date and timestamp", () => {
  test.each(["0001-01-01", "9999-12-31", "2024-02-29", "2000-02-29", "2005-11-20"])(
    "%s is a date",
    (date) => {
      expect(reading("date", date)).toBe(date);
    },
  );

  test.each([
    "0000-12-31",
    "2023-02-29",
    "1900-02-29",
    "2023-04-31",
    "2023-13-01",
    "2023-00-10",
    "2023-01-00",
    "2023-1-1",
    "20230101",
    "2023-01-01T00:00:00Z",
    "10000-01-01",
    " 2023-01-01",
    "２０２３-01-01",
    20230101,
    null,
  ])("%j is no date", (source) => {
    expect(reading("date", source)).toBe("decode_failed");
  });

  test.each([
    ["2026-08-18T17:38:51Z", "2026-08-18T17:38:51Z"],
    ["2026-08-18t17:38:51z", "2026-08-18T17:38:51Z"],
    ["2026-08-18T17:38:51+02:00", "2026-08-18T15:38:51Z"],
    ["2026-08-18T17:38:51-00:00", "2026-08-18T17:38:51Z"],
    ["2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"],
    ["2026-08-18T17:38:51.5Z", "2026-08-18T17:38:51.500Z"],
    ["2026-08-18T17:38:51.05Z", "2026-08-18T17:38:51.050Z"],
    ["2026-08-18T17:38:51.000Z", "2026-08-18T17:38:51Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
    ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s is %s", (source, form) => {
    expect(reading("timestamp", source)).toBe(form);
  });

  test.each([
    "2026-08-18T17:38:60Z",
    "2026-08-18T24:00:00Z",
    "2026-08-18T17:60:00Z",
    "2026-08-18T17:38:51",
    "2026-08-18 17:38:51Z",
    "2026-08-18T17:38Z",
    "2026-08-18T17:38:51.1234Z",
    "2026-08-18T17:38:51.Z",
    "2026-08-18T17:38:51,5Z",
    "2026-08-18T17:38:51+24:00",
    "2026-08-18T17:38:51+01:60",
    "2026-08-18T17:38:51+0100",
    "2026-02-29T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    1787074731000,
  ])("%j is no timestamp", (source) => {
    expect(reading("timestamp", source)).toBe("decode_failed");
  });
});

describe("text, enum, boolean, null, json", () => {
  test.each([
    ["text", "", ""],
    ["text", "\u00e9", "\u00e9"],
    ["text", "e\u0301", "e\u0301"],
    [{ enum: ["a", "b"] }, "b", "b"],
    ["boolean", false, false],
    ["null", null, null],
    ["json", null, null],
    ["json", [1.5, { b: "x", a: null }], [1.5, { b: "x", a: null }]],
  ])("%j reads %j unchanged", (type, source, form) => {
    expect(reading(type, source)).toEqual(form);
  });

  test.each([
    ["text", 5],
    ["text", null],
    [{ enum: ["a", "b"] }, "A"],
    [{ enum: ["a", "b"] }, ""],
    ["boolean", 0],
    ["boolean", "true"],
    ["null", false],
    ["null", ""],
  ])("%j refuses %j", (type, source) => {
    expect(reading(type, source)).toBe("decode_failed");
  });

  test("an enum of many words reads each of them and nothing else", () => {
    const words = Array.from({ length: 5_000 }, (_, at) => `w${at}`);
    const type = typeOf({ list: { enum: words } });
    const all = readValue(type, words);
    expect(all.ok && all.value).toEqual(words);
    for (const wrong of ["w5000", "W1", "", "constructor"]) {
      const read = readValue(type, ["w1", wrong]);
      expect(read.ok ? "read" : `${read.error.code} ${read.error.pointer}`).toBe(
        "decode_failed /1",
      );
    }
  });

  test("a lone surrogate is no text, wherever it stands", () => {
    expect(readValue(typeOf("text"), "a\ud800").ok).toBe(false);
    expect(readValue(typeOf("json"), ["\udc00"]).ok).toBe(false);
    expect(readValue(typeOf({ dictionary: "text" }), { "\udc00": "x" }).ok).toBe(false);
  });
});

describe("lists, dictionaries, records, optionals", () => {
  test.each([
    [{ list: "integer" }, [], []],
    [{ list: "integer" }, [1, "2"], ["1", "2"]],
    [{ list: { optional: "integer" } }, [null, 1], [null, "1"]],
    [{ dictionary: "integer" }, { b: 1, a: 2 }, { a: "2", b: "1" }],
    [{ dictionary: { optional: "integer" } }, { a: null }, { a: null }],
    [{ record: { a: "integer" } }, { a: 1 }, { a: "1" }],
    [{ record: { a: { optional: "integer" } } }, {}, {}],
    [{ record: { a: { optional: "integer" } } }, { a: null }, {}],
    [{ record: { a: "null" } }, {}, { a: null }],
    [{ record: { a: "json" } }, { a: null }, { a: null }],
    [{ record: { a: "integer" }, others: "ignore" }, { a: 1, b: 2 }, { a: "1" }],
    [{ optional: "integer" }, null, null],
    [{ optional: { list: "text" } }, ["a"], ["a"]],
  ])("%j reads %j as %j", (type, source, form) => {
    expect(reading(type, source)).toEqual(form);
  });

  test.each([
    [{ list: "integer" }, {}, "decode_failed"],
    [{ list: "integer" }, [1, "x"], "decode_failed /1"],
    [{ dictionary: "integer" }, [], "decode_failed"],
    [{ dictionary: "integer" }, { "a/b~": "x" }, "decode_failed /a~1b~0"],
    [{ record: { a: "integer" } }, {}, "decode_failed"],
    [{ record: { a: "integer" } }, { a: null }, "decode_failed /a"],
    [{ record: { a: "integer" } }, { a: 1, b: 2 }, "unknown_field"],
    [{ list: { record: { a: "integer" } } }, [{ a: 1 }, { a: 1, z: 1 }], "unknown_field /1"],
    [{ record: { r: { record: { a: "date" } } } }, { r: { a: "x" } }, "decode_failed /r/a"],
  ])("%j refuses %j: %s", (type, source, refusal) => {
    expect(reading(type, source)).toBe(refusal);
  });

  test("names of the language's own objects are plain data (B101)", () => {
    const source = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1, "toString": 2}');
    expect(reading("json", source)).toEqual(source);
    const dictionary = JSON.parse('{"__proto__": 1, "hasOwnProperty": 2}');
    const read = readValue(typeOf({ dictionary: "integer" }), json(dictionary));
    expect(read.ok && read.value).toEqual(
      new Map([
        ["__proto__", 1n],
        ["hasOwnProperty", 2n],
      ]),
    );
    const type = typeOf(JSON.parse('{"record": {"__proto__": "integer", "constructor": "text"}}'));
    const own = readValue(type, json(JSON.parse('{"__proto__": 5, "constructor": "c"}')));
    expect(own.ok && JSON.stringify(writeValue(type, own.value))).toBe(
      '{"__proto__":"5","constructor":"c"}',
    );
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
    expect(reading({ record: { constructor: "text" } }, {})).toBe("decode_failed");
  });

  test("what was read is frozen and shares nothing with its source", () => {
    const source = { list: [{ a: { b: [1] } }] };
    const read = readValue(typeOf({ record: { list: { list: "json" } } }), source);
    source.list[0]!.a.b[0] = 2;
    const written = read.ok
      ? writeValue(typeOf({ record: { list: { list: "json" } } }), read.value)
      : 0;
    expect(plain(written)).toEqual({ list: [{ a: { b: [1] } }] });
    const frozen = (part: unknown): boolean =>
      typeof part !== "object" ||
      part === null ||
      (Object.isFrozen(part) && Object.values(part).every(frozen));
    expect(read.ok && frozen(read.value)).toBe(true);
    expect(Object.getPrototypeOf(read.ok ? read.value : {})).toBe(null);
  });

  test("more elements, parts or text than a value may have are too large", () => {
    expect(reading({ list: "null" }, new Array(100_001).fill(null))).toBe("too_large");
    expect(reading("text", "x".repeat(1_048_577))).toBe("too_large");
    expect(reading("text", "x".repeat(1_048_576))).toHaveLength(1_048_576);
    const lists = new Array(11).fill(new Array(99_999).fill(true));
    expect(readValue(typeOf({ list: { list: "boolean" } }), lists)).toMatchObject({
      error: { code: "too_large" },
    });
    const long = new Array(17).fill("x".repeat(1_000_000));
    expect(readValue(typeOf({ list: "text" }), long)).toMatchObject({
      error: { code: "too_large" },
    });
    let deep: unknown = 1;
    for (let level = 0; level < 65; level += 1) deep = [deep];
    expect(readValue(typeOf("json"), deep as never)).toMatchObject({
      error: { code: "too_large" },
    });
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(readValue(typeOf("json"), deep as never)).toMatchObject({
      error: { code: "too_large" },
    });
  });

  test("a refusal names the place and shows little of the value", () => {
    const refusal = (type: unknown, source: unknown): string => {
      const read = readValue(typeOf(type), json(source));
      return read.ok ? "" : read.error.message;
    };
    expect(refusal({ record: { n: "integer" } }, { n: "07" })).toBe('"07" is no integer (at /n)');
    expect(refusal("integer", ["a", "b"])).toBe("a list of 2 is no integer");
    expect(refusal("date", "x".repeat(500))).toContain("(500 units)");
    expect(refusal("date", "x".repeat(500)).length).toBeLessThan(80);
    const password = refusal({ record: { password: "integer" } }, { password: "hunter2" });
    expect(password).not.toContain("hunter2");
    const token = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
    expect(refusal("date", token)).not.toContain("4eC39");
    expect(refusal("date", "a\u202eb")).toContain("\\u202e");
  });
});
