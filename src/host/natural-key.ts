/** What makes two effects the same deed, whatever run they stand in: the same tool with the same key. */
import { canonicalText } from "../base/canonical.ts";
import { digestOf } from "../base/digest.ts";
import { TAGS } from "../base/tags.ts";
import type { Claim } from "../ports/journal.ts";
import type { FrozenOperation } from "./operation.ts";

/** Keys up to this length stand in the record as they are. */
const KEY_LENGTH = 512;

export function naturalKey({ operation }: FrozenOperation): Claim | undefined {
  if (operation.key === null || operation.tool.category !== "effect") return undefined;
  const text = canonicalText(operation.key);
  // No canonical text begins like a digest does, so a short key is never taken for a long one.
  const key = text.length > KEY_LENGTH ? digestOf(TAGS.key, operation.key) : text;
  return { space: "natural_key", key: `${operation.tool.name}\n${key}` };
}

/** What is said of one that `by` has taken; null when that is not known. */
export function keyTaken({ key }: Claim, by: string | null): string {
  const which = key.replace("\n", " ");
  return `an effect with this key was admitted ${beforeBy(by)}; if that is uncertain, reconcile it first: ${which}`;
}

export function beforeBy(by: string | null): string {
  return by === null ? "before" : `before, by ${by}`;
}
