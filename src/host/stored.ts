/** Values in bodies of entries: small ones inline, large ones as blobs beside them, read back as what they were. */
import { canonicalBytes } from "../base/canonical.ts";
import { sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { deepFreeze } from "../base/freeze.ts";
import { admitJson, type JsonObject, type JsonValue, readJson } from "../base/json.ts";
import type { Journal } from "../ports/journal.ts";

export type Body = JsonObject;

/** A copy that nobody changes: what was verified is what is kept. Undefined for what is no JSON. */
export function frozenCopy(given: unknown): JsonValue | undefined {
  const read = admitJson(given, { numbers: "finite" });
  return read.ok ? deepFreeze(read.value) : undefined;
}

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
  if (isSmall(value)) return { body: { ...body, [name]: value }, blobs: [] };
  const blob = canonicalBytes(value);
  if (blob.byteLength <= INLINE_BYTES) return { body: { ...body, [name]: value }, blobs: [] };
  return { body: { ...body, [`${name}_blob`]: sha256Hex(blob) }, blobs: [blob] };
}

/** Certainly small enough, without writing it down: no unit takes more than six bytes, no number more than 25. */
function isSmall(value: JsonValue): boolean {
  let left = INLINE_BYTES;
  const count = (part: JsonValue): boolean => {
    if (typeof part === "string") left -= 6 * part.length + 3;
    else if (typeof part !== "object" || part === null) left -= 26;
    else if (Array.isArray(part)) {
      left -= 2;
      return left > 0 && part.every(count);
    } else {
      left -= 2;
      return left > 0 && Object.entries(part).every(([key, one]) => count(key) && count(one));
    }
    return left > 0;
  };
  return count(value);
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
