/** A line of the journal as an entry, or what is wrong with it. */

import { sha256Hex } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { ENTRY_TYPES, type Entry, HOST_CHAIN, MAX_ENTRY_BYTES } from "../model/journal.ts";
import { BODY_SHAPES } from "./bodies.ts";
import { readCanonical } from "./canonical.ts";
import type { FindingCode } from "./finding-codes.ts";
import type { Piece } from "./lines.ts";
import { count, hex64, json, matching, oneOf, record, text } from "./shape.ts";

/** A longer line is no entry; its bytes are not even kept. */
export const MAX_LINE_BYTES = MAX_ENTRY_BYTES;

export interface ReadEntry {
  readonly entry: Entry;
  readonly hash: string;
  /** Why the body cannot be judged; null when it can. */
  readonly fault: { readonly code: FindingCode; readonly message: string } | null;
}

const entryShape = record({
  v: count,
  chain: matching(/^[a-z0-9][a-z0-9._-]{0,63}$/, "the name of a chain"),
  seq: count,
  prev: hex64,
  epoch: count,
  time: count,
  type: text,
  body: json,
});
const version = oneOf([1]);

type Add = (code: FindingCode, message: string) => void;

export function readEntry({ bytes, unfinished, tooLong }: Piece, add: Add): ReadEntry | undefined {
  if (tooLong) {
    add("line_malformed", `the line has more than ${MAX_LINE_BYTES} bytes`);
    return undefined;
  }
  if (unfinished) add("line_unfinished", "the last line does not end in a line feed");
  const read = readCanonical(bytes);
  const value = read.ok ? read.value : read.error.value;
  if (!read.ok) {
    const { kind, message } = read.error;
    add(kind === "not_json" ? "line_malformed" : "line_not_canonical", message);
  }
  if (value === undefined) return undefined;
  const fault = entryShape(value);
  if (fault !== null) {
    add("line_malformed", fault);
    return undefined;
  }
  const entry = value as JsonValue & Entry;
  return { entry, hash: sha256Hex(bytes), fault: bodyFault(entry) };
}

function bodyFault({ v, chain, type, body }: Entry): ReadEntry["fault"] {
  const unknown = version(v);
  if (unknown !== null) return { code: "entry_unknown", message: `v${unknown}` };
  if (!Object.hasOwn(ENTRY_TYPES, type)) {
    return { code: "entry_unknown", message: `${JSON.stringify(type)} is no type of entry` };
  }
  if (ENTRY_TYPES[type] !== (chain === HOST_CHAIN ? "host" : "run")) {
    return { code: "entry_unknown", message: `a ${type} stands on the chain ${chain}` };
  }
  const fault = BODY_SHAPES[type](body);
  return fault === null ? null : { code: "body_malformed", message: `body${fault}` };
}
