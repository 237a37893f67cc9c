/** Which blobs an entry names, so that a bundle holds what its auditor will ask for. */
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { readCanonical } from "./canonical.ts";
import { parentOf } from "./warrant-chain.ts";

/** Bytes of a blob by name, if there is one. */
export type Look = (sha256: string) => Uint8Array | undefined;

/** Members of bodies that name a blob. */
const NAMING = [
  "inputs_blob",
  "recipe_blob",
  "verifier_blob",
  "answer_blob",
  "result_blob",
  "task_blob",
  "said_blob",
  "envelope_blob",
  "shown",
] as const;

/** Documents that an operation names by digest; each digest is also the name of what it is made of. */
const DOCUMENTS = ["policy", "budget", "intent"] as const;

export function namedBy(entry: JsonValue, look: Look): readonly string[] {
  const body = isJsonObject(entry) ? entry["body"] : undefined;
  if (!isJsonObject(body)) return [];
  const names = NAMING.flatMap((member) => texts(body[member]));
  switch (isJsonObject(entry) ? entry["type"] : undefined) {
    case "approval_requested":
      return [...names, ...listIn(look, body["shown"]).flatMap(policyOf)];
    case "admitted": {
      const { operation = null, review } = body;
      const blob = isJsonObject(operation) ? texts(operation["blob"]) : [];
      const whole = blob.length === 0 ? operation : jsonIn(look, blob[0]);
      return [...names, ...blob, ...bare(review), ...documentsOf(whole, look)];
    }
    case "agent_started":
      return [...names, ...toolsOf(body["tools"])];
    case "receipt":
      return body["admission"] === null ? [...names, ...bare(body["operation"])] : names;
    default:
      return names;
  }
}

/** What the model was told of, whether it was called or not. */
function toolsOf(tools: JsonValue | undefined): readonly string[] {
  const listed = Array.isArray(tools) ? (tools as readonly JsonValue[]) : [];
  return listed.flatMap((tool) => (isJsonObject(tool) ? bare(tool["definition"]) : []));
}

/** What was only shown is judged by no more than how many must approve it. */
function policyOf(operation: JsonValue): readonly string[] {
  return isJsonObject(operation) ? bare(operation["policy"]) : [];
}

function documentsOf(operation: JsonValue, look: Look): readonly string[] {
  if (!isJsonObject(operation)) return [];
  const { tool = null, warrant = null } = operation;
  return [
    ...DOCUMENTS.flatMap((member) => bare(operation[member])),
    ...(isJsonObject(tool) ? bare(tool["definition"]) : []),
    ...warrantsOf(warrant, look),
  ];
}

/** A warrant and all that it was made from. */
function warrantsOf(leaf: JsonValue, look: Look): readonly string[] {
  const names: string[] = [];
  let [next] = bare(leaf);
  while (next !== undefined && !names.includes(next)) {
    names.push(next);
    const tagged = look(next);
    const envelope = tagged === undefined ? undefined : afterTag(tagged);
    [next] = bare(envelope === undefined ? null : parentOf(envelope));
  }
  return names;
}

/** What stands behind the tag of a document that is kept by its digest. */
function afterTag(bytes: Uint8Array): JsonValue | undefined {
  const json = readCanonical(bytes.subarray(bytes.indexOf(0x0a) + 1));
  return json.ok ? json.value : undefined;
}

function listIn(look: Look, name: JsonValue | undefined): readonly JsonValue[] {
  const json = jsonIn(look, name);
  return Array.isArray(json) ? (json as readonly JsonValue[]) : [];
}

function jsonIn(look: Look, name: JsonValue | undefined): JsonValue {
  const bytes = typeof name === "string" ? look(name) : undefined;
  const json = bytes === undefined ? undefined : readCanonical(bytes);
  return json?.ok === true ? json.value : null;
}

function bare(digest: JsonValue | undefined): readonly string[] {
  return typeof digest === "string" ? texts(digest.replace(/^sha256:/u, "")) : [];
}

function texts(value: JsonValue | undefined): readonly string[] {
  return typeof value === "string" && /^[0-9a-f]{64}$/u.test(value) ? [value] : [];
}
