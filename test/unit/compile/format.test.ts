import { describe, expect, it } from "vitest";
import { formatDiagnostics } from "../../../src/compile/index.ts";
import { problemsOf } from "../../support/compiling.ts";

describe("problems as text", () => {
  it("have code, place, line with caret, pointer and hint", () => {
    const text = [
      "{",
      '  "version": 1, "id": "x", "inputs": {}, "terminal": "a",',
      '  "nodes": [{"id": "a", "stpe": 1, "step": {"kind": "pure", "value": 1}},',
      '    {"id": "a", "step": {"kind": "pure", "value": 1}}]',
      "}",
    ].join("\n");
    expect(formatDiagnostics(problemsOf(text), { file: "x.json" })).toBe(
      [
        'error[unknown_key]: no member "stpe" is known here',
        "  --> x.json:3:33",
        "   |",
        ' 3 |   "nodes": [{"id": "a", "stpe": 1, "step": {"kind": "pure", "value": 1}},',
        "   |                                 ^",
        "   = at /nodes/0/stpe",
        "   = hint: did you mean step?",
        "",
        'error[duplicate_node]: there is already a node "a"',
        "  --> x.json:4:12",
        "   |",
        ' 4 |     {"id": "a", "step": {"kind": "pure", "value": 1}}]',
        "   |            ^",
        "   = at /nodes/1/id",
        "   = see /nodes/0/id",
        "   = hint: ids are unique in a recipe; give every copy its own",
      ].join("\n"),
    );
  });

  it("point into a long line", () => {
    const nodes = Array.from(
      { length: 40 },
      (_, index) => `{"id":"n${index}","step":{"kind":"pure","value":${index}}}`,
    );
    const text = `{"version":1,"id":"x","inputs":{},"terminal":"n39","nodes":[${nodes
      .join(",")
      .replace('"value":20', '"value":{"op":"nope"}')}]}`;
    const lines = formatDiagnostics(
      problemsOf(text).filter(({ code }) => code === "unknown_operator"),
    ).split("\n");
    const [, , , source, caret] = lines;
    expect(source?.[caret?.indexOf("^") ?? 0]).toBe("{");
    expect(source?.slice(caret?.indexOf("^"))).toMatch(/^\{"op":"nope"\}/);
  });

  it("without a text have no lines", () => {
    expect(formatDiagnostics(problemsOf([]))).toBe(
      "error[bad_shape]: a recipe is an object, this is a list\n  --> document",
    );
  });

  it("cannot steer a terminal", () => {
    const text = '{"version":1,"\u009b31m\u202e":1,"id":"\\u001b[31mx"}';
    const shown = formatDiagnostics(problemsOf(text));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be there
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});
