import { expect, it } from "vitest";
import { allOutputs, outdated } from "../../scripts/generate.ts";

it("every generated file in the tree is what the source says (npm run generate)", async () => {
  const outputs = await allOutputs();
  expect([...outputs.keys()].sort()).toEqual([
    "docs/cli.md",
    "docs/errors.md",
    "docs/expressions.md",
    "docs/formats.md",
    "docs/gate.md",
    "docs/states.md",
    "recipes/control-testing/recipe.json",
    "recipes/control-testing/verifier.json",
    "recipes/recalculation/recipe.json",
    "recipes/recalculation/verifier.json",
    "recipes/transaction-testing/recipe.json",
    "recipes/transaction-testing/verifier.json",
    "schema/recipe.schema.json",
    "schema/verifier.schema.json",
  ]);
  expect(outdated(outputs)).toEqual([]);
});
