/**
 * Reading and writing files for commands. Reading opens first and asks afterwards, so that what was checked is what
 * is read: only regular files, at most `maxBytes`, never a pipe that nobody ever writes to. Writing is whole or not
 * at all, and replaces nothing unless told to.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { fault } from "./fault.ts";
import type { Terminal } from "./terminal.ts";

export const STANDARD_INPUT = "-";

/** Largest document with inputs of one run, an environment, or one line of inputs. */
export const MAX_DOCUMENT_BYTES = 16_777_216;

/** The bytes of a file, or of standard input for `-`. `what` names its part in messages, e.g. `recipe`. */
export async function readDocument(
  file: string,
  what: string,
  maxBytes: number,
  terminal: Terminal,
): Promise<Uint8Array> {
  if (file === STANDARD_INPUT) return await readStandardInput(what, maxBytes, terminal);
  const descriptor = openRegular(file, what);
  try {
    const { size } = fstatSync(descriptor);
    if (size > maxBytes) throw tooLarge(`${what} ${file} has ${size} bytes`, maxBytes);
    return readUpTo(descriptor, size, file, what, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

/** The chunks of a file or of standard input, of any size. */
export async function* readChunks(
  file: string,
  what: string,
  terminal: Terminal,
): AsyncGenerator<Uint8Array> {
  if (file === STANDARD_INPUT) {
    for await (const chunk of terminal.standardInput()) yield chunk;
    return;
  }
  const descriptor = openRegular(file, what);
  try {
    for (;;) {
      const chunk = new Uint8Array(65_536);
      const count = readSync(descriptor, chunk);
      if (count === 0) return;
      yield chunk.subarray(0, count);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** True for a directory that is not there yet, or has nothing in it. */
export function isVacant(directory: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && readdirSync(directory).length === 0);
}

/**
 * Writes a new file, or with `replace` puts a complete file in an old one's place. `mode` is of the file from its
 * beginning; default: what the user's mask leaves.
 */
export function writeDocument(file: string, text: string, replace: boolean, mode = 0o666): void {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx", mode });
    if (replace) renameSync(temporary, file);
    else linkSync(temporary, file);
  } catch (error) {
    const code = codeOf(error);
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw fault("not_a_file", `${file} is a directory; expected a file`, "name a file in it");
    }
    if (code === "EEXIST") {
      throw fault(
        "file_exists",
        `${file} exists and is left as it is`,
        "use --force to replace it",
      );
    }
    throw fault("not_writable", `cannot write ${file}: ${reasonOf(code)}`, "name another file", {
      file,
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

function openRegular(file: string, what: string): number {
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") {
      throw fault("file_not_found", `${what} ${file} does not exist`, "check the path", { file });
    }
    const message = `cannot read ${what} ${file}: ${reasonOf(code)}`;
    throw fault("not_readable", message, undefined, { file });
  }
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return descriptor;
  closeSync(descriptor);
  const kind = stat.isDirectory() ? "a directory" : stat.isFIFO() ? "a pipe" : "not a regular file";
  const hint = stat.isDirectory() ? "name the file in it" : "use - to read standard input";
  throw fault("not_a_file", `${what} ${file} is ${kind}; expected a file`, hint, { file });
}

function readUpTo(
  descriptor: number,
  size: number,
  file: string,
  what: string,
  maxBytes: number,
): Uint8Array {
  // One byte more than promised: a file that grows while it is read is noticed.
  const bytes = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length <= size) continue;
    if (length > maxBytes) throw tooLarge(`${what} ${file} is growing past the limit`, maxBytes);
    throw fault("not_readable", `${what} ${file} changed while it was read`, "try again", { file });
  }
}

async function readStandardInput(
  what: string,
  maxBytes: number,
  terminal: Terminal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of terminal.standardInput()) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(`${what} on standard input has more bytes`, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(message: string, maxBytes: number): Error {
  return fault("document_too_large", `${message}; at most ${maxBytes} are read`, undefined, {
    max_bytes: maxBytes,
  });
}

/** The code of an error of the operating system, e.g. `ENOENT`. */
export function codeOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "code" in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}

const REASONS: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  ENOENT: "the directory does not exist",
  ELOOP: "too many symbolic links",
  ENXIO: "not a regular file",
  ENAMETOOLONG: "the name is too long",
};

function reasonOf(code: string): string {
  return REASONS[code] ?? code;
}
