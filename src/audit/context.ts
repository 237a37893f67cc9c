/** What every part of an audit works with. */
import type { Entry } from "../model/journal.ts";
import { BUNDLE_FILES } from "../ports/bundle.ts";
import type { Ahead } from "./ahead.ts";
import type { Blobs } from "./blobs.ts";
import type { Counts } from "./counts.ts";
import type { Documents } from "./documents.ts";
import type { Findings, Place } from "./finding.ts";
import type { FindingCode } from "./finding-codes.ts";
import type { Keys } from "./keys.ts";

export interface Context {
  readonly keys: Keys;
  readonly findings: Findings;
  readonly counts: Counts;
  readonly blobs: Blobs;
  readonly documents: Documents;
}

/** An entry that has the form of its type, in its place. */
export interface Placed {
  readonly entry: Entry;
  /** Bare SHA-256 hex of its bytes. */
  readonly hash: string;
  /** Of its line. */
  readonly index: number;
  /** Of its time. */
  readonly seconds: number;
  /** Of the signature that it carries, where that is being verified already. */
  readonly ahead?: Ahead;
}

export function placeOf({ entry, index }: Pick<Placed, "entry" | "index">): Place {
  return {
    file: BUNDLE_FILES.journal,
    index: [index, index],
    chain: entry.chain,
    seq: [entry.seq, entry.seq],
  };
}

export function report(
  { findings }: Context,
  placed: Placed,
  code: FindingCode,
  message: string,
): void {
  findings.add(code, placeOf(placed), message);
}
