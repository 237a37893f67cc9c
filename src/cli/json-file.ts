/** Signed documents in files. What they say is judged elsewhere; here they are JSON or not. */
import { type JsonValue, readJson } from "../base/json.ts";
import { fault } from "./fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "./files.ts";
import type { Terminal } from "./terminal.ts";

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
