import { compileRecipe, compileVerifier } from "../../src/compile/index.ts";
import type { Environment } from "../../src/model/environment.ts";
import type { Plan, Verifier } from "../../src/model/plan.ts";
import type { Models, Run, RunEvent, StartOptions } from "../../src/run/index.ts";
import { startRun } from "../../src/run/run.ts";
import { countingRandom } from "./counting-random.ts";
import { manualClock } from "./manual-clock.ts";

export const ENVIRONMENT: Environment = {
  policy: "1".repeat(64),
  tools: "2".repeat(64),
  credentials: "3".repeat(64),
  evidence: "4".repeat(64),
  host_configuration: null,
};

export const MODELS: Models = { default: { provider: "test", name: "scripted" } };

/** A recipe around these nodes, bound to `ENVIRONMENT`; its last node is the terminal. */
export function recipeOf(
  inputs: { readonly [name: string]: unknown },
  nodes: readonly { readonly id: string; readonly [member: string]: unknown }[],
  more: { readonly [member: string]: unknown } = {},
): unknown {
  const terminal = nodes.at(-1)?.id;
  return { version: 1, id: "case", environment: ENVIRONMENT, inputs, terminal, nodes, ...more };
}

export interface Compiled {
  readonly plan: Plan;
  readonly verifier: Verifier;
}

/** Both compiled, or an error that shows every diagnostic. */
export function compiled(recipe: unknown, verifier: unknown = true): Compiled {
  const plan = compileRecipe(recipe);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error, null, 2));
  const rule = compileVerifier(verifier, plan.value);
  if (!rule.ok) throw new Error(JSON.stringify(rule.error, null, 2));
  return { plan: plan.value, verifier: rule.value };
}

/** A guided run that records its events, on a clock that stands still. */
export function started(
  { plan, verifier }: Compiled,
  inputs: unknown,
  options: Partial<StartOptions> = {},
): { readonly run: Run; readonly events: readonly RunEvent[] } {
  const events: RunEvent[] = [];
  const run = startRun(plan, verifier, inputs, {
    mode: "guided",
    environment: ENVIRONMENT,
    models: MODELS,
    clock: manualClock(),
    random: countingRandom(),
    record: (event) => events.push(event),
    ...options,
  });
  return { run, events };
}
