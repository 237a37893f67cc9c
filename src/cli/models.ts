/** The model behind a command's runs: a script, a provider's, a name without anybody behind it, or none. */
import { basename } from "node:path";
import { type LanguageModel, type ScriptProblem, scriptedModel } from "../app/answering.ts";
import { RoteError } from "../base/error.ts";
import type { ModelIdentity } from "../model/run.ts";
import { fault, usageFault } from "./fault.ts";
import { readDocument } from "./files.ts";
import { type OptionValues, switchOption, textOption } from "./spec.ts";
import type { Terminal } from "./terminal.ts";

export interface CommandModel {
  readonly identity: ModelIdentity;
  /** Null when nobody can be asked: runs wait at their first boundary. */
  readonly model: LanguageModel | null;
  /** It is a provider's: it answers for nobody else. */
  readonly asked: boolean;
}

const MAX_ANSWERS_BYTES = 67_108_864;
const NOBODY: ModelIdentity = { provider: "none", name: "none" };

/**
 * @throws RoteError `bad_usage` `answers_invalid` and, of a provider's model, `bad_model` `model_key_missing`
 *   `package_missing` `cost_not_accepted`: nothing was sent
 */
export async function loadModel(options: OptionValues, terminal: Terminal): Promise<CommandModel> {
  const file = textOption(options, "answers");
  const named = textOption(options, "model");
  const asked = switchOption(options, "ask");
  if (asked && named === undefined) {
    throw usageFault("--ask says to ask a model, and none is named", "add --model provider:model");
  }
  if (file === undefined) {
    if (asked && named !== undefined) return await providersModel(named, options, terminal);
    const identity = named === undefined ? NOBODY : identityFrom(named);
    return { identity, model: null, asked };
  }
  if (named !== undefined) {
    throw usageFault("--answers and --model both say who answers", "give one of them");
  }
  const bytes = await readDocument(file, "answers", MAX_ANSWERS_BYTES, terminal);
  const model = scriptedModel(textOf(bytes, file, `answers ${file} are`), basename(file));
  if (!model.ok) throw answersInvalid(file, model.error);
  return { identity: model.value.identity, model: model.value, asked };
}

/** Loaded here only: what speaks to providers is not needed for scripts. */
async function providersModel(
  name: string,
  options: OptionValues,
  terminal: Terminal,
): Promise<CommandModel> {
  const { openLanguageModel } = await import("../app/llm.ts");
  const model = await openLanguageModel(name, {
    variables: terminal.environment,
    acceptCost: switchOption(options, "accept-cost"),
    onAttempt: ({ fault: failed, waitMs }) => {
      if (failed === null || waitMs === null) return;
      terminal.note(`${name}: ${failed.message}; asked again in ${waitMs} ms\n`);
    },
  }).catch((error: unknown) => {
    throw withFlag(error);
  });
  return { identity: model.identity, model, asked: true };
}

/** The option of the command, in place of the library's. */
export function withFlag(error: unknown): unknown {
  if (!(error instanceof RoteError) || error.code !== "cost_not_accepted") return error;
  return fault("cost_not_accepted", error.message, "agree to the cost with --accept-cost");
}

/** The text of a file; `told` is how the message begins, as `script FILE is`. @throws RoteError `bad_encoding` */
export function textOf(bytes: Uint8Array, file: string, told: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fault("bad_encoding", `${told} not UTF-8`, "save the file as UTF-8", { file });
  }
}

function identityFrom(text: string): ModelIdentity {
  const split = text.indexOf(":");
  if (split < 1 || split === text.length - 1) {
    throw usageFault(`--model ${text} names no model`, "write --model provider:name");
  }
  return { provider: text.slice(0, split), name: text.slice(split + 1) };
}

const TOLD = 20;

function answersInvalid(file: string, problems: readonly ScriptProblem[]): Error {
  const lines = problems.slice(0, TOLD).map(({ line, message }) => `  ${file}:${line}: ${message}`);
  if (problems.length > TOLD) lines.push(`  and ${problems.length - TOLD} more`);
  return fault(
    "answers_invalid",
    `answers ${file} cannot be used`,
    'a line is {"node": .., "prompt"?: .., "index"?: .., "answer": .., "usage"?: ..}',
    { details: lines.join("\n"), file, problems: problems.map((problem) => ({ ...problem })) },
  );
}
