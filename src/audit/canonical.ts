/** Reading bytes that must be the canonical text of their value: nothing else has the digest that it should have. */
import { sameBytes } from "../base/bytes.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";

/** As deep as what has a canonical form; how large is bounded by the bytes at hand. */
const LIMITS = { numbers: "finite", maxDepth: 600, maxNodes: 100_000_000 } as const;

export interface Unreadable {
  readonly kind: "not_json" | "not_canonical";
  readonly message: string;
}

export function readCanonical(bytes: Uint8Array): Result<JsonValue, Unreadable> {
  const read = readJson(bytes, { ...LIMITS, maxBytes: bytes.byteLength });
  if (!read.ok) {
    const { message, offset } = read.error;
    return err({ kind: "not_json", message: `${message} (at character ${offset})` });
  }
  if (sameBytes(canonicalBytes(read.value), bytes)) return ok(read.value);
  return err({ kind: "not_canonical", message: "its canonical text has other bytes" });
}
