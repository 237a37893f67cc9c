/**
 * Signed documents that were opened before, by the envelope object they stand in.
 *
 * A signature over bytes that cannot change needs no second look; whether its keys may be used is asked every time. An
 * envelope counts as unchanging only when it is frozen and holds nothing but plain values, so whoever may still change it
 * is verified anew. Nothing is kept for longer than the envelope itself.
 */
import type { Digest } from "../base/digest.ts";
import { deepFreeze, isDeepFrozen } from "../base/freeze.ts";
import type { JsonValue } from "../base/json.ts";
import type { PublicKey } from "../base/sign.ts";

export interface SignedDocument<T> {
  readonly document: T;
  readonly keys: readonly PublicKey[];
  /** Digest of the whole envelope, signatures included. */
  readonly digest: Digest;
}

interface Opened {
  readonly payloadType: string;
  readonly schema: object;
  readonly signed: SignedDocument<unknown>;
}

const opened = new WeakMap<object, Opened>();

/** What was opened before under the same type and schema, when `find` still gives every key that signed. */
export function openedBefore<T>(
  envelope: JsonValue,
  payloadType: string,
  schema: { readonly _zod: { readonly output: T } },
  find: (keyid: string) => PublicKey | undefined,
): SignedDocument<T> | undefined {
  const known =
    typeof envelope === "object" && envelope !== null ? opened.get(envelope) : undefined;
  if (known?.payloadType !== payloadType || known.schema !== schema) return undefined;
  const { signed } = known;
  if (!signed.keys.every((key) => find(key.id) === key)) return undefined;
  return signed as SignedDocument<T>;
}

export function keepOpened(
  envelope: JsonValue,
  payloadType: string,
  schema: object,
  signed: SignedDocument<unknown>,
): void {
  if (typeof envelope !== "object" || envelope === null || !isDeepFrozen(envelope)) return;
  // Given out again and again: nobody may leave anything in it.
  deepFreeze(signed.document);
  opened.set(envelope, { payloadType, schema, signed });
}
