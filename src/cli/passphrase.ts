/**
 * Passphrases of key files: typed at the terminal, or read from a file or an open descriptor. Never from the command
 * line and never from the environment, where others of this machine can read them.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { loadKey } from "../app/key-file.ts";
import { quoted } from "../base/quoted.ts";
import type { PrivateKey } from "../base/sign.ts";
import { fault, usageFault } from "./fault.ts";
import { codeOf } from "./files.ts";
import { type Call, textOption, textOptions } from "./spec.ts";

const MOST_BYTES = 4_096;

/** The key in a file, opened with the passphrase that the command line says where to find, or that is asked for. */
export async function openKey(call: Call, file: string): Promise<PrivateKey> {
  const [key] = await openKeys(call, [file]);
  if (key === undefined) throw new TypeError("a file without its key");
  return key;
}

/** As `openKey`, for several: each with a passphrase of its own, or all with the one that is given. */
export async function openKeys(
  call: Call,
  files: readonly string[],
): Promise<readonly PrivateKey[]> {
  const given = givenPassphrases(call);
  if (given.length > 1 && given.length !== files.length) {
    throw usageFault(
      `${given.length} passphrases are given for ${files.length} keys`,
      "give one for each key, in their order, or one for all",
    );
  }
  const keys: PrivateKey[] = [];
  for (const [at, file] of files.entries()) {
    keys.push(
      loadKey(file, given[at] ?? given[0] ?? (await asked(call, `Passphrase of ${file}: `))),
    );
  }
  return keys;
}

/** A passphrase for a key that is about to be made: typed twice, since nothing else would tell a slip. */
export async function newPassphrase(call: Call, file: string): Promise<string> {
  const [given] = givenPassphrases(call);
  if (given !== undefined) return given;
  const first = await asked(call, `New passphrase of ${file}: `);
  const again = await asked(call, "The same again: ");
  if (first === again) return first;
  throw fault("bad_passphrase", "the two passphrases differ; nothing was written", "run it again");
}

function givenPassphrases({ options }: Call): readonly string[] {
  const descriptor = textOption(options, "passphrase-fd");
  const files = textOptions(options, "passphrase-file");
  if (descriptor === undefined) return files.map(fromFile);
  if (files.length > 0) {
    throw usageFault(
      "--passphrase-file and --passphrase-fd both say the passphrase",
      "give one of them",
    );
  }
  if (!/^[0-9]{1,4}$/.test(descriptor)) {
    throw usageFault(
      `--passphrase-fd ${descriptor} is no number of a descriptor`,
      "write for example --passphrase-fd 3, with 3<FILE",
    );
  }
  return [firstLine(Number(descriptor), `descriptor ${descriptor}`)];
}

async function asked({ terminal, command }: Call, question: string): Promise<string> {
  if (terminal.ask !== null) return await terminal.ask(question, true);
  throw fault(
    "bad_passphrase",
    `rote ${command} needs a passphrase, and nobody is at the terminal to type it`,
    "give it with --passphrase-file FILE or --passphrase-fd NUMBER; it is never taken from the command line",
  );
}

function fromFile(file: string): string {
  const descriptor = opened(file);
  try {
    const { mode } = fstatSync(descriptor);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw fault("bad_passphrase", `others may read ${file}`, `chmod 600 ${quoted(file)}`, {
        file,
      });
    }
    return firstLine(descriptor, file);
  } finally {
    closeSync(descriptor);
  }
}

function opened(file: string): number {
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fstatSync(descriptor).isFile()) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    throw unreadable(`passphrase file ${file}`, error);
  }
  throw fault("bad_passphrase", `${file} is no file`, "use --passphrase-fd for a pipe", { file });
}

function unreadable(what: string, error: unknown): Error {
  const code = codeOf(error);
  if (code === "ENOENT") return fault("bad_passphrase", `${what} does not exist`, "check the path");
  return fault("bad_passphrase", `cannot read ${what}: ${code}`, "name one that can be read");
}

/** What stands before the first line feed, or all of it. */
function firstLine(descriptor: number, what: string): string {
  const bytes = Buffer.alloc(MOST_BYTES);
  let length = 0;
  try {
    while (length < MOST_BYTES && !bytes.subarray(0, length).includes(0x0a)) {
      const count = readSync(descriptor, bytes, length, MOST_BYTES - length, null);
      if (count === 0) break;
      length += count;
    }
  } catch (error) {
    throw unreadable(what, error);
  }
  const text = bytes.subarray(0, length).toString("utf8");
  const end = text.search(/\r?\n/);
  return end === -1 ? text : text.slice(0, end);
}
