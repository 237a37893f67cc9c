import { invariant } from "../base/assert.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { EvaluationLimits } from "../expression/index.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import { parseRecipe } from "./1-parse.ts";
import { resolveRecipe } from "./2-resolve.ts";
import { checkRecipe } from "./3-check.ts";
import { lowerRecipe } from "./4-lower.ts";
import { type DocumentLimits, readSource } from "./source.ts";

export interface CompileOptions extends DocumentLimits {
  /** Bounds of every evaluation; lower than the defaults or without effect. */
  readonly evaluation?: Partial<EvaluationLimits>;
}

/**
 * Compiles a recipe: bytes or text as written, or a parsed JSON value (`unknown`, since it is judged here).
 *
 * All problems are reported at once, in a fixed order; with a text each has its line and column. Never throws for
 * anything the document says.
 */
export function compileRecipe(
  source: unknown,
  options: CompileOptions = {},
): Result<Plan, readonly Diagnostic[]> {
  const read = readSource(source, options);
  if (!read.ok) return read;
  const { document, report, enough, problems } = read.value;

  const parsed = parseRecipe(document, report, enough);
  const resolved = parsed && resolveRecipe(parsed, report);
  const checked = resolved && checkRecipe(resolved, options.evaluation, report);

  const found = problems();
  if (found !== null) return err(found);
  invariant(checked !== undefined, "what could not be checked was reported");
  return ok(lowerRecipe(checked));
}
