import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { compileRecipe, compileVerifier } from "../compile/index.ts";
import type { Host } from "../host/index.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan, RunLimits, Verifier } from "../model/plan.ts";
import { systemClock } from "../os/clock.ts";
import { systemRandom } from "../os/random.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import { type Models, type Run, resumeRun, startRun } from "../run/index.ts";

export interface ProcedureOptions {
  /**
   * The rule that alone makes a run verified: a verifier document or a bare expression, in any of the forms of a
   * recipe. Keep its choice out of the reach of whoever writes recipes.
   */
  readonly verifier: unknown;
  /** Default: the machine's clocks. */
  readonly clock?: Clock;
  /** Default: the operating system's randomness. */
  readonly random?: Random;
}

export interface ProcedureStart {
  /** Must equal the recipe's, or nothing is started. */
  readonly environment: Environment;
  /** The model behind each role of the recipe's model nodes (`default` where a node names none). */
  readonly models?: Models;
  /** May only lower the recipe's limits. */
  readonly limits?: Partial<RunLimits>;
}

/**
 * A recipe together with its verifier, both compiled and frozen.
 *
 * ```ts
 * const procedure = new Procedure(recipe, { verifier });
 * const run = procedure.start({ quantity: "6", price: "1200" }, { environment });
 * run.advancePure({ environment }); // "verified"
 * run.result; // "7200"
 * ```
 */
export class Procedure {
  readonly plan: Plan;
  readonly verifier: Verifier;
  readonly #clock: Clock;
  readonly #random: Random;

  /**
   * @param recipe JSON as bytes, as text, or already parsed.
   * @throws RoteError `recipe_invalid` or `verifier_invalid`; `data.diagnostics` lists every problem at once.
   */
  constructor(recipe: unknown, options: ProcedureOptions) {
    const plan = compileRecipe(recipe);
    if (!plan.ok) throw invalid("recipe_invalid", "recipe", plan.error);
    const verifier = compileVerifier(options.verifier, plan.value);
    if (!verifier.ok) throw invalid("verifier_invalid", "verifier", verifier.error);
    this.plan = plan.value;
    this.verifier = verifier.value;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    Object.freeze(this);
  }

  /** The plan's digest; null as long as the recipe is not bound to an environment. */
  get digest(): Digest | null {
    return this.plan.digest;
  }

  /**
   * A guided run: every model boundary is asked.
   *
   * @param inputs in JSON form; integers as text or as safe numbers.
   * @throws RoteError `unbound_plan` `environment_changed` `host_required` `journal_required` `model_unknown`
   * `bad_limit` `bad_input`: nothing was started.
   */
  start(inputs: { readonly [name: string]: JsonValue }, options: ProcedureStart): Run {
    return startRun(this.plan, this.verifier, inputs, {
      ...options,
      mode: "guided",
      clock: this.#clock,
      random: this.#random,
    });
  }

  /**
   * A guided run of this procedure made again from the host's journal, in any process: exactly where it was.
   *
   * @throws RoteError `unknown_run` `run_busy` `other_procedure` `other_semantics` `not_qualified` `journal_damaged`
   */
  resume(host: Host, run: string): Promise<Run> {
    return resumeRun(this.plan, this.verifier, host, run, { clock: this.#clock });
  }
}

function invalid(code: string, what: string, diagnostics: readonly Diagnostic[]): RoteError {
  const [first] = diagnostics;
  const more = diagnostics.length > 1 ? ` (and ${diagnostics.length - 1} more)` : "";
  const place = first === undefined || first.pointer === "" ? "" : ` at ${first.pointer}`;
  return new RoteError(code, `the ${what} was refused: ${first?.message ?? ""}${place}${more}`, {
    diagnostics: diagnostics.map((diagnostic) => ({
      ...diagnostic,
      related: diagnostic.related === undefined ? [] : [...diagnostic.related],
    })),
  });
}
