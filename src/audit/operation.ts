/** Operations as the record has them: what their digests, places and natural keys are made of. */
import { canonicalText } from "../base/canonical.ts";
import { type Digest, digestBytes, digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Operation } from "../model/operation.ts";
import { bytesOf } from "./canonical.ts";

export interface FrozenOperation {
  readonly operation: Operation;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

export function frozen(operation: JsonValue & Operation): FrozenOperation {
  const bytes = bytesOf(operation);
  return { operation, bytes, digest: digestBytes(TAGS.operation, bytes) };
}

/** Taken once in a run. */
export function placeIn({ node, index, call, attempt }: Operation): string {
  return `${node}/${index ?? call ?? ""}/${attempt}`;
}

/** Keys up to this length stand as they are, longer ones by their digest. */
const KEY_LENGTH = 512;

/** Two effects with the same tool and key are the same deed; null for what has no such key. */
export function naturalKeyOf({ key, tool }: Operation): string | null {
  if (key === null || tool.category !== "effect") return null;
  const text = canonicalText(key);
  return `${tool.name}\n${text.length > KEY_LENGTH ? digestOf(TAGS.key, key) : text}`;
}
