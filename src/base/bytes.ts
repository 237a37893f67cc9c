/**
 * Text forms of bytes. Decoders accept exactly one spelling per value: Node's own skip junk and stray bits, so that
 * several texts would decode to one value, and a digest over the text would not be a digest over the value.
 */

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Bytes of lower-case hex text, or undefined for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "hex");
  return bytes.toString("hex") === text ? bytes : undefined;
}

/** Standard alphabet, padded. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Bytes of canonical padded base64, or undefined for any other text. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** URL-safe alphabet, unpadded. */
export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

/** Bytes of canonical unpadded base64url, or undefined for any other text. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.byteLength === right.byteLength && Buffer.compare(left, right) === 0;
}
