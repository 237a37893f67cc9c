/** The model behind a command's runs: a script, a name without anybody behind it, or none. */
import { basename } from "node:path";
import { type LanguageModel, type ScriptProblem, scriptedModel } from "../app/answering.ts";
import type { ModelIdentity } from "../model/run.ts";
import { fault, usageFault } from "./fault.ts";
import { readDocument } from "./files.ts";
import { type OptionValues, textOption } from "./spec.ts";
import type { Terminal } from "./terminal.ts";

export interface CommandModel {
  readonly identity: ModelIdentity;
  /** Null when nobody can be asked: runs wait at their first boundary. */
  readonly model: LanguageModel | null;
}

const MAX_ANSWERS_BYTES = 67_108_864;
const NOBODY: ModelIdentity = { provider: "none", name: "none" };

/** @throws RoteError `bad_usage` `answers_invalid` */
export async function loadModel(options: OptionValues, terminal: Terminal): Promise<CommandModel> {
  const file = textOption(options, "answers");
  const named = textOption(options, "model");
  if (file === undefined) {
    return { identity: named === undefined ? NOBODY : identityFrom(named), model: null };
  }
  if (named !== undefined) {
    throw usageFault("--answers and --model both say who answers", "give one of them");
  }
  const bytes = await readDocument(file, "answers", MAX_ANSWERS_BYTES, terminal);
  const model = scriptedModel(textOf(bytes, file), basename(file));
  if (!model.ok) throw answersInvalid(file, model.error);
  return { identity: model.value.identity, model: model.value };
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fault("bad_encoding", `answers ${file} are not UTF-8`, "save the file as UTF-8", {
      file,
    });
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
