/**
 * When two things are the same for the detection of loops: never by ids, white space or the order of members.
 *
 * Arguments that are no JSON are compared as the text they are. Names are compared exactly.
 */
import { canonicalText } from "../base/canonical.ts";
import { type Digest, digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";

export function actionFingerprint(
  name: string,
  text: string,
  parsed: JsonValue | undefined,
): Digest {
  const args = parsed === undefined ? { text } : { json: canonicalText(parsed) };
  return digestOf(TAGS.action, { name, ...args });
}

/** What came of a call, whatever it was called with. */
export function observationFingerprint(name: string, content: JsonValue): Digest {
  return digestOf(TAGS.observation, { name, content });
}
