/**
 * Everything that can be done to single entries and signatures of a record, as a list: what it is called, the record
 * it leaves, and which lines of it have to be named.
 */
import { canonicalText } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { KEYS } from "../host.ts";
import type { Files } from "./bundle.ts";
import {
  changedAt,
  entriesIn,
  forged,
  type Json,
  json,
  leavesOf,
  linesIn,
  signedBy,
  statementIn,
  textIn,
  withFile,
  withLines,
} from "./forge.ts";

export interface Mutation {
  /** What was done, the same word for all places. */
  readonly kind: string;
  readonly files: Files;
  /** Lines of the unchanged record, each of which a finding has to name. */
  readonly lines: readonly number[];
  /** File that a finding has to name instead, for what is in no line. */
  readonly file?: string;
}

type Lines = readonly string[];

/** Each entry truncated, dropped, repeated, swapped with each other one, moved, and altered in every value. */
export function* entryMutations(files: Files): Generator<Mutation> {
  const lines = linesIn(files);
  const made = (kind: string, changed: Lines, ...at: readonly number[]): Mutation => ({
    kind,
    files: withLines(files, changed),
    lines: at,
  });
  const changing = (kind: string, at: number, change: (line: string) => string) =>
    made(kind, lines.with(at, change(lines[at] ?? "")), at);
  for (const [at, line] of lines.entries()) {
    for (const length of [0, 1, line.length >> 1, line.length - 1]) {
      yield changing("truncated", at, (text) => text.slice(0, length));
    }
    yield made("dropped", lines.toSpliced(at, 1), at);
    yield made("duplicated in place", lines.toSpliced(at, 0, line), at);
    yield made("duplicated at the end", [...lines, line], at);
    for (let other = at + 1; other < lines.length; other += 1) {
      const swapped = lines.with(at, lines[other] ?? "").with(other, line);
      yield made("swapped", swapped, at, other);
    }
    if (at < lines.length - 1) {
      yield made("moved to the end", [...lines.toSpliced(at, 1), line], at);
    }
    if (at > 0) yield made("moved to the beginning", [line, ...lines.toSpliced(at, 1)], at);
    yield* alteredValues(files, at);
    yield changing("altered in its spelling", at, (text) => text.replace(",", ", "));
    yield changing("given a member more", at, (text) => text.replace(/\}$/u, ',"w":1}'));
    yield changing("given a member twice", at, (text) => text.replace(/\}$/u, ',"v":1}'));
    yield changing("replaced by what is no text", at, () => "\u0000\u0001");
  }
}

/** Each value in an entry, the payloads of envelopes included: another one, and none. */
function* alteredValues(files: Files, at: number): Generator<Mutation> {
  const lines = linesIn(files);
  const entry = json(lines[at] ?? "");
  for (const pointer of leavesOf(entry)) {
    const value = pointer
      .split("/")
      .slice(1)
      .reduce<JsonValue>((inner, token) => (inner as Json)[token] ?? null, entry);
    for (const [kind, next] of [
      ["altered in a value", otherThan(value)],
      ["robbed of a value", undefined],
    ] as const) {
      const text = canonicalText(changedAt(entry, pointer, next));
      yield { kind, files: withLines(files, lines.with(at, text)), lines: [at] };
    }
  }
}

function otherThan(value: JsonValue): JsonValue {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value !== "string") return value === null ? 0 : null;
  const last = value.search(/[0-9A-Za-z](?=[^0-9A-Za-z]*$)/u);
  return last < 0
    ? `${value}x`
    : `${value.slice(0, last)}${value[last] === "0" ? "1" : "0"}${value.slice(last + 1)}`;
}

type SignatureChange = (envelope: Json) => JsonValue;

const signaturesOf = (envelope: Json) => envelope["signatures"] as readonly Json[];
const by = (key: (typeof KEYS)[keyof typeof KEYS], envelope: Json) =>
  signaturesOf(signedBy(key, String(envelope["payloadType"]), statementIn({ envelope })));

