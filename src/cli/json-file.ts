/** Signed documents in files. What they say is judged elsewhere; here they are JSON or not. */
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { fault } from "./fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "./files.ts";
import type { Terminal } from "./terminal.ts";

/** What is done with the trust store of a file: where it is refused, the file is named. */
export async function ofTrustFile<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RoteError) || error.code !== "trust_refused") throw error;
    throw fault("trust_refused", `trust ${file}: ${error.message}`, undefined, {
      ...error.data,
      file,
    });
  }
}

/** @throws RoteError `trust_refused` for what is no JSON, and as `readDocument` */
export async function readJsonFile(
  file: string,
  what: string,
  terminal: Terminal,
): Promise<JsonValue> {
  const read = readJson(await readDocument(file, what, MAX_DOCUMENT_BYTES, terminal));
  if (read.ok) return read.value;
  const { line, message } = read.error;
  throw fault("trust_refused", `${what} ${file}: line ${line}: ${message}`, undefined, {
    file,
    fault: "malformed_envelope",
  });
}
