import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EVALUATION_CODES, OPERATOR_NAMES } from "../../../src/model/operators.ts";
import { failed, type Given, result } from "../../support/expressions.ts";

const text = readFileSync(
  fileURLToPath(new URL("../../../docs/expressions.md", import.meta.url)),
  "utf8",
);

interface Example {
  readonly inputs?: Given;
  readonly nodes?: Given;
  readonly gives?: unknown;
  readonly fails?: string;
}

const BLOCK = /((?:^ *<!-- example: .* -->\n)*)^ *```json\n([\s\S]*?)^ *```$/gm;

const blocks = [...text.matchAll(BLOCK)].map(([, comments = "", source = ""]) => ({
  source,
  examples: [...comments.matchAll(/<!-- example: (.*) -->/g)].map(
    ([, example = ""]) => JSON.parse(example) as Example,
  ),
}));

describe("docs/expressions.md", () => {
  test("has examples, and every one of them says what it gives", () => {
    expect(blocks.length).toBeGreaterThan(9);
    expect(blocks.filter(({ examples }) => examples.length === 0)).toEqual([]);
    expect(text.match(/```json/g)?.length).toBe(blocks.length);
  });

  const cases = blocks.flatMap(({ source, examples }) =>
    examples.map(
      (example) => [source.slice(0, 60).replaceAll("\n", " "), source, example] as const,
    ),
  );
  test.each(cases)("%s.. is true", (_, source, { inputs, nodes, gives, fails }) => {
    const around = { ...(inputs && { inputs }), ...(nodes && { nodes }) };
    if (fails === undefined) expect(result(JSON.parse(source), around)).toEqual(gives);
    else expect(failed(JSON.parse(source), around).code).toBe(fails);
  });

  test("has every operator and every evaluation code in its tables", () => {
    const rows = text.split("\n").filter((line) => line.startsWith("| `"));
    const first = new Set(rows.flatMap((row) => row.split("|")[1]?.match(/[a-z_]+/g) ?? []));
    expect([...OPERATOR_NAMES, ...EVALUATION_CODES].filter((name) => !first.has(name))).toEqual([]);
  });
});
