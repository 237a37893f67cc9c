/**
 * A bundle: the record of a host as plain files, for somebody who has neither its store nor its keys.
 *
 * The names are those of `BUNDLE_FILES`, and `blobs/sha256/<64 hex>` for what entries name by digest.
 */

export const BUNDLE_FILES = {
  /** The bytes of each entry and a line feed, in log order. */
  journal: "journal.jsonl",
  /** Signed tree heads in the order in which they were made, each followed by the line `%`. */
  heads: "heads.txt",
  /** The envelopes of all versions of the trust store, oldest first, as one JSON list. */
  trust: "trust.json",
} as const;

export const BLOB_FOLDER = "blobs/sha256/";

/** The line behind each tree head; no note contains it. */
export const HEAD_SEPARATOR = "%\n";

export interface BundleSource {
  /** Names of everything that is there, in any order, `/` between folders. */
  names(): AsyncIterable<string>;
  /** Bytes of a file in portions; undefined when there is no such file. Asked only for names of the form above. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export interface BundleWriter {
  /** Adds to the end of a file. */
  append(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes a whole file, once: a file of that name that is there already is the same. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Everything is on disk when it resolves. */
  close(): Promise<void>;
}

/** A host's record where it is kept, as a journal and a store that is only read both show it. */
export interface RecordView {
  /** Of the log as it is now. */
  head(): { readonly size: bigint };
  /** Signed tree heads, oldest first. */
  heads(): readonly string[];
  /** Bytes of entries in log order, as they are stored and unread. */
  raw(fromIndex: number, limit: number): readonly Uint8Array[];
  blob(sha256: string): Uint8Array | undefined;
}
