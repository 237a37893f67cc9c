import { describe, expect, it } from "vitest";
import { canonicalBytes, canonicalText, MAX_CANONICAL_DEPTH } from "../../../src/base/canonical.ts";
import { RoteError } from "../../../src/base/error.ts";
import { type JsonValue, readJson } from "../../../src/base/json.ts";

/** What a caller without types can hand over. */
function refusal(value: unknown): { code: string; pointer: unknown } {
  try {
    canonicalText(value as JsonValue);
  } catch (error) {
    if (error instanceof RoteError) return { code: error.code, pointer: error.data["pointer"] };
    throw error;
  }
  throw new Error("taken");
}

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

class Money {
  readonly amount = "5";
}

describe("canonicalText", () => {
  it("orders members by UTF-16 units at every depth and normalises nothing (B085)", () => {
    expect(canonicalText({ "\ufb33": 1, "\u{1f600}": 2, b: { z: 1, a: 2 }, "10": 1, "9": 2 })).toBe(
      '{"10":1,"9":2,"b":{"a":2,"z":1},"\u{1f600}":2,"\ufb33":1}',
    );
    expect(canonicalText({ "e\u0301": 1 })).not.toBe(canonicalText({ "\u00e9": 1 }));
  });

  it("escapes only what JSON demands, in the shortest way", () => {
    expect(canonicalText('\u0000\u0007\b\t\n\u000b\f\r\u001f"\\/\u007f\u2028é€😀')).toBe(
      '"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\/\u007f\u2028é€😀"',
    );
  });

  it("writes numbers in their shortest form, and -0 as 0 (B085)", () => {
    expect(canonicalText([-0, 1, -1.5, 1e21, 1e20, 1e-7, 5e-324, 0.1 + 0.2])).toBe(
      "[0,1,-1.5,1e+21,100000000000000000000,1e-7,5e-324,0.30000000000000004]",
    );
  });

  it("writes data members named toJSON and __proto__ like any other, in one order", () => {
    const written = '{"__proto__":{"x":1},"a":2,"toJSON":1,"z":1}';
    for (const text of [
      '{"z":1,"toJSON":1,"a":2,"__proto__":{"x":1}}',
      '{"__proto__":{"x":1},"toJSON":1,"a":2,"z":1}',
    ]) {
      expect(canonicalText(JSON.parse(text))).toBe(written);
    }
  });

  it("writes an object that occurs in several places each time", () => {
    const shared = { x: 1 };
    expect(canonicalText({ ab: shared, a: [shared, shared] })).toBe(
      '{"a":[{"x":1},{"x":1}],"ab":{"x":1}}',
    );
  });

  it("keeps null apart from absent (B084)", () => {
    expect(canonicalText({ a: null })).toBe('{"a":null}');
    expect(canonicalText({})).toBe("{}");
  });

  it.each<[string, unknown, string]>([
    ["NaN", { x: Number.NaN }, "/x"],
    ["Infinity", { x: [1, Number.POSITIVE_INFINITY] }, "/x/1"],
    ["-Infinity", Number.NEGATIVE_INFINITY, ""],
    ["undefined", { a: undefined }, "/a"],
    ["undefined alone", undefined, ""],
    ["a hole", [1, ...[], ...new Array(1)], "/1"],
    ["a real hole", { list: new Array(2) }, "/list/0"],
    ["a function", { f: () => 1 }, "/f"],
    ["a symbol", [Symbol("s")], "/0"],
    ["a bigint", { "a/b": 5n }, "/a~1b"],
    ["a date", { at: new Date(0) }, "/at"],
    ["a map", [new Map()], "/0"],
    ["a class instance", [new Money()], "/0"],
    ["a boxed number", Object(5), ""],
    ["bytes", { b: new Uint8Array(1) }, "/b"],
    ["a subclass of Array", [new (class extends Array {})()], "/0"],
    ["inherited members", Object.create({ a: 1 }), ""],
    [
      "a getter",
      {
        a: {
          get b() {
            return 1;
          },
        },
      },
      "/a/b",
    ],
    ["a hidden property", { h: Object.defineProperty({}, "a", { value: 1 }) }, "/h"],
    ["a symbol key", { [Symbol("k")]: 1 }, ""],
    ["a lone surrogate", { x: "a\ud800" }, "/x"],
    ["a reversed pair", ["\ude00\ud83d"], "/0"],
    ["a lone surrogate in a name", { "\udc00": 1 }, "/\udc00"],
  ])("has no form for %s, and says where (B083, B084, B085)", (_, value, pointer) => {
    expect(refusal(value)).toEqual({ code: "not_canonical", pointer });
  });

  it("has no form for a value that contains itself, and the stack survives (B102)", () => {
    expect(refusal(cyclic).code).toBe("not_canonical");
    let deep: JsonValue = 1;
    for (let level = 0; level < MAX_CANONICAL_DEPTH; level += 1) deep = [deep];
    expect(canonicalText(deep).length).toBe(2 * MAX_CANONICAL_DEPTH + 1);
    expect(refusal([deep]).code).toBe("not_canonical");
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    expect(refusal(deep).code).toBe("not_canonical");
  });

  it("gives bytes of exactly their own length, whatever the size", () => {
    for (const size of [0, 1, 2046, 2047, 2048, 5000, 100_000]) {
      for (const unit of ["a", "é", "€", "😀", "\u0001"]) {
        const bytes = canonicalBytes([unit.repeat(size)]);
        expect(bytes.buffer.byteLength).toBe(bytes.length);
        expect(new TextDecoder().decode(bytes)).toBe(JSON.stringify([unit.repeat(size)]));
      }
    }
  });

  it("is not disturbed by what is written meanwhile, was refused before, or was larger", () => {
    const large = { text: "x".repeat(200_000) };
    const within = new Proxy(
      { a: 1 },
      {
        getOwnPropertyDescriptor: (target, key) => {
          canonicalText({ other: ["written", "meanwhile"] });
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
      },
    );
    expect(canonicalText({ before: "b", within })).toBe('{"before":"b","within":{"a":1}}');
    expect(refusal({ long: "y".repeat(5_000), not: undefined }).code).toBe("not_canonical");
    const first = canonicalBytes({ first: 1 });
    expect(canonicalText(large)).toBe(JSON.stringify(large));
    expect(canonicalText({ second: 2 })).toBe('{"second":2}');
    expect(Buffer.from(first).toString()).toBe('{"first":1}');
  });

  it("reads every member once", () => {
    const reads: string[] = [];
    const watched = new Proxy(
      { b: 1, a: { c: "x" } },
      {
        getOwnPropertyDescriptor(target, key) {
          reads.push(String(key));
          return Reflect.getOwnPropertyDescriptor(target, key);
        },
        get() {
          throw new Error("read past the descriptor");
        },
      },
    );
    // Listing the keys looks at each descriptor for being enumerable; the value comes from one further look.
    const text = canonicalText(watched);
    expect(text).toBe('{"a":{"c":"x"},"b":1}');
    expect(reads.slice(-2)).toEqual(["a", "b"]);
  });

  it("has one form however a document was made (B072)", () => {
    const text = '{"nodes":[{"id":"a","step":{"value":"x","kind":"pure"}}],"id":"r","version":1}';
    const reading = readJson(text);
    const shared = { value: "x", kind: "pure" };
    const built = { version: 1, nodes: [{ step: shared, id: "a" }], id: "r" };
    const expected =
      '{"id":"r","nodes":[{"id":"a","step":{"kind":"pure","value":"x"}}],"version":1}';
    expect(reading.ok && canonicalText(reading.value)).toBe(expected);
    expect(canonicalText(built)).toBe(expected);
    expect(canonicalText(JSON.parse(expected))).toBe(expected);
  });
});
