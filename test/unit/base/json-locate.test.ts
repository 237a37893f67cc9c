import { describe, expect, it } from "vitest";
import { locate } from "../../../src/base/json.ts";

const TEXT = `{
  "id": "line_total",
  "nodes": [
    {"id": "a", "step": {"kind": "pure"}},
    {"id": "b\\u002f", "a/b": [10, [20, 30]], "~": null}
  ]
}`;

function places(text: string, pointers: readonly string[]): Record<string, [number, number]> {
  const found = locate(text, pointers);
  return Object.fromEntries([...found].map(([key, { line, column }]) => [key, [line, column]]));
}

describe("locate", () => {
  it("finds where each value begins, however many are asked for at once", () => {
    const pointers = [
      "",
      "/id",
      "/nodes",
      "/nodes/1",
      "/nodes/0/step/kind",
      "/nodes/1/a~1b/1/1",
      "/nodes/1/~0",
    ];
    expect(places(TEXT, pointers)).toEqual({
      "": [1, 1],
      "/id": [2, 9],
      "/nodes": [3, 12],
      "/nodes/1": [5, 5],
      "/nodes/0/step/kind": [4, 34],
      "/nodes/1/a~1b/1/1": [5, 40],
      "/nodes/1/~0": [5, 51],
    });
  });

  it("gives what is not there the place of the nearest value around it", () => {
    expect(places(TEXT, ["/terminal", "/nodes/7/id", "/nodes/0/step/value/op", "/id/x"])).toEqual({
      "/terminal": [1, 1],
      "/nodes/7/id": [3, 12],
      "/nodes/0/step/value/op": [4, 25],
      "/id/x": [2, 9],
    });
  });

  it("reads member names through their escapes", () => {
    expect(places('{"\\u0061": 1, "b": {"\\"": 2}}', ["/a", '/b/"'])).toEqual({
      "/a": [1, 12],
      '/b/"': [1, 27],
    });
  });

  it("shows the line around the place", () => {
    expect(locate(TEXT, ["/nodes/0/id"]).get("/nodes/0/id")).toEqual({
      line: 4,
      column: 12,
      excerpt: '    {"id": "a", "step": {"kind": "pure"}},',
      caret: 11,
    });
  });

  it.each(["", "{", '{"a', '{"a":', "[[[", "nonsense", '{"a" 1, "b"}', "[1,,2]", "]"])(
    "answers without an error for the text %s, which is not JSON",
    (text) => {
      const found = locate(text, ["", "/a", "/0/0", "/b/c"]);
      expect([...found.keys()].sort()).toEqual(["", "/0/0", "/a", "/b/c"]);
    },
  );
});
