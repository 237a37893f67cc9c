/** Runs and the model behind them: who it is, and advancing a run with its answers until it ends or waits. */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Host } from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan } from "../model/plan.ts";
import type { ModelAnswer, ModelIdentity, PendingModel } from "../model/run.ts";
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
    const question = askedBy(run);
    const given = await model.answer(question, signal);
    if (signal?.aborted === true) return run.cancel();
    state = run.advancePure({ environment, model: answerTo(question, given) });
  }
  return state;
}

export interface AnsweringAtHost extends Omit<Answering, "environment"> {
  /** A signed decision about the request that the run waits for, as its envelope. */
  readonly approval?: JsonValue;
}

/**
 * As `advanceAnswering`, for a run at a host. A `signal` that is aborted leaves the run where it is as soon as nothing is
 * in flight, for whoever resumes it; it does not cancel it.
 *
 * @throws RoteError as `run.advanceAsync`, and as `advanceAnswering`: the run waits as before
 */
export async function advanceAtHost(
  run: Run,
  host: Host,
  { model, signal, approval }: AnsweringAtHost,
): Promise<RunStateName> {
  const paused = (): boolean => signal?.aborted === true;
  if (paused()) return run.state;
  const pause = signal === undefined ? {} : { pause: signal };
  let state = await run.advanceAsync(host, {
    ...pause,
    ...(approval === undefined ? {} : { approval }),
  });
  while (state === "awaiting_model" && model !== null && !paused()) {
    const question = askedBy(run);
    const given = await model.answer(question, signal);
    if (paused()) return run.state;
    state = await run.advanceAsync(host, { ...pause, model: answerTo(question, given) });
  }
  return state;
}

function askedBy(run: Run): PendingModel {
  const question = run.pendingModel;
  if (question !== null) return question;
  throw new RoteError("internal_error", "a run waits for a model and says not for what");
}

function answerTo(
  { node, index }: PendingModel,
  { answer, usage }: Awaited<ReturnType<LanguageModel["answer"]>>,
): ModelAnswer {
  return { node, ...(index === null ? {} : { index }), answer, usage };
}
