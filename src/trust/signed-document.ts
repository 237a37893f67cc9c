/**
 * Opening a signed document: the one path from an envelope to a typed value.
 *
 * The order is the security: size, shape, payload type, key, signature, and only then the payload is read, from the
 * bytes that were verified. The payload must be its own canonical form, so that one document has one digest.
 */

import type * as z from "zod/mini";
import { sameBytes } from "../base/bytes.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, digestOf } from "../base/digest.ts";
import {
  type EnvelopeFault,
  envelopeToJson,
  openEnvelopeByAll,
  readEnvelope,
  signEnvelope,
} from "../base/dsse.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { PrivateKey, PublicKey } from "../base/sign.ts";
import { TAGS } from "../base/tags.ts";
import { IN_ENGLISH } from "../model/in-english.ts";
import { keepOpened, openedBefore, type SignedDocument } from "./opened-before.ts";

export type { SignedDocument };

export type DocumentFault = EnvelopeFault | "document_too_large" | "malformed_document";

/** No document of authority needs more; a trust store of 1,000 keys has about 300 KB. */
const MAX_PAYLOAD_BYTES = 1_048_576;

export function envelopeDigest(envelope: JsonValue): Digest {
  return digestOf(TAGS.envelope, envelope);
}

/** Signs a document that its schema accepts. @throws zod's error when it does not */
export function signDocument<T extends JsonValue>(
  payloadType: string,
  schema: z.ZodMiniType<T>,
  document: T,
  keys: readonly PrivateKey[],
): JsonValue {
  const payload = canonicalBytes(schema.parse(document, IN_ENGLISH));
  return envelopeToJson(signEnvelope(payloadType, payload, keys));
}

/** The document in an envelope whose every signature verifies, by distinct keys that `find` knows. */
export function openDocument<T>(
  envelope: JsonValue,
  payloadType: string,
  schema: z.ZodMiniType<T>,
  find: (keyid: string) => PublicKey | undefined,
): Result<SignedDocument<T>, DocumentFault> {
  const before = openedBefore(envelope, payloadType, schema, find);
  if (before !== undefined) return ok(before);
  const read = readEnvelope(envelope);
  if (!read.ok) return read;
  if (read.value.payload.byteLength > MAX_PAYLOAD_BYTES) return err("document_too_large");
  const opened = openEnvelopeByAll(read.value, payloadType, find);
  if (!opened.ok) return opened;
  const document = readDocument(opened.value.payload, schema);
  if (!document.ok) return document;
  const digest = envelopeDigest(envelopeToJson(read.value));
  const signed = { document: document.value, keys: opened.value.keys, digest };
  keepOpened(envelope, payloadType, schema, signed);
  return ok(signed);
}

/** As `openDocument`, for documents that exactly one key signs. */
export function openDocumentByOne<T>(
  envelope: JsonValue,
  payloadType: string,
  schema: z.ZodMiniType<T>,
  find: (keyid: string) => PublicKey | undefined,
): Result<SignedDocument<T> & { readonly key: PublicKey }, DocumentFault> {
  const opened = openDocument(envelope, payloadType, schema, find);
  if (!opened.ok) return opened;
  const [key, another] = opened.value.keys;
  if (key === undefined || another !== undefined) return err("signature_count");
  return ok({ ...opened.value, key });
}

/**
 * The payload before anybody vouched for it. Only for documents that name the keys which must have signed them (a trust
 * store's roots, a warrant's parent); the caller verifies before it believes anything.
 */
export function readDocument<T>(
  payload: Uint8Array,
  schema: z.ZodMiniType<T>,
): Result<T, "malformed_document"> {
  const json = readJson(payload);
  if (!json.ok || !sameBytes(canonicalBytes(json.value), payload)) return err("malformed_document");
  const parsed = schema.safeParse(json.value);
  return parsed.success ? ok(parsed.data) : err("malformed_document");
}
