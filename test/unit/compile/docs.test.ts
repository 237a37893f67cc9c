import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RECIPE_LIMITS } from "../../../src/model/recipe-limits.ts";
import { planOf, pure, recipe, verifierOf } from "../../support/compiling.ts";

const PAGE = readFileSync(new URL("../../../docs/recipes.md", import.meta.url), "utf8");

describe("docs/recipes.md", () => {
  it("shows a verifier that compiles against a recipe of its inputs", () => {
    const [, json] = /```json\n(\{\n {2}"version"[\s\S]*?)```/.exec(PAGE) ?? [];
    const total = { op: "multiply", left: { input: "quantity" }, right: { input: "price" } };
    expect(verifierOf(json, planOf(recipe([pure("total", total)]))).id).toBe("total-again");
  });

  it("states the limits that hold", () => {
    const words = (count: number) => count.toLocaleString("en-US");
    expect(PAGE).toContain(`| document | ${RECIPE_LIMITS.bytes / 1024 / 1024} MiB, 64 levels |`);
    expect(PAGE).toContain(`| nodes | ${words(RECIPE_LIMITS.nodes)} |`);
    expect(PAGE).toContain(`| inputs, named types | ${words(RECIPE_LIMITS.inputs)} each |`);
    expect(PAGE).toContain(`| elements of an \`each\` | ${words(RECIPE_LIMITS.each)} |`);
    expect(RECIPE_LIMITS.types).toBe(RECIPE_LIMITS.inputs);
  });
});
