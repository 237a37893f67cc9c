/**
 * The journal's own nouns. One chain per run and one named `host`; entries of all chains are leaves of one Merkle log,
 * in the order in which they were committed.
 */

import type { JsonValue } from "../base/json.ts";

export const HOST_CHAIN = "host";

/** Kinds of entries, with the chain they stand on. */
export const ENTRY_TYPES = {
  run_started: "run",
  run_resumed: "run",
  model_answered: "run",
  approval_requested: "run",
  approved: "run",
  admitted: "run",
  receipt: "run",
  checkpointed: "run",
  run_ended: "run",
  agent_started: "run",
  agent_asked: "run",
  agent_replied: "run",
  agent_unanswered: "run",
  agent_marked: "run",
  agent_paused: "run",
  host_opened: "host",
  trust: "host",
  approval_received: "host",
  reconciled: "host",
} as const;
export type EntryType = keyof typeof ENTRY_TYPES;

/** The bytes of an entry are the canonical text of this; larger bodies name blobs by digest. */
export interface Entry {
  readonly v: 1;
  readonly chain: string;
  /** Dense from 0 in its chain. */
  readonly seq: number;
  /** Bare SHA-256 hex of the previous entry's bytes in the chain; 64 zeros first. */
  readonly prev: string;
  /** Of the lease under which it was written; 0 on the host chain. */
  readonly epoch: number;
  /** Milliseconds since 1970 UTC; never less than the time of the entry before it in the log. */
  readonly time: number;
  readonly type: EntryType;
  readonly body: JsonValue;
}

export const MAX_ENTRY_BYTES = 65_535;
export const FIRST_PREV = "0".repeat(64);

/** An entry with its place in the log. */
export interface Appended {
  readonly entry: Entry;
  /** Bare SHA-256 hex of the entry's bytes: `prev` of the next. */
  readonly hash: string;
  /** Index among all leaves of the log. */
  readonly index: number;
}
