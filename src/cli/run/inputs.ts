/**
 * Inputs of runs, as typed on the command line or as lines of a file. What they mean is decided where the run
 * starts; here they only become JSON.
 */
import type { RoteError } from "../../base/error.ts";
import { type JsonError, type JsonValue, readJson } from "../../base/json.ts";
import { err, ok, type Result } from "../../base/result.ts";
import type { Plan } from "../../model/plan.ts";
import type { Type } from "../../model/type.ts";
import { fault, meantHint, usageFault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES } from "../files.ts";

export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/**
 * Inputs from `name=value` words. Types whose JSON form is a text take the value as typed, all others read it as
 * JSON.
 *
 * @throws RoteError `bad_usage` for a word without a name or a name given twice, `bad_input` for an unknown name or
 * bad JSON.
 */
export function inputsFromWords(words: readonly string[], plan: Plan): JsonObject {
  const inputs = Object.create(null) as { [name: string]: JsonValue };
  for (const word of words) {
    const split = word.indexOf("=");
    if (split < 1) throw usageFault(`--input ${word} has no name`, "write --input name=value");
    const name = word.slice(0, split);
    if (Object.hasOwn(inputs, name)) throw usageFault(`--input ${name} is given twice`);
    const input = plan.inputs.find((candidate) => candidate.name === name);
    if (input === undefined) throw unknownInput(name, plan);
    inputs[name] = valueFromWord(name, word.slice(split + 1), input.reading);
  }
  return inputs;
}

function unknownInput(name: string, plan: Plan): RoteError {
  const names = plan.inputs.map((input) => input.name);
  const hint = meantHint(name, names, `inputs are ${names.join(", ")}`);
  return fault("bad_input", `recipe ${plan.id} has no input "${name}"`, hint, { input: name });
}

function valueFromWord(name: string, text: string, type: Type): JsonValue {
  if (isWrittenAsText(type)) return text;
  const read = readJson(text, { numbers: "finite", maxBytes: MAX_DOCUMENT_BYTES });
  if (read.ok) return read.value;
  const message = `--input ${name} is read as JSON and is not: ${read.error.message}`;
  throw fault(
    "bad_input",
    message,
    `write for example --input '${name}=[1, 2]' or --input ${name}=true`,
    {
      input: name,
    },
  );
}

function isWrittenAsText(type: Type): boolean {
  switch (type.kind) {
    case "integer":
    case "decimal":
    case "text":
    case "date":
    case "timestamp":
    case "enum":
      return true;
    case "optional":
      return isWrittenAsText(type.of);
    case "null":
    case "boolean":
    case "json":
    case "nothing":
    case "list":
    case "record":
    case "dictionary":
      return false;
  }
}

/** Inputs from one document: an object with a member for each input. */
export function inputsFromBytes(bytes: Uint8Array): Result<JsonObject, string> {
  const read = readJson(bytes, { numbers: "finite", maxBytes: MAX_DOCUMENT_BYTES });
  if (!read.ok) return err(`${read.error.code} at ${placeOf(read.error)}: ${read.error.message}`);
  const { value } = read;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return err("expected an object with a member for each input");
  }
  return ok(value as JsonObject);
}

function placeOf(error: JsonError): string {
  return `line ${error.line}, column ${error.column}`;
}

/** One line of a file of inputs; `number` counts from 1. */
export type InputLine =
  | { readonly number: number; readonly bytes: Uint8Array }
  | { readonly number: number; readonly tooLong: true };

const LINE_FEED = 0x0a;

/** Lines of a stream without holding more than one of them; blank lines are left out, overlong ones told. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_DOCUMENT_BYTES,
): AsyncGenerator<InputLine> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      yield* lineOf(number, parts, length > maxBytes);
      number += 1;
      parts = [];
      length = 0;
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  yield* lineOf(number, parts, length > maxBytes);
}

function* lineOf(
  number: number,
  parts: readonly Uint8Array[],
  tooLong: boolean,
): Generator<InputLine> {
  if (tooLong) {
    yield { number, tooLong };
    return;
  }
  const bytes = Buffer.concat(parts);
  if (!bytes.every(isBlank)) yield { number, bytes };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}
