/**
 * The copy of tree heads outside the database. The journal alone cannot see that its own end was cut off or that it was
 * restored from a backup; a head kept elsewhere can.
 *
 * Notes are appended, one after the other, each synced. The last whole note counts: a crash may leave a part of one.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { syncDirectory } from "./private-files.ts";

export interface HeadsFile {
  readonly last: string | undefined;
  append(note: string): void;
  close(): void;
}

/** Notes are separated by a line that no note can contain. */
const SEPARATOR = "%\n";
/** No tree head note of ours is longer. */
const TAIL_BYTES = 65_536;

export function openHeadsFile(file: string): HeadsFile {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const fresh = !existsSync(file);
  const descriptor = openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  if (fresh) syncDirectory(path.dirname(file));
  return {
    last: lastNote(descriptor),
    append(note) {
      writeSync(descriptor, note + SEPARATOR);
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

function lastNote(descriptor: number): string | undefined {
  const { size } = fstatSync(descriptor);
  const from = Math.max(0, size - TAIL_BYTES);
  const bytes = Buffer.alloc(size - from);
  readSync(descriptor, bytes, 0, bytes.byteLength, from);
  const notes = bytes.toString("utf8").split(SEPARATOR);
  return notes.length < 2 ? undefined : notes[notes.length - 2];
}
