/** Operations as the record has them: what their digests, places and natural keys are made of. */
import { type Digest, digestText } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Operation } from "../model/operation.ts";
import { textOf } from "./canonical.ts";

export interface FrozenOperation {
  readonly operation: Operation;
  readonly digest: Digest;
}

export function frozen(operation: JsonValue & Operation): FrozenOperation {
  return { operation, digest: digestText(TAGS.operation, textOf(operation)) };
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
  const text = textOf(key);
  return `${tool.name}\n${text.length > KEY_LENGTH ? digestText(TAGS.key, text) : text}`;
}
