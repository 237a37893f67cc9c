import { describe, expect, it } from "vitest";
import { type JsonValue, readJson } from "../../../src/base/json.ts";
import { parsePointer, pointer, readPointer } from "../../../src/base/pointer.ts";

function read(text: string, at: string): JsonValue | undefined {
  const reading = readJson(text);
  const tokens = parsePointer(at);
  if (!reading.ok || tokens === undefined) throw new Error("bad test input");
  return readPointer(reading.value, tokens);
}

describe("parsePointer and pointer", () => {
  it.each<[string, readonly string[]]>([
    ["", []],
    ["/", [""]],
    ["//", ["", ""]],
    ["/a~1b/m~0n/~01", ["a/b", "m~n", "~1"]],
    ["/ /%25/é", [" ", "%25", "é"]],
  ])("reads %j as its tokens and writes them back", (text, tokens) => {
    expect(parsePointer(text)).toEqual(tokens);
    expect(pointer(...tokens)).toBe(text);
  });

  it.each(["a", "a/b", "#/a", "/~", "/~2", "/a~", "/~a/b"])("refuses %j", (text) => {
    expect(parsePointer(text)).toBeUndefined();
  });

  it("takes indexes as tokens", () => {
    expect(pointer("nodes", 0, "a/b")).toBe("/nodes/0/a~1b");
  });
});

describe("readPointer", () => {
  it("reads own members and canonical indexes", () => {
    expect(read('{"a":[10,{"":true}]}', "/a/1/")).toBe(true);
    expect(read('{"a":[10]}', "/a/0")).toBe(10);
    expect(read('{"a":null}', "/a")).toBe(null);
    expect(read('{"0":1}', "/0")).toBe(1);
  });

  it.each([
    "/constructor",
    "/constructor/name",
    "/__proto__",
    "/__proto__/x",
    "/toString",
    "/hasOwnProperty",
    "/list/length",
    "/list/constructor",
    "/list/-",
    "/list/-1",
    "/list/01",
    "/list/1.0",
    "/list/1e0",
    "/list/+1",
    "/list/ 1",
    "/list/3",
    "/list/4294967296",
    "/list/4294967297",
    "/list/18446744073709551616",
    "/list/",
    "/text/0",
    "/text/length",
    "/none/x",
  ])("finds nothing at %s (B101)", (at) => {
    const text = '{"list":[1,2,3],"text":"abc","none":null}';
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    expect(read(text, at)).toBeUndefined();
    const plain: JsonValue = JSON.parse(text);
    expect(readPointer(plain, parsePointer(at) ?? [])).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
  });

  it("reads members with the names of built-ins when they are data (B101)", () => {
    const text = '{"__proto__":{"x":1},"constructor":{"name":"n"}}';
    expect(read(text, "/__proto__/x")).toBe(1);
    expect(read(text, "/constructor/name")).toBe("n");
  });
});
