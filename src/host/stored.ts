/** Values in bodies of entries: small ones inline, large ones as blobs beside them, read back as what they were. */
import { canonicalText } from "../base/canonical.ts";
import { sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import type { Journal } from "../ports/journal.ts";

export type Body = { readonly [member: string]: JsonValue };

/** Values above this size are kept as blobs, so that entries stay small. */
export const INLINE_BYTES = 16_384;

/** What was written had a canonical form and passed its own limits; nothing else is let back in. */
const LIMITS = { numbers: "finite", maxDepth: 600, maxNodes: 100_000_000 } as const;

export interface Kept {
  readonly body: Body;
  readonly blobs: readonly Uint8Array[];
}

/** A member that may be large: inline, or under `<name>_blob` with its bytes beside it. */
export function keep(body: Body, name: string, value: JsonValue): Kept {
  const text = canonicalText(value);
  if (Buffer.byteLength(text) <= INLINE_BYTES) {
    return { body: { ...body, [name]: value }, blobs: [] };
  }
  const blob = Buffer.from(text);
  return { body: { ...body, [`${name}_blob`]: sha256Hex(blob) }, blobs: [blob] };
}

/** The member that `keep` put there; undefined when there is none. @throws RoteError `journal_damaged` */
export function kept(journal: Journal, body: Body, name: string): JsonValue | undefined {
  if (Object.hasOwn(body, name)) return body[name];
  const sha256 = body[`${name}_blob`];
  return typeof sha256 === "string" ? storedJson(journal, sha256, name) : undefined;
}

/** @throws RoteError `journal_damaged` when it is missing or not what its name says */
export function storedJson(journal: Journal, sha256: string, what: string): JsonValue {
  const bytes = journal.blob(sha256);
  if (bytes !== undefined && sha256Hex(bytes) === sha256) {
    const read = readJson(bytes, { ...LIMITS, maxBytes: bytes.byteLength });
    if (read.ok) return read.value;
  }
  throw new RoteError(
    "journal_damaged",
    `The blob ${sha256} (${what}) is missing or is not what was written.`,
    { blob: sha256 },
  );
}
