/**
 * Files of private keys: encrypted, readable by their owner only, never written over.
 *
 * What is found otherwise is refused, not repaired: whoever opened a key to others had a reason or a fault, and the key
 * may have been read since.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { decryptKey, encryptKey, type KeySecrets } from "../base/encrypted-key.ts";
import { RoteError } from "../base/error.ts";
import { type PrivateKey, privateKey } from "../base/sign.ts";
import { systemRandom } from "../os/random.ts";
import type { Random } from "../ports/random.ts";

/** Fewer characters are guessed, whatever the rounds. */
export const LEAST_PASSPHRASE = 12;

/** A key file has about 400 bytes. */
const MOST_BYTES = 16_384;

export interface GenerateOptions {
  /** Default: the operating system's randomness. */
  readonly random?: Random;
  /** Rounds of key derivation. Default `KEY_ROUNDS`. */
  readonly rounds?: number;
}

/**
 * Makes a new Ed25519 key and writes it to a file that does not exist yet.
 *
 * @throws RoteError `bad_passphrase` when it is too short, `file_exists`, `not_writable`
 */
export function generateKey(
  file: string,
  passphrase: string,
  { random = systemRandom, rounds }: GenerateOptions = {},
): PrivateKey {
  checkPassphrase(passphrase);
  const key = privateKey(random.bytes(32));
  const secrets: KeySecrets = {
    passphrase,
    salt: random.bytes(16),
    iv: random.bytes(16),
    ...(rounds === undefined ? {} : { rounds }),
  };
  writePrivately(file, encryptKey(key, secrets));
  return key;
}

/** @throws RoteError `bad_passphrase` when it is too short for a key */
export function checkPassphrase(passphrase: string): void {
  if ([...passphrase].length >= LEAST_PASSPHRASE) return;
  const message = `The passphrase has fewer than ${LEAST_PASSPHRASE} characters.`;
  throw new RoteError("bad_passphrase", message, { hint: "Choose a longer one." });
}

/**
 * The key in a file that `generateKey` or another tool wrote.
 *
 * @throws RoteError `file_not_found` `not_readable`, `bad_key_file` when others may read it or it is no encrypted key,
 * `bad_passphrase`, `bad_key`
 */
export function loadKey(file: string, passphrase: string): PrivateKey {
  const text = readPrivately(file);
  try {
    return decryptKey(text, passphrase);
  } catch (error) {
    if (!(error instanceof RoteError)) throw error;
    throw new RoteError(error.code, `${file}: ${error.message}`, { file }, error);
  }
}

function writePrivately(file: string, text: string): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  const handle = told(file, "not_writable", () =>
    openSync(file, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600),
  );
  try {
    told(file, "not_writable", () => {
      // A mask may have taken the owner's own rights.
      fchmodSync(handle, 0o600);
      writeSync(handle, text);
      fsyncSync(handle);
    });
  } catch (error) {
    // Ours, and no key: it would keep the next attempt from the name.
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  syncDirectory(path.dirname(path.resolve(file)));
}

function readPrivately(file: string): string {
  const { O_RDONLY, O_NOFOLLOW } = constants;
  const handle = told(file, "not_readable", () => openSync(file, O_RDONLY | O_NOFOLLOW));
  try {
    // Asked of the open file, which is the one that is read.
    const stats = fstatSync(handle);
    if (!stats.isFile() || stats.size > MOST_BYTES) throw refused(file, "is no file of a key");
    if (process.platform !== "win32") {
      if ((stats.mode & 0o077) !== 0) throw refused(file, "may be used by others than its owner");
      const own = process.getuid?.();
      if (own !== undefined && stats.uid !== own) throw refused(file, "belongs to another user");
    }
    return told(file, "not_readable", () => readFileSync(handle, "utf8"));
  } finally {
    closeSync(handle);
  }
}

/** Without it the name of a new file may be lost with the power. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } catch {
    // Some systems cannot sync a directory; the file itself is synced.
  } finally {
    closeSync(handle);
  }
}

function refused(file: string, why: string): RoteError {
  return new RoteError("bad_key_file", `The file ${file} ${why}.`, { file });
}

function told<T>(file: string, otherwise: "not_readable" | "not_writable", work: () => T): T {
  try {
    return work();
  } catch (error) {
    const system = (error as NodeJS.ErrnoException).code ?? "";
    const data = { file };
    const say = (why: string) => `The key file ${file} ${why}.`;
    if (system === "EEXIST") {
      throw new RoteError("file_exists", say("exists and is left as it is"), data, error);
    }
    // A symbolic link: the key would be wherever somebody points.
    if (system === "ELOOP") throw refused(file, "is a symbolic link");
    if (system === "ENOENT") {
      const why = otherwise === "not_readable" ? "does not exist" : "is to be in a missing folder";
      throw new RoteError("file_not_found", say(why), data, error);
    }
    const message = say(`cannot be used (${system})`);
    if (otherwise === "not_readable") throw new RoteError("not_readable", message, data, error);
    throw new RoteError("not_writable", message, data, error);
  }
}
