import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codes, failed, json, literal, result, value } from "../../support/expressions.ts";

describe("list and record", () => {
  test("elements take their least common type", () => {
    expect(result([1, null, 2])).toEqual(["1", null, "2"]);
    expect(result([])).toEqual([]);
    expect(result([[], [1]])).toEqual([[], ["1"]]);
    expect(codes([1, "a"])).toEqual(["type_mismatch"]);
    expect(
      codes([
        { op: "record", fields: { a: 1 } },
        { op: "record", fields: {} },
      ]),
    ).toEqual(["type_mismatch"]);
  });

  test("a field that is null is left out when its type is optional", () => {
    const around = { inputs: { x: [{ optional: "integer" }, null] } } as const;
    expect(result({ op: "record", fields: { a: { input: "x" }, b: 1 } }, around)).toEqual({
      b: "1",
    });
  });

  test("records and lists of an evaluation are frozen and without prototype", () => {
    const made = value([{ op: "record", fields: { a: [1] } }]) as readonly {
      a: readonly bigint[];
    }[];
    expect(Object.isFrozen(made) && Object.isFrozen(made[0]) && Object.isFrozen(made[0]?.a)).toBe(
      true,
    );
    expect(Object.getPrototypeOf(made[0])).toBe(null);
  });

  test("field names of the language's own objects are plain names (B101)", () => {
    const fields = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}');
    expect(JSON.stringify(result({ op: "record", fields }))).toBe(
      '{"__proto__":"1","constructor":"2","toString":"3"}',
    );
    const get = { op: "get", value: { op: "record", fields }, pointer: "/__proto__" };
    expect(result(get)).toBe("1");
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });
});

