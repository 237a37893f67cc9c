import { modelsIn, resumeIn } from "../../app/journalled.ts";
import type { JsonValue } from "../../base/json.ts";
import { readJson } from "../../base/json.ts";
import { fault, usageFault } from "../fault.ts";
import { readDocument } from "../files.ts";
import { type OpenHost, withHost } from "../host.ts";
import { type CommandModel, loadModel } from "../models.ts";
import { loadReady } from "../ready.ts";
import { moveAtHost } from "../run/once.ts";
import { runJson, runText, type Telling } from "../run/told.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import type { Terminal } from "../terminal.ts";

/** Goes on with a run of the host's journal, or says how it ended. */
export async function run(call: Call): Promise<Outcome> {
  const { options, terminal, json } = call;
  const [name = "", recipe] = call.arguments;
  return await withHost(call, async (at) => {
    const { host } = at;
    const ready =
      recipe === undefined ? null : await loadReady(recipe, options, terminal, { host });
    const model = await loadModel(options, terminal);
    refuseOtherModel(at, name, model);
    const file = textOption(options, "approval");
    const approval = file === undefined ? undefined : await readEnvelope(file, terminal);
    const resumed = await resumeIn(host, name, ready?.procedure);
    try {
      const ended = await moveAtHost(resumed, at, {
        model: model.model,
        terminal,
        wait: switchOption(options, "wait"),
        tell: !json,
        ...(approval === undefined ? {} : { approval }),
      });
      const why = "as it was started";
      const telling: Telling = { at, phase: null, why, note: ready?.note ?? null };
      return { exit: ended.exit, json: runJson(ended, telling), text: runText(ended, telling) };
    } finally {
      await resumed.closeAsync();
    }
  });
}

/** Answers are recorded as those of the model that the run was started with. */
function refuseOtherModel(
  { host }: OpenHost,
  run: string,
  { identity, model, asked }: CommandModel,
) {
  if (model === null) return;
  for (const started of Object.values(modelsIn(host, run))) {
    const sameProvider = started.provider === identity.provider;
    if (sameProvider ? started.name === identity.name : !asked) continue;
    if (asked) {
      throw usageFault(
        `the run was started with ${started.provider}:${started.name}, and its answers are recorded as of that model`,
        `name it with --model ${started.provider}:${started.name}`,
      );
    }
    throw usageFault(
      `the run was started with the answers of ${started.name}, and these are of ${identity.name}`,
      "give the file that it was started with, or one of the same name",
    );
  }
}

const MAX_ENVELOPE_BYTES = 2_097_152;

/** A signed document in a file, passed on as it is. */
async function readEnvelope(file: string, terminal: Terminal): Promise<JsonValue> {
  const bytes = await readDocument(file, "approval", MAX_ENVELOPE_BYTES, terminal);
  const read = readJson(bytes);
  if (read.ok) return read.value;
  throw fault(
    "approval_refused",
    `approval ${file} is no signed document: line ${read.error.line}: ${read.error.message}`,
    "give the file that `rote approvals approve --out` wrote",
    { fault: "malformed_envelope" },
  );
}
