/** From documents to a procedure that can start. Apart from `documents.ts`, since checking and drawing start nothing. */
import { Procedure } from "../app/procedure.ts";
import { bindRecipe, compileRecipe, compileVerifier } from "../compile/index.ts";
import type { Environment } from "../model/environment.ts";
import {
  type DocumentFile,
  environmentFor,
  invalid,
  readRecipe,
  readVerifier,
  verifierMissing,
} from "./documents.ts";
import { type OptionValues, textOption } from "./spec.ts";
import type { Terminal } from "./terminal.ts";

/** A procedure that can start, and the environment that it is started in. */
export interface Ready {
  readonly procedure: Procedure;
  readonly environment: Environment;
  /** What was done to the recipe so that it can start, in words; null when nothing was. */
  readonly note: string | null;
}

/** Reads recipe and verifier and makes them ready to start; see `readyFrom`. */
export async function loadReady(
  file: string,
  options: OptionValues,
  terminal: Terminal,
): Promise<Ready> {
  const recipe = { file, bytes: await readRecipe(file, terminal) };
  const verifier = await readVerifier(file, options, terminal);
  if (verifier === undefined) throw verifierMissing(file);
  return await readyFrom(recipe, verifier, options, terminal);
}

/**
 * The environment to start in is that of --environment, else the recipe's own, else the empty one. Only an unbound
 * recipe is bound to it; a recipe bound to another environment is for the run to refuse.
 *
 * @throws RoteError `recipe_invalid` or `verifier_invalid` with all diagnostics.
 */
export async function readyFrom(
  recipe: DocumentFile,
  verifier: DocumentFile,
  options: OptionValues,
  terminal: Terminal,
): Promise<Ready> {
  const procedure = procedureOf(recipe, recipe.bytes, verifier);
  const environment = await environmentFor(procedure.plan, options, terminal);
  if (procedure.plan.environment !== null) return { procedure, environment, note: null };
  const bound = bindRecipe(recipe.bytes, environment);
  const whose = textOption(options, "environment") ?? "the empty environment (no host)";
  const note = `${recipe.file} is unbound; for this command it is bound to ${whose}`;
  return { procedure: procedureOf(recipe, bound, verifier), environment, note };
}

function procedureOf(recipe: DocumentFile, source: unknown, verifier: DocumentFile): Procedure {
  try {
    return new Procedure(source, { verifier: verifier.bytes });
  } catch (error) {
    // Compiled again for the diagnostics with their places in the text.
    const plan = compileRecipe(recipe.bytes);
    if (!plan.ok) throw invalid("recipe", recipe.file, plan.error);
    const rule = compileVerifier(verifier.bytes, plan.value);
    if (!rule.ok) throw invalid("verifier", verifier.file, rule.error);
    throw error;
  }
}
