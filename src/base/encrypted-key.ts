/**
 * A private key as text that only who knows the passphrase can use: PKCS#8, encrypted by PBES2 with
 * PBKDF2-HMAC-SHA-256 and AES-256-CBC (RFC 8018), in PEM. Any tool that reads such keys reads these, OpenSSL among them.
 *
 * The envelope is built here and not by the platform, which stops at 2,048 rounds.
 */
import { createCipheriv, createPrivateKey, pbkdf2Sync } from "node:crypto";
import { RoteError } from "./error.ts";
import { type PrivateKey, privateKeyOf } from "./sign.ts";

/** What OWASP has advised for this function since 2023; a quarter of a second on a plain machine. */
export const KEY_ROUNDS = 600_000;

const LABEL = "ENCRYPTED PRIVATE KEY";
const HEAD = `-----BEGIN ${LABEL}-----`;
const TAIL = `-----END ${LABEL}-----`;

/** Object identifiers, as DER. */
const PBES2 = oid("2a864886f70d01050d");
const PBKDF2 = oid("2a864886f70d01050c");
const HMAC_SHA256 = oid("2a864886f70d0209");
const AES_256_CBC = oid("60864801650304012a");

export interface KeySecrets {
  readonly passphrase: string;
  /** 16 unpredictable bytes, for this key alone. */
  readonly salt: Uint8Array;
  /** The same, once more. */
  readonly iv: Uint8Array;
  /** Default `KEY_ROUNDS`. */
  readonly rounds?: number;
}

export function encryptKey(key: PrivateKey, secrets: KeySecrets): string {
  const { passphrase, salt, iv, rounds = KEY_ROUNDS } = secrets;
  const plain = key.key.export({ format: "der", type: "pkcs8" });
  const secret = pbkdf2Sync(passphrase, salt, rounds, 32, "sha256");
  const cipher = createCipheriv("aes-256-cbc", secret, iv);
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  const prf = sequence(HMAC_SHA256, der(0x05, Buffer.alloc(0)));
  const kdf = sequence(PBKDF2, sequence(octets(salt), integer(rounds), integer(32), prf));
  const scheme = sequence(PBES2, sequence(kdf, sequence(AES_256_CBC, octets(iv))));
  const base64 = sequence(scheme, octets(encrypted)).toString("base64");
  return [HEAD, ...(base64.match(/.{1,64}/g) ?? []), TAIL, ""].join("\n");
}

/**
 * @throws RoteError `bad_key_file` for anything that is not one encrypted key, `bad_passphrase` when it does not open,
 * `bad_key` when it is of another kind than Ed25519
 */
export function decryptKey(pem: string, passphrase: string): PrivateKey {
  const text = pem.trim();
  // A key that is stored in the open is not accepted because it happens to be readable.
  if (!text.startsWith(HEAD) || !text.endsWith(TAIL) || text.indexOf("-----BEGIN", 1) > 0) {
    throw new RoteError("bad_key_file", `The file does not hold one ${LABEL.toLowerCase()}.`);
  }
  try {
    return privateKeyOf(createPrivateKey({ key: text, format: "pem", passphrase }));
  } catch (error) {
    if (error instanceof RoteError) throw error;
    throw new RoteError(
      "bad_passphrase",
      "The key does not open: the passphrase is another one, or the file is damaged.",
    );
  }
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function octets(bytes: Uint8Array): Buffer {
  return der(0x04, bytes);
}

/** Not negative, below 2^31. */
function integer(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(value, 1);
  // Shortest form that does not look negative.
  let from = 0;
  while (from < 4 && bytes[from] === 0 && (bytes[from + 1] ?? 0) < 0x80) from += 1;
  return der(0x02, bytes.subarray(from));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function der(tag: number, content: Uint8Array): Buffer {
  const length = content.byteLength;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
