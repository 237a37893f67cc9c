/**
 * The copy of tree heads outside the database. The journal alone cannot see that its own end was cut off or that it was
 * restored from a backup; a head kept elsewhere can.
 *
 * Notes are appended, one after the other, each synced. A crash may leave a part of one behind: it counts for nothing,
 * and what follows it is separated from it.
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
import { RoteError } from "../../base/error.ts";
import { parseNote } from "../../base/note.ts";
import { syncDirectory } from "./private-files.ts";

export interface HeadsFile {
  /** The last whole notes, oldest first. Several, since two processes may write theirs in another order than they committed. */
  readonly last: readonly string[];
  append(this: void, note: string): void;
  close(this: void): void;
}

/** Notes are separated by a line that no note can contain. */
const SEPARATOR = "%\n";
/** Holds a few notes of any length that we write. */
const TAIL_BYTES = 16_384;
const LAST = 4;

export function openHeadsFile(file: string): HeadsFile {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const fresh = !existsSync(file);
  const descriptor = openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  if (fresh) syncDirectory(path.dirname(file));
  return {
    last: lastNotes(descriptor),
    append(note) {
      // Separated from what a crash may have left there.
      const bytes = Buffer.from(SEPARATOR + note + SEPARATOR);
      if (writeSync(descriptor, bytes) !== bytes.byteLength) {
        throw new RoteError("disk_full", `a tree head could not be written whole to ${file}`, {
          file,
        });
      }
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

/** The last whole notes of a file that may not be there, for who writes none. */
export function lastHeadsIn(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return lastNotes(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function lastNotes(descriptor: number): readonly string[] {
  return notesAtEnd(descriptor)
    .filter((note) => parseNote(note).ok)
    .slice(-LAST);
}

function notesAtEnd(descriptor: number): readonly string[] {
  const { size } = fstatSync(descriptor);
  const from = Math.max(0, size - TAIL_BYTES);
  const bytes = Buffer.alloc(size - from);
  readSync(descriptor, bytes, 0, bytes.byteLength, from);
  const notes = bytes.toString("utf8").split(SEPARATOR);
  return from === 0 ? notes : notes.slice(1);
}
