/**
 * C2SP signed notes and tree heads (c2sp.org/signed-note, c2sp.org/tlog-checkpoint).
 *
 * A note is a text, a blank line, and signature lines. Its signatures cover the text only, so the text says all that
 * matters. A verifier knows the keys it trusts by name and key id; lines of unknown keys are passed over, a line of a
 * known key that does not verify, or a second line of a known key, refuses the whole note.
 */

import { createHash } from "node:crypto";
import { fromBase64, fromHex, sameBytes, toBase64, toHex } from "./bytes.ts";
import { RoteError } from "./error.ts";
import { err, ok, type Result } from "./result.ts";
import { type PrivateKey, type PublicKey, publicKey, sign, verify } from "./sign.ts";
import { hasLoneSurrogate } from "./text.ts";

/** Ed25519 over the text itself (type byte 1); the only kind that Rote writes or trusts. */
const ED25519 = 1;
const MAX_LINES = 100;
const MAX_BYTES = 1_000_000;

export interface NoteKey {
  readonly name: string;
  readonly key: PublicKey;
}

export interface Note {
  readonly text: string;
  readonly signatures: readonly {
    readonly name: string;
    /** The first four bytes of SHA-256(name, LF, type, key): a look-up hint, nothing more. */
    readonly hint: Uint8Array;
    readonly signature: Uint8Array;
  }[];
}

export type NoteFault =
  | "malformed_note"
  | "ambiguous_key"
  | "repeated_signature"
  | "bad_signature"
  | "no_signature";

export function keyHint(name: string, key: PublicKey): Uint8Array {
  return createHash("sha256")
    .update(`${name}\n`)
    .update(Uint8Array.of(ED25519))
    .update(key.raw)
    .digest()
    .subarray(0, 4);
}

/** `name+hint+base64(type, key)`, the form in which verifiers of logs exchange keys. */
export function formatNoteKey({ name, key }: NoteKey): string {
  return `${name}+${toHex(keyHint(name, key))}+${toBase64(Uint8Array.of(ED25519, ...key.raw))}`;
}

/** @throws RoteError `bad_key` */
export function parseNoteKey(text: string): NoteKey {
  const [name = "", hint = "", body = ""] = splitInThree(text);
  const bytes = fromBase64(body);
  const expected = fromHex(hint);
  if (!isKeyName(name) || expected?.byteLength !== 4 || bytes === undefined) {
    throw new RoteError("bad_key", "Not a note verifier key: expected name+hash+base64.");
  }
  if (bytes[0] !== ED25519) {
    throw new RoteError("bad_key", `Note key type ${bytes[0] ?? "missing"} is not Ed25519 (1).`);
  }
  const key = publicKey(bytes.subarray(1));
  if (!sameBytes(keyHint(name, key), expected)) {
    throw new RoteError("bad_key", `The hash in the note key of ${name} does not fit its key.`);
  }
  return { name, key };
}

export function signNote(text: string, name: string, key: PrivateKey): string {
  if (!isText(text) || !isKeyName(name)) {
    throw new RoteError(
      "bad_note",
      "A note's text ends in a line feed and has no control characters.",
    );
  }
  const signature = sign(key, Buffer.from(text));
  const line = toBase64(Buffer.concat([keyHint(name, key.publicKey), signature]));
  return `${text}\n— ${name} ${line}\n`;
}

/** Reads the shape only; nothing is verified yet. */
export function parseNote(bytes: Uint8Array | string): Result<Note, "malformed_note"> {
  const note = typeof bytes === "string" ? bytes : decode(bytes);
  if (note === undefined) return err("malformed_note");
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || note.length > MAX_BYTES || !note.endsWith("\n")) return err("malformed_note");
  const text = note.slice(0, end + 1);
  const tail = note.slice(end + 2);
  if (!isText(text) || !tail.endsWith("\n")) return err("malformed_note");
  const lines = tail.slice(0, -1).split("\n");
  if (lines.length > MAX_LINES) return err("malformed_note");
  const signatures: Note["signatures"][number][] = [];
  for (const line of lines) {
    const match = /^— (\S+) (\S+)$/u.exec(line);
    const name = match?.[1] ?? "";
    const bytes = fromBase64(match?.[2] ?? "");
    if (!isKeyName(name) || bytes === undefined || bytes.byteLength < 5)
      return err("malformed_note");
    signatures.push({ name, hint: bytes.subarray(0, 4), signature: bytes.subarray(4) });
  }
  return ok({ text, signatures });
}

/** The text and the names of the keys that signed it, of which there is at least one. */
export function openNote(
  note: Uint8Array | string,
  keys: readonly NoteKey[],
): Result<{ readonly text: string; readonly names: readonly string[] }, NoteFault> {
  const parsed = parseNote(note);
  if (!parsed.ok) return parsed;
  const ids = new Set(keys.map(({ name, key }) => `${name}+${toHex(keyHint(name, key))}`));
  if (ids.size !== keys.length) return err("ambiguous_key");
  const message = Buffer.from(parsed.value.text);
  const names: string[] = [];
  const seen = new Set<NoteKey>();
  for (const { name, hint, signature } of parsed.value.signatures) {
    const known = keys.find((key) => key.name === name && sameBytes(keyHint(name, key.key), hint));
    if (known === undefined) continue;
    if (seen.has(known)) return err("repeated_signature");
    seen.add(known);
    if (!verify(known.key, message, signature)) return err("bad_signature");
    names.push(name);
  }
  return names.length === 0 ? err("no_signature") : ok({ text: parsed.value.text, names });
}

/** The signed statement of a log's size and root. */
export interface TreeHead {
  /** Which log: the audience of everything that is signed for this host. */
  readonly origin: string;
  readonly size: bigint;
  readonly root: Uint8Array;
}

export function formatTreeHead({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/** Reads the body of a tree head. Extension lines are allowed by the format and must not be empty. */
export function parseTreeHead(body: string): TreeHead | undefined {
  if (!body.endsWith("\n")) return undefined;
  const [origin = "", size = "", root = "", ...extensions] = body.slice(0, -1).split("\n");
  const bytes = fromBase64(root);
  if (origin === "" || !/^(0|[1-9][0-9]{0,19})$/u.test(size)) return undefined;
  if (bytes?.byteLength !== 32 || extensions.includes("")) return undefined;
  const count = BigInt(size);
  return count < 1n << 64n ? { origin, size: count, root: bytes } : undefined;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function splitInThree(text: string): readonly string[] {
  const first = text.indexOf("+");
  const second = text.indexOf("+", first + 1);
  if (first < 0 || second < 0) return [];
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

/** A name that keys and logs can have: it stands between spaces, and before a plus. */
export function isKeyName(name: string): boolean {
  return name !== "" && !hasLoneSurrogate(name) && !/[\s+]/u.test(name);
}

function isText(text: string): boolean {
  if (!text.endsWith("\n") || hasLoneSurrogate(text)) return false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 && unit !== 0x0a) return false;
  }
  return true;
}
