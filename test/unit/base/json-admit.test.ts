import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../src/base/canonical.ts";
import {
  admitJson,
  type JsonError,
  type JsonLimits,
  type JsonValue,
} from "../../../src/base/json.ts";

function taken(value: unknown, limits?: JsonLimits): JsonValue {
  const admission = admitJson(value, limits);
  if (!admission.ok) throw new Error(`refused: ${admission.error.message}`);
  return admission.value;
}

function refused(value: unknown, limits?: JsonLimits): JsonError {
  const admission = admitJson(value, limits);
  if (admission.ok) throw new Error("taken");
  return admission.error;
}

class Money {
  readonly amount = "5";
}

const cyclic: { items: unknown[] } = { items: [] };
cyclic.items.push(1, { back: cyclic });

describe("admitJson", () => {
  it("copies deeply into objects without prototype, so later changes reach nothing", () => {
    const inner = { b: [1, "x", true, null] };
    const copy = taken({ a: inner });
    inner.b.push(2);
    expect(JSON.stringify(copy)).toBe('{"a":{"b":[1,"x",true,null]}}');
    expect(Object.getPrototypeOf(copy)).toBeNull();
    expect(Object.getPrototypeOf((copy as { a: object }).a)).toBeNull();
  });

  it("takes a shared object in every place where it occurs", () => {
    const shared = { x: [1] };
    expect(JSON.stringify(taken({ a: shared, ab: [shared, shared] }))).toBe(
      '{"a":{"x":[1]},"ab":[{"x":[1]},{"x":[1]}]}',
    );
  });

  it("keeps an own __proto__ as plain data (B101)", () => {
    const copy = taken(JSON.parse('{"__proto__":{"admin":true}}'));
    expect(Object.keys(copy as object)).toEqual(["__proto__"]);
    expect((copy as { admin?: unknown }).admin).toBeUndefined();
  });

  it.each<[string, unknown, JsonError["code"], string]>([
    ["undefined", { a: undefined }, "bad_json", "/a"],
    ["a function", { a: () => 1 }, "bad_json", "/a"],
    ["a symbol", [Symbol("s")], "bad_json", "/0"],
    ["a bigint", { n: 5n }, "bad_json", "/n"],
    ["a date", { at: new Date(0) }, "bad_json", "/at"],
    ["a map", [new Map()], "bad_json", "/0"],
    ["a class instance", [0, new Money()], "bad_json", "/1"],
    ["a boxed text", Object("x"), "bad_json", ""],
    ["bytes", { b: new Uint8Array(1) }, "bad_json", "/b"],
    ["a subclass of Array", [new (class extends Array {})()], "bad_json", "/0"],
    ["inherited members", Object.create({ a: 1 }), "bad_json", ""],
    ["a hole", { list: new Array(1) }, "bad_json", "/list"],
    ["a named property of a list", Object.assign([1], { x: 1 }), "bad_json", ""],
    [
      "a getter",
      {
        a: {
          get b() {
            return 1;
          },
        },
      },
      "bad_json",
      "/a/b",
    ],
    ["a hidden property", Object.defineProperty({}, "a", { value: 1 }), "bad_json", "/a"],
    ["a symbol key", { [Symbol("k")]: 1 }, "bad_json", ""],
    ["a value that contains itself", cyclic, "bad_json", "/items/1/back"],
    ["what stands after deeper values", { a: [1, [2]], b: new Map() }, "bad_json", "/b"],
    ["NaN", { x: Number.NaN }, "bad_number", "/x"],
    ["Infinity", { x: [Number.POSITIVE_INFINITY] }, "bad_number", "/x/0"],
    ["a decimal", { x: 1.5 }, "bad_number", "/x"],
    ["an unsafe integer", { x: 2 ** 53 }, "bad_number", "/x"],
    ["a lone surrogate", { x: "\ud800" }, "bad_encoding", "/x"],
    ["a lone surrogate in a name", { "\udc00": 1 }, "bad_encoding", "/\udc00"],
  ])("refuses %s by place (B083, B084)", (_, value, code, pointer) => {
    expect(refused(value)).toMatchObject({ code, pointer, line: 0, column: 0, excerpt: "" });
  });

  it("takes finite numbers where asked to, and makes -0 the one zero", () => {
    expect(taken([1.5, 2 ** 60, -0], { numbers: "finite" })).toEqual([1.5, 2 ** 60, 0]);
    expect(refused([Number.NaN], { numbers: "finite" }).code).toBe("bad_number");
  });

  it("never runs code of the value", () => {
    let calls = 0;
    const trap = {
      get a(): number {
        calls += 1;
        return calls;
      },
      toJSON: () => {
        calls += 1;
        return 1;
      },
    };
    expect(refused(trap).code).toBe("bad_json");
    expect(calls).toBe(0);
  });

  it("holds the limits of the reader, sharing included (B102)", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 65; level += 1) deep = [deep];
    expect(refused(deep).code).toBe("document_too_deep");
    expect(taken((deep as unknown[])[0])).toBeDefined();
    let wide: unknown = "leaf";
    for (let level = 0; level < 40; level += 1) wide = [wide, wide];
    expect(refused(wide).code).toBe("document_too_large");
    expect(refused(new Array(2_000_000)).code).toBe("document_too_large");
    expect(refused(["x".repeat(100)], { maxBytes: 100 }).code).toBe("document_too_large");
    expect(refused([1, 2], { maxNodes: 2 }).code).toBe("document_too_large");
  });

  it("gives what reading the same document as text gives", () => {
    const document = { z: [1, { y: "é" }], a: null };
    expect(canonicalText(taken(document))).toBe('{"a":null,"z":[1,{"y":"é"}]}');
  });
});