describe("get, has, default", () => {
  const doc = (source: unknown, type: unknown = "json") => ({
    inputs: { doc: [type, source] as const },
  });
  const part = (op: string, more: object) => ({ op, value: { input: "doc" }, ...more });

  test.each([
    ["/a", { a: 1 }, 1],
    ["/a/b/0", { a: { b: ["x"] } }, "x"],
    ["/a~1b/c~0d", { "a/b": { "c~d": true } }, true],
    ["", { a: null }, { a: null }],
    ["/a", { a: null }, null],
    ["/", { "": 5 }, 5],
    ["/2", [1, 2, 3], 3],
  ])("json at %j", (pointer, source, expected) => {
    expect(result(part("get", { pointer }), doc(source))).toEqual(expected);
    expect(result(part("has", { pointer }), doc(source))).toBe(true);
  });

  test.each([
    ["/po_number", { invoice: 1 }],
    ["/lines/2", { lines: [1, 2] }],
    ["/lines/02", { lines: [1, 2, 3] }],
    ["/lines/-", { lines: [1] }],
    ["/lines/length", { lines: [1] }],
    ["/lines/-1", { lines: [1] }],
    ["/lines/1e0", { lines: [1, 2] }],
    ["/lines/4294967296", { lines: [1, 2] }],
    ["/a/b", { a: 5 }],
    ["/a/0", { a: "text" }],
    ["/a/length", { a: "text" }],
    ["/a/b", { a: null }],
    ["/__proto__/x", {}],
    ["/__proto__", {}],
    ["/constructor/name", {}],
    ["/toString", {}],
    ["/hasOwnProperty", []],
  ])(
    "json has nothing at %j: missing with its place, not absent data on a happy path (B100, B101)",
    (pointer, source) => {
      const direct = failed({ op: "input", name: "doc", pointer }, doc(source));
      expect([direct.code, direct.pointer]).toEqual(["missing", ""]);
      expect(direct.message).toBe(`input: input doc has nothing at ${pointer}`);
      expect(failed(part("get", { pointer }), doc(source)).code).toBe("missing");
      expect(result(part("has", { pointer }), doc(source))).toBe(false);
      const otherwise = part("get", { pointer, else: { op: "to_json", value: "none" } });
      expect(result(otherwise, doc(source))).toBe("none");
    },
  );

  test("own data under such names is found (B101)", () => {
    const source = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}');
    expect(result({ input: "doc/__proto__/admin" }, doc(source))).toBe(true);
    expect(result({ input: "doc/constructor" }, doc(source))).toBe(1);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("a missing part of a node names the node and the pointer (B100)", () => {
    const around = { nodes: { invoice: ["json", {}] } } as const;
    const failure = failed([{ node: "invoice/po_number" }], around);
    expect(failure.message).toBe("node: node invoice has nothing at /po_number");
    expect(failure.pointer).toBe("/0");
  });

  test.each([
    [{ dictionary: "integer" }, { a: 1 }, "a", "1"],
    [{ dictionary: { optional: "integer" } }, { a: 1 }, "a", "1"],
    [{ list: "integer" }, [5, 6], 1, "6"],
  ])("%j by key", (type, source, key, expected) => {
    expect(result(part("get", { key }), doc(source, type))).toBe(expected);
    expect(result(part("has", { key }), doc(source, type))).toBe(true);
  });

  test.each([
    [{ dictionary: "integer" }, { a: 1 }, "b"],
    [{ dictionary: "integer" }, {}, "__proto__"],
    [{ dictionary: { optional: "integer" } }, { a: null }, "a"],
    [{ list: "integer" }, [5], 1],
    [{ list: "integer" }, [5], -1],
    [{ list: "integer" }, [5], literal("99999999999999999999", "integer")],
    [{ list: { optional: "integer" } }, [null], 0],
  ])("%j of %j has nothing under %j", (type, source, key) => {
    expect(failed(part("get", { key }), doc(source, type)).code).toBe("missing");
    expect(result(part("get", { key, else: 0 }), doc(source, type))).toBe("0");
    expect(result(part("has", { key }), doc(source, type))).toBe(false);
  });

  const order = {
    record: {
      id: "text",
      note: { optional: "text" },
      ship: { optional: { record: { city: "text", zip: { optional: "text" } } } },
      lines: { list: { record: { n: "integer" } } },
    },
  };
  test("through an optional there is an optional; get takes it away, or fails", () => {
    const full = { id: "1", ship: { city: "Bern" }, lines: [{ n: 5 }] };
    const bare = { id: "1", lines: [] };
    expect(result({ input: "doc/ship/city" }, doc(full, order))).toBe("Bern");
    expect(result({ input: "doc/ship/city" }, doc(bare, order))).toBe(null);
    expect(result({ input: "doc/ship/zip" }, doc(full, order))).toBe(null);
    const concat = (value: unknown) => ({ op: "concat", values: [value] });
    expect(codes(concat({ input: "doc/ship/city" }), doc(full, order))).toEqual(["type_mismatch"]);
    const city = part("get", { pointer: "/ship/city" });
    expect(result(concat(city), doc(full, order))).toBe("Bern");
    expect(failed(concat(city), doc(bare, order)).code).toBe("missing");
    expect(result(part("has", { pointer: "/ship/zip" }), doc(full, order))).toBe(false);
    expect(result({ op: "get", value: { input: "doc/note" }, else: "-" }, doc(full, order))).toBe(
      "-",
    );
  });

  test("a typed list answers missing beyond its end, at compile time it knows its fields", () => {
    const bare = doc({ id: "1", lines: [{ n: 5 }] }, order);
    expect(result({ input: "doc/lines/0/n" }, bare)).toBe("5");
    expect(failed({ input: "doc/lines/1/n" }, bare).code).toBe("missing");
    expect(codes({ input: "doc/lines/0/m" }, bare)).toEqual(["unknown_field"]);
    expect(codes({ input: "doc/lines/first" }, bare)).toEqual(["bad_pointer"]);
    expect(codes({ input: "doc/lines/01" }, bare)).toEqual(["bad_pointer"]);
    expect(codes({ input: "doc/id/0" }, bare)).toEqual(["unknown_field"]);
    expect(codes({ input: "doc/constructor" }, bare)).toEqual(["unknown_field"]);
    expect(codes({ op: "input", name: "doc", pointer: "id" }, bare)).toEqual(["bad_pointer"]);
    expect(codes({ op: "input", name: "doc", pointer: "/a~2" }, bare)).toEqual(["bad_pointer"]);
  });

  test("no narrowing: after has, say get or default", () => {
    const around = { inputs: { x: [{ optional: "integer" }, 5] } } as const;
    const narrowed = (then: unknown) => ({
      op: "if",
      condition: { op: "has", value: { input: "x" } },
      then: { op: "add", left: then, right: 1 },
      else: 0,
    });
    expect(codes(narrowed({ input: "x" }), around)).toEqual(["type_mismatch /then"]);
    expect(result(narrowed({ op: "get", value: { input: "x" } }), around)).toBe("6");
  });

  test("default evaluates else only when the value is absent", () => {
    const otherwise = { op: "divide", left: 1, right: 0, rounding: "floor" };
    const around = (given: unknown) => ({
      inputs: { x: [{ optional: "integer" }, given] as const },
    });
    const expression = { op: "default", value: { input: "x" }, else: otherwise };
    expect(result(expression, around(5))).toBe("5");
    expect(failed(expression, around(null)).code).toBe("division_by_zero");
    expect(
      result({ op: "default", value: { input: "x" }, else: { input: "x" } }, around(null)),
    ).toBe(null);
  });

  test.each([
    [{ op: "default", value: 1, else: 2 }, ["not_optional"]],
    [{ op: "get", value: 1 }, ["not_optional"]],
    [{ op: "has", value: [1] }, ["not_optional"]],
    [{ op: "get", value: [1], pointer: "/0", key: 0 }, ["bad_member"]],
    [{ op: "get", value: [1], key: "0" }, ["type_mismatch"]],
    [{ op: "get", value: literal({}, { dictionary: "text" }), key: 0 }, ["type_mismatch"]],
    [{ op: "get", value: { op: "record", fields: {} }, key: "a" }, ["type_mismatch"]],
    [{ op: "get", value: { op: "to_json", value: 1 }, key: "a" }, ["type_mismatch"]],
    [{ op: "get", value: [1], key: 0, else: "none" }, ["type_mismatch"]],
    [{ op: "default", value: { op: "first", list: [1] }, else: "none" }, ["type_mismatch"]],
  ])("%j is refused: %j", (expression, expected) => {
    expect(codes(expression)).toEqual(expected);
  });
});

describe("merge and entries", () => {
  test("right wins, not deep", () => {
    const record = (fields: object) => ({ op: "record", fields });
    const merged = {
      op: "merge",
      left: record({ a: 1, b: record({ c: 1, d: 1 }) }),
      right: record({ b: record({ c: 2 }), e: "x" }),
    };
    expect(result(merged)).toEqual({ a: "1", b: { c: "2" }, e: "x" });
    const dictionary = (value: object) => literal(value, { dictionary: "integer" });
    expect(
      result({ op: "merge", left: dictionary({ a: 1, b: 2 }), right: dictionary({ b: 3, c: 4 }) }),
    ).toEqual({ a: "1", b: "3", c: "4" });
  });

  test("a field of both types is the right one's, also where it is null", () => {
    const around = { inputs: { patch: [{ record: { a: { optional: "integer" } } }, {}] } } as const;
    const merged = {
      op: "merge",
      left: { op: "record", fields: { a: 1 } },
      right: { input: "patch" },
    };
    expect(result(merged, around)).toEqual({});
  });

  test("dictionaries take the common type, other pairs are refused", () => {
    const left = literal({ a: 1 }, { dictionary: "integer" });
    const right = literal({ b: null }, { dictionary: { optional: "integer" } });
    expect(result({ op: "merge", left, right })).toEqual({ a: "1", b: null });
    const texts = literal({ a: "x" }, { dictionary: "text" });
    expect(codes({ op: "merge", left, right: texts })).toEqual(["type_mismatch"]);
    expect(codes({ op: "merge", left, right: { op: "record", fields: {} } })).toEqual([
      "type_mismatch",
    ]);
    expect(codes({ op: "merge", left: 1, right: 2 })).toEqual(["type_mismatch"]);
  });

  test("a dictionary that would hold more than the limit is too large", () => {
    const around = { limits: { elements: 3 } };
    const left = literal({ a: 1, b: 2 }, { dictionary: "integer" });
    const right = literal({ c: 1, d: 2 }, { dictionary: "integer" });
    expect(failed({ op: "merge", left, right }, around).code).toBe("too_large");
    expect(result({ op: "merge", left, right: left }, around)).toEqual({ a: "1", b: "2" });
  });

  test("entries come by key, in text order of UTF-16 units", () => {
    const source = { "\uFB01": 1, "\u{1F600}": 2, b: 3, a: 4, B: 5, "": 6 };
    const keys = (
      result({ op: "entries", value: literal(source, { dictionary: "integer" }) }) as readonly {
        key: string;
      }[]
    ).map(({ key }) => key);
    expect(keys).toEqual(["", "B", "a", "b", "\u{1F600}", "\uFB01"]);
    expect(codes({ op: "entries", value: { op: "record", fields: {} } })).toEqual([
      "type_mismatch",
    ]);
  });
});

describe("digest", () => {
  const sha = (text: string) =>
    `sha256:${createHash("sha256").update(`rote-value/v1\n${text}`).digest("hex")}`;

  test.each([
    [12, '"12"'],
    ["a", '"a"'],
    [null, "null"],
    [[1, null], '["1",null]'],
    [{ op: "record", fields: { b: 1, a: true } }, '{"a":true,"b":"1"}'],
    [literal("2026-01-31T01:00:00+01:00", "timestamp"), '"2026-01-31T00:00:00Z"'],
    [literal({ z: 1, a: 2 }, { dictionary: "integer" }), '{"a":"2","z":"1"}'],
  ])("of %j is over the tag and %s", (value, text) => {
    expect(result({ op: "digest", value })).toBe(sha(text));
  });

  test("json members in any order have one digest", () => {
    const around = (source: unknown) => ({ inputs: { doc: ["json", source] as const } });
    const digest = { op: "digest", value: { input: "doc" } };
    expect(result(digest, around({ a: 1, b: [1.5] }))).toBe(sha('{"a":1,"b":[1.5]}'));
    expect(result(digest, around({ b: [1.5], a: 1 }))).toBe(sha('{"a":1,"b":[1.5]}'));
    expect(json({ a: 1 })).toBeDefined();
  });
});
