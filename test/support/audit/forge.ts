/**
 * What somebody could do to a record who holds some of its keys.
 *
 * With no key: change bytes, lines and files (`withFile`, `withLines`). With the journal's key: write any entries, with
 * chains, tree and heads that fit (`forged`). With the receipt key as well: sign receipts anew (`resigned`).
 */
import { toBase64 } from "../../../src/base/bytes.ts";
import { canonicalBytes, canonicalText } from "../../../src/base/canonical.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import { preAuthEncoding } from "../../../src/base/dsse.ts";
import { type JsonValue, readJson } from "../../../src/base/json.ts";
import { append, EMPTY_FRONTIER, leafHash, rootOf } from "../../../src/base/merkle.ts";
import { formatTreeHead, signNote } from "../../../src/base/note.ts";
import { parsePointer } from "../../../src/base/pointer.ts";
import { type PrivateKey, sign } from "../../../src/base/sign.ts";
import { FIRST_PREV } from "../../../src/model/journal.ts";
import { KEYS, ORIGIN } from "../host.ts";
import type { Files } from "./bundle.ts";

export type Json = { readonly [member: string]: JsonValue };

/** An entry without its place in its chain. */
export interface Loose {
  readonly chain: string;
  readonly epoch: number;
  readonly time: number;
  readonly type: string;
  readonly body: Json;
}

export function json(bytes: Uint8Array | string): JsonValue {
  const read = readJson(bytes, { numbers: "finite", maxDepth: 600 });
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

export function linesIn(files: Files): readonly string[] {
  return textIn(files, "journal.jsonl").slice(0, -1).split("\n");
}

export function textIn(files: Files, name: string): string {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`no ${name}`);
  return Buffer.from(bytes).toString("utf8");
}

export function entriesIn(files: Files): readonly (Loose & { readonly seq: number })[] {
  return linesIn(files).map((line) => json(line) as unknown as Loose & { readonly seq: number });
}

export function withFile(files: Files, name: string, content: string | Uint8Array | null): Files {
  const changed = new Map(files);
  if (content === null) changed.delete(name);
  else changed.set(name, typeof content === "string" ? Buffer.from(content) : content);
  return changed;
}

export function withLines(files: Files, lines: readonly string[]): Files {
  return withFile(files, "journal.jsonl", lines.map((line) => `${line}\n`).join(""));
}

export interface Forging {
  /** Signs the tree heads. Default: the journal's own key. */
  readonly journal?: PrivateKey;
  /** Signs receipts anew, so that they name the entries as they are now. Default: they stay as they are. */
  readonly receipt?: PrivateKey;
}

/** The record with these entries instead, linked, hashed and sealed as a journal does it. */
export function forged(files: Files, entries: readonly Loose[], forging: Forging = {}): Files {
  const tails = new Map<string, { seq: number; hash: string }>();
  const hashes = new Map<string, string>();
  const lines: string[] = [];
  const heads: string[] = [];
  let frontier = EMPTY_FRONTIER;
  let unsealed = 0;
  for (const [at, { chain, epoch, time, type, body }] of entries.entries()) {
    const tail = tails.get(chain);
    const seq = tail === undefined ? 0 : tail.seq + 1;
    const written =
      type === "receipt" && forging.receipt !== undefined
        ? resigned(body, hashes.get(`${chain}/${String(body["admission"])}`), forging.receipt)
        : body;
    const line = canonicalText({
      v: 1,
      chain,
      seq,
      prev: tail?.hash ?? FIRST_PREV,
      epoch,
      time,
      type,
      body: written,
    });
    const bytes = Buffer.from(line);
    const hash = sha256Hex(bytes);
    tails.set(chain, { seq, hash });
    hashes.set(`${chain}/${seq}`, hash);
    lines.push(line);
    frontier = append(frontier, leafHash(bytes));
    unsealed += 1;
    if (type !== "run_ended" && unsealed < 64 && at < entries.length - 1) continue;
    const head = { origin: ORIGIN, size: frontier.size, root: rootOf(frontier) };
    heads.push(`${signNote(formatTreeHead(head), ORIGIN, forging.journal ?? KEYS.journal)}%\n`);
    unsealed = 0;
  }
  return withFile(withLines(files, lines), "heads.txt", heads.join(""));
}

/** The receipt in a body, about the admission with this hash. */
function resigned(body: Json, admission: string | undefined, key: PrivateKey): Json {
  const statement = statementIn(body);
  const predicate = statement["predicate"] as Json;
  const named = predicate["admission"] as Json | null;
  const about = named === null ? null : { ...named, entry: admission ?? String(named["entry"]) };
  const payload = { ...statement, predicate: { ...predicate, admission: about } };
  return { ...body, envelope: signedBy(key, "application/vnd.in-toto+json", payload) };
}

export function statementIn(body: Json): Json {
  const envelope = body["envelope"] as Json;
  return json(Buffer.from(String(envelope["payload"]), "base64")) as Json;
}

export function withStatement(body: Json, statement: JsonValue): Json {
  const envelope = body["envelope"] as Json;
  const payload = toBase64(canonicalBytes(statement));
  return { ...body, envelope: { ...envelope, payload } };
}

/** Signs whatever it is given. */
export function signedBy(key: PrivateKey, payloadType: string, document: JsonValue): Json {
  const payload = canonicalBytes(document);
  const sig = toBase64(sign(key, preAuthEncoding(payloadType, payload)));
  return {
    payload: toBase64(payload),
    payloadType,
    signatures: [{ keyid: key.publicKey.id, sig }],
  };
}

/** The same value but for the member at `pointer`: another one, or none. */
export function changedAt(
  value: JsonValue,
  pointer: string,
  next: JsonValue | undefined,
): JsonValue {
  const [token, ...rest] = parsePointer(pointer) ?? [];
  if (token === undefined) return next ?? null;
  const inner = rest.map((each) => `/${each.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  if (Array.isArray(value)) {
    const list = [...(value as readonly JsonValue[])];
    const at = Number(token);
    if (rest.length === 0 && next === undefined) list.splice(at, 1);
    else list[at] = changedAt(list[at] ?? null, inner, next);
    return list;
  }
  const members = { ...(value as Json) };
  if (rest.length === 0 && next === undefined) delete members[token];
  else members[token] = changedAt(members[token] ?? null, inner, next);
  return members;
}

/** Pointers of all values that hold no others. */
export function leavesOf(value: JsonValue, at = ""): readonly string[] {
  if (value === null || typeof value !== "object") return [at];
  const parts = Array.isArray(value)
    ? [...(value as readonly JsonValue[]).entries()]
    : Object.entries(value as Json);
  if (parts.length === 0) return [at];
  return parts.flatMap(([key, part]) =>
    leavesOf(part, `${at}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}
