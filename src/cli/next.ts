/** Command lines that go on with a run, whole enough to be typed. Files are as a shell takes them. */
import { quoted } from "../base/quoted.ts";
import type { OpenRequest } from "../host/index.ts";
import type { ModelIdentity } from "../model/run.ts";

/** The run of a request: only operations of agents are calls. */
export function resumeAsked({ run, operations }: OpenRequest, host: string): string {
  const agent = operations.some(({ operation }) => operation.call !== null);
  return agent ? resumeAgent(run, null, host) : resumeRun(run, host);
}

export function resumeRun(run: string, host: string): string {
  return `rote runs resume ${run} --host ${host}`;
}

/** An agent's run goes on with the model that it was begun with; null where that is not at hand. */
export function resumeAgent(run: string, model: ModelIdentity | null, host: string): string {
  return `rote agent resume ${run} --host ${host} ${modelWords(model)}`;
}

function modelWords(model: ModelIdentity | null): string {
  if (model === null) return "--script FILE|--model PROVIDER:MODEL";
  const { provider, name } = model;
  if (provider === "scripted") return `--script ${quoted(name)}`;
  return `--model ${quoted(`${provider}:${name}`)}`;
}
