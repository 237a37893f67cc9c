/** How much was looked at: an audit that found nothing says what it found it in. */

import type { AgentTerminalState } from "../model/agent-states.ts";
import type { Outcome } from "../model/operation.ts";
import type { TerminalState } from "../model/stop.ts";

export type Tally<Name extends string> = { [name in Name]: number };

export interface Counts {
  entries: number;
  bytes: number;
  readonly runs: {
    started: number;
    /** Neither ended nor known to be lost: still going on when the record was written. */
    open: number;
    readonly ended: Tally<TerminalState | AgentTerminalState>;
  };
  readonly admissions: {
    read: number;
    effect: number;
    /** In flight when the record was written: no receipt yet, and the run had not ended. */
    open: number;
  };
  readonly receipts: Tally<Outcome>;
  readonly approvals: {
    requests: number;
    approved: number;
    rejected: number;
    /** Decisions that came when their run had ended. */
    late: number;
    /** Uses: one approval of a batch is used once for each of its operations. */
    used: number;
  };
  reconciliations: number;
  trust_versions: number;
  heads: number;
  blobs: number;
  /** Signatures that verified. */
  signatures: number;
}

export function createCounts(): Counts {
  return {
    entries: 0,
    bytes: 0,
    runs: {
      started: 0,
      open: 0,
      ended: {
        verified: 0,
        completed: 0,
        rejected: 0,
        denied: 0,
        exhausted: 0,
        failed: 0,
        uncertain: 0,
        stopped: 0,
        cancelled: 0,
      },
    },
    admissions: { read: 0, effect: 0, open: 0 },
    receipts: { done: 0, failed_before_effect: 0, refused: 0, uncertain: 0 },
    approvals: { requests: 0, approved: 0, rejected: 0, late: 0, used: 0 },
    reconciliations: 0,
    trust_versions: 0,
    heads: 0,
    blobs: 0,
    signatures: 0,
  };
}
