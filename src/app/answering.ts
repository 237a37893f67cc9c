/** Runs and the model behind them: who it is, and advancing a run with its answers until it ends or waits. */
import { RoteError } from "../base/error.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan } from "../model/plan.ts";
import type { ModelIdentity } from "../model/run.ts";
import type { RunStateName } from "../model/stop.ts";
import type { LanguageModel } from "../ports/language-model.ts";
import type { Models, Run } from "../run/index.ts";

export { type ScriptProblem, scriptedModel } from "../llm/scripted.ts";
export type { LanguageModel } from "../ports/language-model.ts";

/** One model behind every role that the plan asks. */
export function modelsFor(plan: Plan, identity: ModelIdentity): Models {
  const models: { [role: string]: ModelIdentity } = {};
  for (const { step } of plan.nodes) {
    if (step.kind === "model") models[step.role] = identity;
  }
  return models;
}

export interface Answering {
  readonly environment: Environment;
  /** Null leaves the run at its first boundary. */
  readonly model: LanguageModel | null;
  /** Once aborted, the run is cancelled before it is advanced again. */
  readonly signal?: AbortSignal;
}

/**
 * Advances a run, asking `model` at each boundary, until it ends or there is nobody to ask.
 *
 * @throws RoteError `invalid_model_answer`, or whatever the model throws (`provider_error`): the run waits as before.
 */
export async function advanceAnswering(run: Run, answering: Answering): Promise<RunStateName> {
  const { environment, model, signal } = answering;
  let state = signal?.aborted === true ? run.cancel() : run.advancePure({ environment });
  while (state === "awaiting_model" && model !== null) {
    const question = run.pendingModel;
    if (question === null) {
      throw new RoteError("internal_error", "a run waits for a model and says not for what");
    }
    const { answer, usage } = await model.answer(question, signal);
    if (signal?.aborted === true) return run.cancel();
    const { node, index } = question;
    const place = index === null ? { node } : { node, index };
    state = run.advancePure({ environment, model: { ...place, answer, usage } });
  }
  return state;
}
