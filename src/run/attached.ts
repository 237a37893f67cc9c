/** A run's dealings with one host: its lease, what it waits for there, and what it got. */
import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { HostParts, OpenRequest } from "../host/index.ts";
import type { Lease } from "../ports/journal.ts";
import type { Drive } from "./drive.ts";

export interface Attached {
  readonly parts: HostParts;
  readonly lease: Lease;
  /** Every request for approval that the run has made, oldest first. */
  readonly requests: OpenRequest[];
  /** Requests that the run waits for now, by the node that waits. */
  readonly waiting: Map<string, OpenRequest>;
  /** Why the request before was not good enough, by node: the code of the change. */
  readonly outdated: Map<string, string>;
  readonly receipts: Digest[];
  /** Attempts that broke, by node and position: the next is one higher. */
  readonly attempts: Map<string, number>;
  readonly cancel: AbortController;
  /** True while a call is under way: a run is advanced by one caller at a time. */
  busy: boolean;
}

export function attachedTo(parts: HostParts, lease: Lease): Attached {
  return {
    parts,
    lease,
    requests: [],
    waiting: new Map(),
    outdated: new Map(),
    receipts: [],
    attempts: new Map(),
    cancel: new AbortController(),
    busy: false,
  };
}

/** The one way in which a process gets to write a run's chain. @throws RoteError `run_busy` */
export async function claimRun(parts: HostParts, run: string): Promise<Lease> {
  const claimed = await parts.journal.claim(run);
  if (claimed.ok) return claimed.value;
  const { owner, expiresMs } = claimed.error;
  throw new RoteError(
    "run_busy",
    `The run ${run} is being executed by ${owner} (its lease lasts until ${new Date(expiresMs).toISOString()}).`,
    { run, owner, expires_ms: expiresMs },
  );
}

/** @throws RoteError `run_busy` `lease_lost` */
export async function alone<T>(
  drive: Drive,
  attached: Attached,
  work: () => Promise<T>,
): Promise<T> {
  if (attached.busy) {
    throw new RoteError("run_busy", `The run ${drive.id} is being advanced already.`, {
      run: drive.id,
    });
  }
  attached.busy = true;
  try {
    return await work();
  } finally {
    attached.busy = false;
  }
}
