import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Procedure } from "../../src/app/procedure.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { bindRecipe, EMPTY_ENVIRONMENT } from "../../src/compile/index.ts";
import type { ModelIdentity } from "../../src/model/run.ts";
import type { Run } from "../../src/run/index.ts";

/** The recipes that ship with the package, as a test needs them: bound to nothing and started. */

export type Inputs = { readonly [name: string]: JsonValue };

const folder = fileURLToPath(new URL("../../recipes/", import.meta.url));

/** Recipes that need no host; those that do come with the documents that they read. */
export const RECIPE_NAMES: readonly string[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !existsSync(`${folder}${entry.name}/documents`))
  .map((entry) => entry.name)
  .sort();

function recipeFile(name: string, file: string): string {
  return `${folder}${name}/${file}`;
}

export function readRecipe(name: string): JsonValue {
  return JSON.parse(readFileSync(recipeFile(name, "recipe.json"), "utf8")) as JsonValue;
}

export function readVerifier(name: string): JsonValue {
  return JSON.parse(readFileSync(recipeFile(name, "verifier.json"), "utf8")) as JsonValue;
}

/** The recipe's own sample inputs. */
export function sampleInputs(name: string): readonly Inputs[] {
  return jsonLines(recipeFile(name, "inputs.jsonl")).map((line) => line as Inputs);
}

export function jsonLines(file: string): readonly JsonValue[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonValue);
}

export const environment = EMPTY_ENVIRONMENT;
const models: { readonly default: ModelIdentity } = {
  default: { provider: "scripted", name: "answers" },
};
export const startOptions = { environment, models };

export function shippedProcedure(name: string): Procedure {
  return new Procedure(bindRecipe(readRecipe(name), environment), { verifier: readVerifier(name) });
}

interface Answer {
  readonly node: string;
  readonly prompt: JsonValue;
  readonly answer: JsonValue;
}

/** Runs to the end; model boundaries are answered from the recipe's answers file, by prompt. */
export function finish(run: Run, name: string): Run {
  const answers = answersOf(name);
  let state = run.advancePure({ environment });
  while (state === "awaiting_model") {
    const pending = run.pendingModel;
    const prompt = JSON.stringify(pending?.prompt);
    const found = answers.find(
      (answer) => answer.node === pending?.node && JSON.stringify(answer.prompt) === prompt,
    );
    if (found === undefined) throw new Error(`no answer for ${prompt}`);
    state = run.advancePure({ environment, model: { answer: found.answer } });
  }
  return run;
}

function answersOf(name: string): readonly Answer[] {
  const file = recipeFile(name, "answers.jsonl");
  return existsSync(file) ? jsonLines(file).map((line) => line as unknown as Answer) : [];
}
