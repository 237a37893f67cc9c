/** The published JSON Schemas accept what is published and refuse what editors should underline. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pure, recipe } from "../../support/compiling.ts";
import { misfits } from "../../support/json-schema.ts";

const file = (path: string) => new URL(`../../../${path}`, import.meta.url);
const read = (path: string): unknown => JSON.parse(readFileSync(file(path), "utf8"));
const schema = (name: string) => read(`schema/${name}`) as Readonly<Record<string, unknown>>;

const RECIPE = schema("recipe.schema.json");
const VERIFIER = schema("verifier.schema.json");

const shipped = (name: string) =>
  readdirSync(file("recipes"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(name))
    .map((path) => `recipes/${path}`);

describe("the schema of recipes", () => {
  it("accepts the seed's graph", () => {
    expect(misfits(RECIPE, read("test/golden/seed/recipe.json"))).toEqual([]);
  });

  it("accepts every shipped recipe", () => {
    for (const path of shipped("recipe.json")) {
      expect([path, misfits(RECIPE, read(path))]).toEqual([path, []]);
    }
  });

  it.each([
    ["an unknown member", recipe([pure("a", 1, { stpe: 1 })])],
    ["an unknown operator", recipe([pure("a", { op: "multply", left: 1, right: 2 })])],
    ["a missing operand, deep inside", recipe([pure("a", [[{ op: "add", left: 1 }]])])],
    ["an unknown type", recipe([pure("a", 1, { output: { lst: "text" } })])],
    ["a bad id", recipe([pure("A", 1)])],
    ["a fraction", recipe([pure("a", 1.5)])],
  ])("refuses %s", (_, document) => {
    expect(misfits(RECIPE, document)).not.toEqual([]);
  });

  it("accepts what compiles", () => {
    const document = recipe([
      pure("a", [{ op: "let", name: "x", value: 1, in: { item: "x" } }], { when: true }),
    ]);
    expect(misfits(RECIPE, document)).toEqual([]);
  });
});

describe("the schema of verifiers", () => {
  it("accepts the seed's bare expression and documents", () => {
    const bare = read("test/golden/seed/verifier.json");
    expect(misfits(VERIFIER, bare)).toEqual([]);
    expect(misfits(VERIFIER, { version: 1, id: "x", result: bare })).toEqual([]);
    expect(misfits(VERIFIER, { version: 1, id: "x", results: bare })).not.toEqual([]);
  });

  it("accepts every shipped verifier", () => {
    for (const path of shipped("verifier.json")) {
      expect([path, misfits(VERIFIER, read(path))]).toEqual([path, []]);
    }
  });
});
