/** Content that entries name by the SHA-256 of its bytes. Each is read when it is named, and kept by nobody. */
import { sha256Hex } from "../base/digest.ts";
import { BLOB_FOLDER, type BundleSource } from "../ports/bundle.ts";
import type { Counts } from "./counts.ts";
import type { Findings, Place } from "./finding.ts";
import { wholeOf } from "./lines.ts";
import { createSeen } from "./seen.ts";

/** No host keeps more in one piece. */
const MAX_BYTES = 1_000_000_000;

export interface Blobs {
  /** The bytes, when they are there and have this name; else a finding where they are named. */
  read(sha256: string, place: Place, what: string): Promise<Uint8Array | undefined>;
  /** As `read`, once for each name: for what only has to be there. */
  check(sha256: string, place: Place, what: string): Promise<void>;
  /** As `read`, for what may be absent: then null, and no finding. */
  find(sha256: string, place: Place, what: string): Promise<Uint8Array | null | undefined>;
  /** True when some entry named it. */
  isNamed(sha256: string): boolean;
}

export function createBlobs(source: BundleSource, findings: Findings, counts: Counts): Blobs {
  const named = createSeen();

  /** Null when there is no file of that name; undefined when it has other bytes. */
  async function look(
    sha256: string,
    place: Place,
    what: string,
  ): Promise<Uint8Array | null | undefined> {
    const fresh = named.add(sha256);
    const portions = await source.read(BLOB_FOLDER + sha256);
    if (portions === undefined) return null;
    if (fresh) counts.blobs += 1;
    const bytes = await wholeOf(portions, MAX_BYTES);
    const found = bytes === undefined ? "too large to read" : sha256Hex(bytes);
    if (bytes !== undefined && found === sha256) return bytes;
    const file = { ...place, file: BLOB_FOLDER + sha256, index: null };
    findings.add("blob_differs", file, `the SHA-256 of ${what} is ${found}`);
    return undefined;
  }

  async function read(sha256: string, place: Place, what: string): Promise<Uint8Array | undefined> {
    const bytes = await look(sha256, place, what);
    if (bytes === null) {
      findings.add("blob_missing", place, `the blob ${sha256} (${what}) is not there`);
    }
    return bytes ?? undefined;
  }

  return {
    read,
    find: look,
    async check(sha256, place, what) {
      if (!named.has(sha256)) await read(sha256, place, what);
    },
    isNamed: (sha256) => named.has(sha256),
  };
}
