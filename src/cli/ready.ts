/** From documents to a procedure that can start. Apart from `documents.ts`, since checking and drawing start nothing. */
import { Procedure } from "../app/procedure.ts";
import { bindRecipe, compileRecipe, compileVerifier } from "../compile/index.ts";
import type { Host } from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan } from "../model/plan.ts";
import type { Random } from "../ports/random.ts";
import {
  type DocumentFile,
  environmentFor,
  invalid,
  readRecipe,
  readVerifier,
  verifierMissing,
} from "./documents.ts";
import { usageFault } from "./fault.ts";
import { type OptionValues, textOption } from "./spec.ts";
import type { Terminal } from "./terminal.ts";

/** A procedure that can start, and the environment that it is started in. */
export interface Ready {
  readonly procedure: Procedure;
  readonly environment: Environment;
  /** What was done to the recipe so that it can start, in words; null when nothing was. */
  readonly note: string | null;
}

/** Where and how a procedure is to start; by default without a host, under an id of its own. */
export interface Starting {
  readonly host?: Host;
  /** Where the id of the next run comes from. */
  readonly random?: Random;
}

/** Reads recipe and verifier and makes them ready to start; see `readyFrom`. */
export async function loadReady(
  file: string,
  options: OptionValues,
  terminal: Terminal,
  starting: Starting = {},
): Promise<Ready> {
  const recipe = { file, bytes: await readRecipe(file, terminal) };
  const verifier = await readVerifier(file, options, terminal);
  if (verifier === undefined) throw verifierMissing(file);
  return await readyFrom(recipe, verifier, options, terminal, starting);
}

/**
 * The environment to start in is the host's; without a host that of --environment, else the recipe's own, else the empty
 * one. Only an unbound recipe is bound to it; a recipe bound to another environment is for the run to refuse.
 *
 * @throws RoteError `recipe_invalid` or `verifier_invalid` with all diagnostics.
 */
export async function readyFrom(
  recipe: DocumentFile,
  verifier: DocumentFile,
  options: OptionValues,
  terminal: Terminal,
  { host, random }: Starting = {},
): Promise<Ready> {
  const made = (source: unknown) => procedureOf(recipe, source, verifier, random);
  const procedure = made(recipe.bytes);
  const { plan } = procedure;
  const environment =
    host === undefined
      ? await environmentFor(plan, options, terminal)
      : environmentAt(host, plan, options);
  if (plan.environment !== null) return { procedure, environment, note: null };
  const bound = bindRecipe(recipe.bytes, environment);
  const empty = textOption(options, "environment") ?? "the empty environment (no host)";
  const whose = host === undefined ? empty : `the host ${host.origin}`;
  const note = `${recipe.file} is unbound; for this command it is bound to ${whose}`;
  return { procedure: made(bound), environment, note };
}

/** @throws RoteError `bad_usage` when another one is named */
export function environmentAt(host: Host, plan: Plan, options: OptionValues): Environment {
  if (textOption(options, "environment") === undefined) return host.environment(plan);
  throw usageFault("--host and --environment both say what the environment is", "give one of them");
}

function procedureOf(
  recipe: DocumentFile,
  source: unknown,
  verifier: DocumentFile,
  random: Random | undefined,
): Procedure {
  try {
    return new Procedure(source, {
      verifier: verifier.bytes,
      ...(random === undefined ? {} : { random }),
    });
  } catch (error) {
    // Compiled again for the diagnostics with their places in the text.
    const plan = compileRecipe(recipe.bytes);
    if (!plan.ok) throw invalid("recipe", recipe.file, plan.error);
    const rule = compileVerifier(verifier.bytes, plan.value);
    if (!rule.ok) throw invalid("verifier", verifier.file, rule.error);
    throw error;
  }
}
