/**
 * A language model that is a file: it looks its answers up and never calls anything. It says so in its identity
 * (provider `scripted`), so that nothing measured with it can pass for a saving of real model calls.
 *
 * The file has one JSON object a line, blank lines aside:
 *
 *     {"node": "classify", "answer": "travel"}
 *     {"node": "classify", "prompt": {"merchant": "RAIL"}, "answer": "travel",
 *      "usage": {"input_tokens": 40, "output_tokens": 1}}
 *
 * `node` and `answer` are required. `prompt` (the JSON form that the run shows) and `index` (position in the
 * node's `each`) narrow a line to that question. The narrowest matching line answers: prompt and index, prompt,
 * index, neither. The same question always has the same answer, in whatever order questions come, so two lines
 * for one question are refused when the file is read. Usage left out is unknown, not zero.
 */
import { canonicalText } from "../base/canonical.ts";
import { RoteError } from "../base/error.ts";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { ModelUsage, PendingModel } from "../model/run.ts";
import type { LanguageModel, ModelReply } from "../ports/language-model.ts";

/** What is wrong with one line of a script; `line` counts from 1. */
export interface ScriptProblem {
  readonly line: number;
  readonly message: string;
}

const MEMBERS = ["node", "index", "prompt", "answer", "usage"] as const;
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const UNKNOWN_USAGE: ModelUsage = { input_tokens: null, output_tokens: null };

interface ScriptLine {
  readonly key: string;
  readonly reply: ModelReply;
}

/**
 * Reads a script. `name` becomes the model's name; keep it the same while the script grows, since learned answers
 * belong to one model.
 *
 * @returns the model, or every bad line.
 */
export function scriptedModel(
  script: string,
  name: string,
): Result<LanguageModel, readonly ScriptProblem[]> {
  const problems: ScriptProblem[] = [];
  const replies = new Map<string, { readonly line: number; readonly reply: ModelReply }>();
  let number = 0;
  for (const text of script.split("\n")) {
    number += 1;
    if (text.trim() === "") continue;
    const read = readLine(text);
    if (!read.ok) {
      problems.push({ line: number, message: read.error });
      continue;
    }
    const earlier = replies.get(read.value.key);
    if (earlier === undefined) {
      replies.set(read.value.key, { line: number, reply: read.value.reply });
    } else {
      const message = `answers the same question as line ${earlier.line}; keep one of them`;
      problems.push({ line: number, message });
    }
  }
  if (problems.length > 0) return err(problems);
  return ok(modelOf(name, replies));
}

function modelOf(
  name: string,
  replies: ReadonlyMap<string, { readonly reply: ModelReply }>,
): LanguageModel {
  return {
    identity: { provider: "scripted", name },
    answer(question: PendingModel): Promise<ModelReply> {
      for (const key of keysOf(question)) {
        const found = replies.get(key);
        if (found !== undefined) return Promise.resolve(found.reply);
      }
      const element = question.index === null ? "" : ` element ${question.index}`;
      return Promise.reject(
        new RoteError(
          "provider_error",
          `the script ${name} has no answer for node "${question.node}"${element}`,
          { node: question.node, index: question.index },
        ),
      );
    },
  };
}

function keysOf(question: PendingModel): readonly string[] {
  const { node, index, prompt } = question;
  const keys = [keyOf(node, null, prompt), keyOf(node, null, undefined)];
  if (index === null) return keys;
  return [
    keyOf(node, index, prompt),
    keyOf(node, null, prompt),
    keyOf(node, index, undefined),
    keyOf(node, null, undefined),
  ];
}

function keyOf(node: string, index: number | null, prompt: JsonValue | undefined): string {
  return canonicalText(prompt === undefined ? [node, index] : [node, index, prompt]);
}

function readLine(text: string): Result<ScriptLine, string> {
  const read = readJson(text, { numbers: "finite", maxBytes: MAX_LINE_BYTES });
  if (!read.ok) return err(`column ${read.error.column}: ${read.error.message}`);
  const line = read.value;
  if (!isJsonObject(line)) return err(`expected an object, found ${nameOf(line)}`);
  for (const member of Object.keys(line)) {
    if (!(MEMBERS as readonly string[]).includes(member)) {
      return err(`unknown member "${member}"; expected ${MEMBERS.join(", ")}`);
    }
  }
  const { node, index, prompt, answer, usage } = line;
  if (typeof node !== "string") return err('"node" must be the id of a model node');
  if (answer === undefined) return err('"answer" is missing');
  if (index !== undefined && !isCount(index)) return err('"index" must be a position from 0');
  const tokens = usage === undefined ? UNKNOWN_USAGE : readUsage(usage);
  if (tokens === undefined) {
    return err('"usage" must be {"input_tokens": n, "output_tokens": n}, each a count or null');
  }
  return ok({ key: keyOf(node, index ?? null, prompt), reply: { answer, usage: tokens } });
}

function readUsage(usage: JsonValue): ModelUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens: input = null, output_tokens: output = null, ...others } = usage;
  if (Object.keys(others).length > 0) return undefined;
  if ((input !== null && !isCount(input)) || (output !== null && !isCount(output))) {
    return undefined;
  }
  return { input_tokens: input, output_tokens: output };
}

export function isCount(value: JsonValue): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function nameOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
