import { canonicalBytes } from "../../base/canonical.ts";
import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import { readJson } from "../../base/json.ts";
import { isJsonObject, type JsonValue } from "../../base/json-value.ts";
import { LEAF_BYTE } from "../../base/merkle.ts";
import {
  type Appended,
  ENTRY_TYPES,
  type Entry,
  type EntryType,
  FIRST_PREV,
  MAX_ENTRY_BYTES,
} from "../../model/journal.ts";
import type { StoredEntry } from "./tables.ts";

/** A body that may be written, in its canonical bytes; made once, before the append is queued. */
export interface BodyBytes {
  readonly body: JsonValue;
  readonly bytes: Uint8Array;
}

/** Deep enough for whatever has a canonical form: an entry that could be written must be readable. */
const LIMITS = { numbers: "finite", maxBytes: MAX_ENTRY_BYTES, maxDepth: 600 } as const;

/** Room for everything in an entry besides its body. */
const FRAME_BYTES = 512;

/** @throws RoteError `entry_too_large`, `not_canonical` */
export function bodyBytes(
  type: EntryType,
  body: JsonValue,
  known?: ReadonlyMap<object, Uint8Array>,
): BodyBytes {
  const bytes = canonicalBytes(body, known);
  const size = bytes.byteLength + FRAME_BYTES;
  if (size > MAX_ENTRY_BYTES) {
    throw new RoteError(
      "entry_too_large",
      `The ${type} entry has about ${size} bytes; ${MAX_ENTRY_BYTES} is the most. ` +
        "Larger content belongs into a blob.",
      { type, bytes: size },
    );
  }
  return { body, bytes };
}

/**
 * The canonical bytes of an entry behind `LEAF_BYTE`, as the log hashes them; its members stand in the order of RFC
 * 8785, so only the body needs sorting.
 */
export function leafBytes(entry: Omit<Entry, "body">, body: Uint8Array): Uint8Array {
  const { chain, epoch, prev, seq, time, type, v } = entry;
  const rest =
    `,"chain":${JSON.stringify(chain)},"epoch":${epoch},"prev":"${prev}",` +
    `"seq":${seq},"time":${time},"type":"${type}","v":${v}}`;
  const head = HEAD.byteLength;
  const leaf = Buffer.allocUnsafe(head + body.byteLength + Buffer.byteLength(rest));
  leaf.set(HEAD);
  leaf.set(body, head);
  leaf.write(rest, head + body.byteLength);
  return leaf;
}

const HEAD = Buffer.from([LEAF_BYTE, ...Buffer.from('{"body":')]);

/** An entry as stored. @throws RoteError `journal_damaged` when the bytes are not an entry of ours */
export function decodeEntry(bytes: Uint8Array, index: number): Appended {
  const json = readJson(bytes, LIMITS);
  if (!json.ok || !isEntry(json.value)) {
    throw new RoteError("journal_damaged", `Entry ${index} of the log is not readable.`, { index });
  }
  return { entry: json.value, hash: sha256Hex(bytes), index };
}

/**
 * Entries of one chain, each of which must name the hash of the one before it: what was changed behind our back is
 * refused before anything is made of it.
 */
export function decodeChain(
  chain: string,
  fromSeq: number,
  stored: readonly StoredEntry[],
): readonly Appended[] {
  let before = fromSeq === 0 ? FIRST_PREV : undefined;
  return stored.map(({ bytes, index }, at) => {
    const appended = decodeEntry(bytes, index);
    const { entry, hash } = appended;
    const seq = fromSeq + at;
    const follows = before === undefined || entry.prev === before;
    if (entry.chain !== chain || entry.seq !== seq || !follows) {
      throw new RoteError(
        "journal_damaged",
        `Entry ${seq} of ${chain} does not follow from the one before it: the journal was changed.`,
        { chain, seq, expected: before ?? null, found: entry.prev },
      );
    }
    before = hash;
    return appended;
  });
}

function isEntry(value: JsonValue): value is JsonValue & Entry {
  return (
    isJsonObject(value) &&
    value["v"] === 1 &&
    typeof value["chain"] === "string" &&
    Number.isSafeInteger(value["seq"]) &&
    typeof value["prev"] === "string" &&
    Number.isSafeInteger(value["epoch"]) &&
    Number.isSafeInteger(value["time"]) &&
    typeof value["type"] === "string" &&
    Object.hasOwn(ENTRY_TYPES, value["type"]) &&
    Object.hasOwn(value, "body")
  );
}

export function isRunEntry(type: EntryType): boolean {
  return ENTRY_TYPES[type] === "run";
}
