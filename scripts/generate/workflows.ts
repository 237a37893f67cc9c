/** Recipes and verifiers of the workflows: what the three have in common is written once, in `workflows/`. */
import { recipe as controls } from "./workflows/control-testing-recipe.ts";
import { verifier as controlsJudged } from "./workflows/control-testing-verifier.ts";
import { printed } from "./workflows/print.ts";
import {
  recipe as recalculation,
  verifier as recalculationJudged,
} from "./workflows/recalculation.ts";
import { recipe as transactions } from "./workflows/transaction-testing-recipe.ts";
import { verifier as transactionsJudged } from "./workflows/transaction-testing-verifier.ts";

export function outputs(): ReadonlyMap<string, string> {
  const all = {
    "control-testing": [controls, controlsJudged],
    recalculation: [recalculation, recalculationJudged],
    "transaction-testing": [transactions, transactionsJudged],
  };
  return new Map(
    Object.entries(all).flatMap(([name, [recipe = null, verifier = null]]) => [
      [`recipes/${name}/recipe.json`, printed(recipe)],
      [`recipes/${name}/verifier.json`, printed(verifier)],
    ]),
  );
}
