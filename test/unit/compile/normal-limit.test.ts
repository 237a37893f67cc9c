import { describe, expect, it } from "vitest";
import { compileRecipe } from "../../../src/compile/index.ts";
import { pure, recipe } from "../../support/compiling.ts";

const LONG = "a".repeat(1_000_000);

function passing(nodes: number) {
  const passed = Array.from({ length: nodes }, (_, index) =>
    pure(`n${index}`, { input: "long" }, index === 0 ? {} : { after: [`n${index - 1}`] }),
  );
  return recipe(passed, { inputs: { long: { enum: [LONG] } } });
}

const TOO_LONG = {
  ok: false,
  error: [{ code: "limit_exceeded", pointer: "", message: expect.stringContaining("67108864") }],
};

describe("the normal form of a small recipe", () => {
  it("is written as long as it stays in its limit", () => {
    expect(compileRecipe(passing(10))).toMatchObject({ ok: true, value: { id: "sample" } });
  });

  it("is refused as a problem of the document when its nodes repeat a long type", () => {
    expect(compileRecipe(passing(3_000))).toMatchObject(TOO_LONG);
    expect(compileRecipe(JSON.stringify(passing(3_000)))).toMatchObject(TOO_LONG);
  });

  it("is refused before it is written when one type repeats a long text", () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `f${index}`);
    const wide = { record: Object.fromEntries(names.map((name) => [name, "long"])) };
    const types = { long: { enum: [LONG] }, wide };
    const given = recipe([pure("n", 1)], { types, inputs: { given: "wide" } });
    expect(compileRecipe(given)).toMatchObject(TOO_LONG);
  });
});
