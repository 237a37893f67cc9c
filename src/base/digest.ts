/** Digests of documents. The tag keeps kinds apart: a document of one kind never has the digest of another. */
import { createHash, hash } from "node:crypto";
import type { Brand } from "./brand.ts";
import { canonicalBehind, overCanonical } from "./canonical.ts";
import { RoteError } from "./error.ts";
import type { JsonValue } from "./json-value.ts";

/** `sha256:` and 64 lower-case hexadecimal digits. */
export type Digest = Brand<"Digest">;

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TAG = /^[\x21-\x7e]+$/;

/**
 * Digest of a document: SHA-256 over tag, line feed and the canonical bytes, so a shell can recompute it.
 *
 * @throws RoteError `not_canonical` when the value is outside the closed domain.
 */
export function digestOf(tag: string, value: JsonValue): Digest {
  return mint(overCanonical(`${checkTag(tag)}\n`, value, sha256Hex));
}

/**
 * A document's canonical bytes and its digest, written once.
 *
 * @throws RoteError `not_canonical`, `bad_tag`
 */
export function digestedBytes(tag: string, value: JsonValue): DigestedBytes {
  const content = canonicalBehind(`${checkTag(tag)}\n`, value);
  return { bytes: content.subarray(tag.length + 1), digest: mint(sha256Hex(content)) };
}

export interface DigestedBytes {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Digest of bytes under a tag, built as for documents: the digest of a document is the one of its canonical bytes.
 *
 * @throws RoteError `bad_tag` when the tag is not one word of visible ASCII.
 */
export function digestBytes(tag: string, bytes: Uint8Array): Digest {
  return mint(sha256Hex(taggedBytes(tag, bytes)));
}

/** As `digestBytes`, of the UTF-8 of a text. @throws RoteError `bad_tag` */
export function digestText(tag: string, text: string): Digest {
  return mint(hash("sha256", `${checkTag(tag)}\n${text}`, "hex"));
}

/**
 * What `digestBytes` hashes. Kept as content under its own SHA-256, a document is found by its digest.
 *
 * @throws RoteError `bad_tag`
 */
export function taggedBytes(tag: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${checkTag(tag)}\n`), bytes]);
}

/** Bare lower-case SHA-256 of the bytes, without a tag. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** The 32 bytes of the SHA-256 of a text's UTF-8. */
export function sha256Of(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}

/** `sha256Hex` of bytes that come in portions, which need not be kept. */
export function sha256InPortions(): { add(bytes: Uint8Array): void; hex(): string } {
  const running = createHash("sha256");
  return {
    add: (bytes) => void running.update(bytes),
    hex: () => running.digest("hex"),
  };
}

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text);
}

/** The digest whose hexadecimal digits are given. @throws RangeError for anything but 64 lower-case digits */
export function digestFromHex(hex: string): Digest {
  const digest = `sha256:${hex}`;
  if (!isDigest(digest)) throw new RangeError("a SHA-256 has 64 lower-case hexadecimal digits");
  return digest;
}

function mint(hex: string): Digest {
  return `sha256:${hex}` as Digest;
}

/** A line feed inside a tag would let two pairs of tag and document share their bytes. */
function checkTag(tag: string): string {
  if (!TAG.test(tag)) {
    throw new RoteError("bad_tag", "a digest tag is one word of visible ASCII, like rote-plan/v1");
  }
  return tag;
}