const SIGNATURES: { readonly [kind: string]: SignatureChange } = {
  stripped: (envelope) => ({ ...envelope, signatures: [] }),
  "left out": (envelope) => changedAt(envelope, "/signatures", undefined),
  altered: (envelope) =>
    changedAt(envelope, "/signatures/0/sig", otherSig(signaturesOf(envelope)[0])),
  "under another key's name": (envelope) =>
    changedAt(envelope, "/signatures/0/keyid", KEYS.stranger.publicKey.id),
  repeated: (envelope) => ({
    ...envelope,
    signatures: [...signaturesOf(envelope), ...signaturesOf(envelope)],
  }),
  "replaced by one of a stranger": (envelope) => ({
    ...envelope,
    signatures: by(KEYS.stranger, envelope),
  }),
  "replaced by one of another role": (envelope) => ({
    ...envelope,
    signatures: by(KEYS.reconciler, envelope),
  }),
  "joined by a valid one": (envelope) => ({
    ...envelope,
    signatures: [...signaturesOf(envelope), ...by(KEYS.bob, envelope)],
  }),
  "joined by one of a stranger": (envelope) => ({
    ...envelope,
    signatures: [...signaturesOf(envelope), ...by(KEYS.stranger, envelope)],
  }),
  "joined by an unknown one": (envelope) => ({
    ...envelope,
    signatures: [
      { keyid: `sha256:${"0".repeat(64)}`, sig: Buffer.alloc(64).toString("base64") },
      ...signaturesOf(envelope),
    ],
  }),
  "over another payload type": (envelope) =>
    signedBy(KEYS.receipt, "application/json", statementIn({ envelope })),
};

/** `moved` is one change for each other envelope whose signatures these could be. */
function* signatureChanges(
  envelope: Json,
  others: readonly Json[],
): Generator<readonly [string, JsonValue]> {
  for (const [kind, change] of Object.entries(SIGNATURES)) yield [kind, change(envelope)];
  for (const other of others) {
    if (canonicalText(other) === canonicalText(envelope)) continue;
    yield ["moved here from another", { ...envelope, signatures: signaturesOf(other) }];
  }
}

function otherSig(signature: Json | undefined): string {
  const bytes = Buffer.from(String(signature?.["sig"]), "base64");
  bytes[7] = (bytes[7] ?? 0) ^ 4;
  return bytes.toString("base64");
}

/**
 * Each signature in an entry, once by somebody without a key, and once by the holder of the journal's key, who makes
 * chains, tree and heads fit again: then only the signature itself can tell.
 */
export function* signatureMutations(files: Files): Generator<Mutation> {
  const lines = linesIn(files);
  const entries = entriesIn(files);
  const envelopes = entries.flatMap(({ body }, at) =>
    Object.hasOwn(body, "envelope") ? [{ at, envelope: body["envelope"] as Json }] : [],
  );
  const others = envelopes.map(({ envelope }) => envelope);
  for (const { at, envelope } of envelopes) {
    for (const [kind, changed] of signatureChanges(envelope, others)) {
      const entry = changedAt(json(lines[at] ?? ""), "/body/envelope", changed);
      yield {
        kind: `signature ${kind}`,
        files: withLines(files, lines.with(at, canonicalText(entry))),
        lines: [at],
      };
      const body = { ...entries[at]?.body, envelope: changed };
      const relinked = entries.map((one, index) => (index === at ? { ...one, body } : one));
      yield {
        kind: `signature ${kind}, all linked again`,
        files: forged(files, relinked),
        lines: [at],
      };
    }
  }
}

/** The same of each version in the file of trust stores, and of each tree head. */
export function* fileSignatureMutations(files: Files): Generator<Mutation> {
  const trust = json(textIn(files, "trust.json")) as readonly Json[];
  const elsewhere = entriesIn(files).flatMap(({ type, body }) =>
    type === "receipt" ? [body["envelope"] as Json] : [],
  );
  for (const [at, envelope] of trust.entries()) {
    for (const [kind, changed] of signatureChanges(envelope, elsewhere)) {
      const text = canonicalText(trust.with(at, changed as Json));
      yield {
        kind: `trust store's signature ${kind}`,
        files: withFile(files, "trust.json", text),
        lines: [],
        file: "trust.json",
      };
    }
  }
  const heads = textIn(files, "heads.txt");
  const line = /^(— \S+ )(\S+)\n/mu;
  const [, name = "", signature = ""] = line.exec(heads) ?? [];
  const unknown = `— other.example ${Buffer.alloc(68).toString("base64")}\n`;
  const changes: { readonly [kind: string]: string } = {
    stripped: heads.replace(line, ""),
    altered: heads.replace(
      line,
      `${name}${signature.slice(0, 20)}${signature[20] === "A" ? "B" : "A"}${signature.slice(21)}\n`,
    ),
    repeated: heads.replace(line, "$&$&"),
    "joined by an unknown one": heads.replace(line, `$&${unknown}`),
    "preceded by an unknown one": heads.replace(line, `${unknown}$&`),
    "replaced by an unknown one": heads.replace(line, unknown),
  };
  for (const [kind, text] of Object.entries(changes)) {
    yield {
      kind: `tree head's signature ${kind}`,
      files: withFile(files, "heads.txt", text),
      lines: [],
      file: "heads.txt",
    };
  }
}
