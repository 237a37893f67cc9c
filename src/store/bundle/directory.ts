/** Bundles in directories. Written for their owner alone, and only where nothing is; read without following links. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { RoteError } from "../../base/error.ts";
import {
  BLOB_FOLDER,
  BUNDLE_FILES,
  type BundleSource,
  type BundleWriter,
} from "../../ports/bundle.ts";

const BUFFER_BYTES = 65_536;
const LEAST_BYTES = 512;
/** No file of a bundle lies deeper than two folders down. */
const MAX_DEPTH = 8;

/** True when there is something under the name of a bundle's journal; why nothing can be seen there, reading says. */
export function isBundle(directory: string): boolean {
  try {
    lstatSync(path.join(directory, BUNDLE_FILES.journal));
    return true;
  } catch {
    return false;
  }
}

/** @throws RoteError `file_not_found` `not_readable` */
export function directorySource(directory: string): BundleSource {
  told(directory, "not_readable", () => {
    if (statSync(directory).isDirectory()) return;
    throw new RoteError("not_a_file", `${directory} is no directory`, { file: directory });
  });
  return {
    async *names() {
      yield* namesIn(directory, "", 0);
    },
    async read(name) {
      if (!isName(name)) return undefined;
      const file = path.join(directory, name);
      const descriptor = openRegular(file);
      return descriptor === undefined ? undefined : portionsOf(descriptor, file);
    },
  };
}

/** The bytes of one file in portions. @throws RoteError `file_not_found` `not_readable` */
export async function* fileSource(file: string): AsyncGenerator<Uint8Array> {
  const descriptor = openRegular(file);
  if (descriptor === undefined) {
    throw new RoteError("file_not_found", `${file} is no file`, { file });
  }
  yield* portionsOf(descriptor, file);
}

function isName(name: string): boolean {
  const files: readonly string[] = Object.values(BUNDLE_FILES);
  if (files.includes(name)) return true;
  return name.startsWith(BLOB_FOLDER) && /^[0-9a-f]{64}$/u.test(name.slice(BLOB_FOLDER.length));
}

/** Undefined for what is not there, or is no regular file. */
function openRegular(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let descriptor: number;
  try {
    descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ELOOP" || code === "ENOTDIR") return undefined;
    throw new RoteError("not_readable", `${file} cannot be read (${code})`, { file }, error);
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  return undefined;
}

async function* portionsOf(descriptor: number, file: string): AsyncGenerator<Uint8Array> {
  try {
    let left = fstatSync(descriptor).size;
    for (;;) {
      // Most files are small, and there are many. Behind the end that was told there may be more.
      const bytes = Buffer.allocUnsafe(Math.min(BUFFER_BYTES, Math.max(left, LEAST_BYTES)));
      const count = told(file, "not_readable", () =>
        readSync(descriptor, bytes, 0, bytes.byteLength, null),
      );
      if (count === 0) return;
      left -= count;
      yield bytes.subarray(0, count);
    }
  } finally {
    closeSync(descriptor);
  }
}

function* namesIn(directory: string, inside: string, depth: number): Generator<string> {
  const here = path.join(directory, inside);
  // Not as one list: a folder of blobs has one for each approval.
  const folder = told(directory, "not_readable", () => opendirSync(here));
  const next = () => told(directory, "not_readable", () => folder.readSync());
  try {
    for (let entry = next(); entry !== null; entry = next()) {
      const name = inside + entry.name;
      if (entry.isDirectory() && depth < MAX_DEPTH)
        yield* namesIn(directory, `${name}/`, depth + 1);
      else yield name;
    }
  } finally {
    folder.closeSync();
  }
}

/**
 * The directory must not exist, or be empty.
 *
 * @throws RoteError `file_exists` `not_writable`
 */
export function directoryWriter(directory: string): BundleWriter {
  const open = new Map<string, Appending>();
  told(directory, "not_writable", () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (readdirSync(directory).length === 0) return;
    throw new RoteError("file_exists", `${directory} is not empty; a bundle is written anew`, {
      file: directory,
    });
  });
  return {
    async append(name, bytes) {
      const known = open.get(name);
      const file = known ?? appending(path.join(directory, name));
      if (known === undefined) open.set(name, file);
      file.write(bytes);
    },
    async put(name, bytes) {
      const file = path.join(directory, name);
      told(file, "not_writable", () => {
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        const descriptor = openNew(file);
        if (descriptor !== undefined) writeAll(descriptor, bytes);
      });
    },
    async close() {
      for (const file of open.values()) file.close();
    },
  };
}

interface Appending {
  write(bytes: Uint8Array): void;
  close(): void;
}

function appending(file: string): Appending {
  const descriptor = told(file, "not_writable", () => openSync(file, "wx", 0o600));
  let waiting: Uint8Array[] = [];
  let length = 0;
  const flush = () => {
    told(file, "not_writable", () => writeWhole(descriptor, Buffer.concat(waiting)));
    waiting = [];
    length = 0;
  };
  return {
    write(bytes) {
      waiting.push(bytes);
      length += bytes.byteLength;
      if (length >= BUFFER_BYTES) flush();
    },
    close() {
      flush();
      told(file, "not_writable", () => fsyncSync(descriptor));
      closeSync(descriptor);
    },
  };
}

/** Undefined when it is there: its name says what it holds. */
function openNew(file: string): number | undefined {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    throw error;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  try {
    writeWhole(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; ) {
    at += writeSync(descriptor, bytes, at, bytes.byteLength - at);
  }
}

function told<T>(file: string, code: "not_readable" | "not_writable", work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RoteError) throw error;
    const system = codeOf(error);
    const [known, what] =
      system === "ENOENT"
        ? (["file_not_found", "does not exist"] as const)
        : ([
            code,
            `could not be ${code === "not_readable" ? "read" : "written"}: ${system}`,
          ] as const);
    throw new RoteError(known, `${file} ${what}`, { file, system }, error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
