import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sourceAt, sourcesIn } from "../../../src/base/json.ts";
import { pointer } from "../../../src/base/pointer.ts";

describe("the text of a value", () => {
  it("is as it stands, blanks and digits included", () => {
    const text = '{"a": [ {"n": 9007199254740993,"s":"}]"} , 1.50 ], "b" : true}';
    expect(sourceAt(text, "/a/0")).toBe('{"n": 9007199254740993,"s":"}]"}');
    expect(sourceAt(text, "/a/0/n")).toBe("9007199254740993");
    expect(sourceAt(text, "/a/1")).toBe("1.50");
    expect(sourceAt(text, "/b")).toBe("true");
    expect(sourceAt(text, "")).toBe(text);
  });

  it("is undefined where nothing is", () => {
    for (const at of ["/c", "/a/2", "/a/0/x", "/b/0"]) {
      expect(sourceAt('{"a":[{},1],"b":true}', at)).toBeUndefined();
    }
  });

  it("is the last one of members with the same name, however the name is written", () => {
    expect(sourceAt('{"a":1,"\\u0061":2}', "/a")).toBe("2");
  });

  it("reads back as the value that is there, anywhere in any document", () => {
    // Written and read again: no text says -0 and means it.
    const document = fc
      .jsonValue({ maxDepth: 4 })
      .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), document), (value) => {
        const text = JSON.stringify(value, null, 1);
        const found = Object.entries(value).map(([key]) => sourceAt(text, pointer(key)) ?? "?");
        expect(found.map((source) => JSON.parse(source) as unknown)).toEqual(Object.values(value));
        expect(sourcesIn(text)).toEqual(found);
      }),
    );
  });
});
