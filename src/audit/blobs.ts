/**
 * Content that entries name by the SHA-256 of its bytes. Each is read when it is named, and kept by nobody. What is large
 * is in memory only once it was seen to be what an entry names: a bundle may come by somebody who filled it up.
 */
import { sha256InPortions } from "../base/digest.ts";
import { BLOB_FOLDER, type BundleSource } from "../ports/bundle.ts";
import type { Counts } from "./counts.ts";
import type { Findings, Place } from "./finding.ts";
import { createSeen } from "./seen.ts";

/** No host keeps more in one piece. */
const MAX_BYTES = 1_000_000_000;
/** Kept of what may turn out to be something else. */
const MAX_UNSEEN = 8_000_000;

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
    const name = BLOB_FOLDER + sha256;
    const portions = await source.read(name);
    if (portions === undefined) return null;
    if (fresh) counts.blobs += 1;
    const first = await contentOf(portions, MAX_UNSEEN);
    if (first.sha256 === sha256) {
      if (first.bytes !== undefined) return first.bytes;
      const again = await source.read(name);
      const whole = again === undefined ? undefined : await contentOf(again, MAX_BYTES);
      if (whole?.sha256 === sha256 && whole.bytes !== undefined) return whole.bytes;
    }
    const found = first.sha256 ?? "of too many bytes to be read";
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

interface Content {
  /** Undefined when there are more than any host keeps. */
  readonly sha256: string | undefined;
  /** Undefined when there are more than `most`. */
  readonly bytes: Uint8Array | undefined;
}

async function contentOf(portions: AsyncIterable<Uint8Array>, most: number): Promise<Content> {
  const digest = sha256InPortions();
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const portion of portions) {
    length += portion.byteLength;
    if (length > MAX_BYTES) return { sha256: undefined, bytes: undefined };
    digest.add(portion);
    // A copy: the source may use its buffer again.
    if (length <= most) parts.push(new Uint8Array(portion));
    else parts = [];
  }
  return { sha256: digest.hex(), bytes: length <= most ? Buffer.concat(parts) : undefined };
}
