import { fault, usageFault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument, STANDARD_INPUT } from "../files.ts";
import { type OpenHost, withHost } from "../host.ts";
import { closeSession, openSession, type Session } from "../session.ts";
import { type Call, type Outcome, switchOption, textOption, textOptions } from "../spec.ts";
import { inputsFromBytes, inputsFromWords, type JsonObject } from "./inputs.ts";

/** Runs a procedure once, or once for each line of a file. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const words = textOptions(options, "input");
  const file = textOption(options, "inputs");
  if (words.length > 0 && file !== undefined) {
    throw usageFault("--input and --inputs both say what the inputs are", "give one of them");
  }
  if (file === STANDARD_INPUT && call.arguments[0] === STANDARD_INPUT) {
    throw usageFault("recipe and inputs cannot both be standard input", "put one into a file");
  }
  if (textOption(options, "host") === undefined) return await runAt(call, null);
  return await withHost(call, (at) => runAt(call, at));
}

async function runAt(call: Call, at: OpenHost | null): Promise<Outcome> {
  const { options } = call;
  const file = textOption(options, "inputs");
  const words = textOptions(options, "input");
  const session = await openSession(call, at);
  try {
    if (file !== undefined && isLines(file, switchOption(options, "lines"))) {
      refuseForMany(call);
      const { runMany } = await import("./many.ts");
      return await runMany(call, session, file);
    }
    const { runSingle } = await import("./single.ts");
    return await runSingle(call, session, await singleInputs(call, session, file, words));
  } finally {
    await closeSession(session);
  }
}

/** What is about one run cannot be said of many. */
function refuseForMany({ options }: Call): void {
  for (const name of ["once", "wait"]) {
    if (options[name] === undefined) continue;
    throw usageFault(`--${name} goes with one run`, "leave it out, or give the inputs of one run");
  }
}

/** Whether a file of inputs has one run a line. */
export function isLines(file: string, asked: boolean): boolean {
  return asked || file.endsWith(".jsonl") || file.endsWith(".ndjson");
}

async function singleInputs(
  call: Call,
  session: Session,
  file: string | undefined,
  words: readonly string[],
): Promise<JsonObject> {
  if (file === undefined) return inputsFromWords(words, session.ready.procedure.plan);
  const bytes = await readDocument(file, "inputs", MAX_DOCUMENT_BYTES, call.terminal);
  const read = inputsFromBytes(bytes);
  if (read.ok) return read.value;
  const hint = read.error.startsWith("bad_json")
    ? "a file with one object a line is read with --lines, or is called .jsonl"
    : undefined;
  throw fault("bad_input", `inputs ${file}: ${read.error}`, hint, { file });
}
