/** A run's dealings with one host: its lease, what it waits for there, and what it got. */
import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { ownerInWords } from "../base/owner.ts";
import { compareText } from "../base/text.ts";
import type { HostParts, OpenRequest } from "../host/index.ts";
import type { Lease } from "../ports/journal.ts";
import type { Drive } from "./drive.ts";

export interface Attached {
  readonly parts: HostParts;
  readonly lease: Lease;
  /** Every request for approval that the run has made, oldest first. */
  readonly requests: OpenRequest[];
  /** Requests that the run waits for now, by nonce. */
  readonly waiting: Map<string, OpenRequest>;
  readonly receipts: Digest[];
  /** Attempts that broke, by node and position: the next is one higher. */
  readonly attempts: Map<string, number>;
  readonly cancel: AbortController;
  /** The call under way: a run is advanced by one caller at a time. */
  busy: Promise<unknown> | null;
  /** True when a call broke off: the journal may know more than this process, and is read before anything else. */
  stale: boolean;
}

export function attachedTo(parts: HostParts, lease: Lease): Attached {
  return {
    parts,
    lease,
    requests: [],
    waiting: new Map(),
    receipts: [],
    attempts: new Map(),
    cancel: new AbortController(),
    busy: null,
    stale: false,
  };
}

/** The one way in which a process gets to write a run's chain. @throws RoteError `run_busy` */
export async function claimRun(parts: HostParts, run: string): Promise<Lease> {
  const claimed = await parts.journal.claim(run);
  if (claimed.ok) return claimed.value;
  const { owner, expiresMs } = claimed.error;
  throw new RoteError(
    "run_busy",
    `The run ${run} is being executed by ${ownerInWords(owner)} (its lease lasts until ${new Date(expiresMs).toISOString()}).`,
    { run, owner, expires_ms: expiresMs },
  );
}

/** @throws RoteError `run_busy` `lease_lost` */
export async function alone<T>(
  drive: Drive,
  attached: Attached,
  work: () => Promise<T>,
): Promise<T> {
  if (attached.busy !== null) {
    throw new RoteError("run_busy", `The run ${drive.id} is being advanced already.`, {
      run: drive.id,
    });
  }
  const working = work();
  attached.busy = working;
  try {
    return await working;
  } finally {
    attached.busy = null;
  }
}

/** The requests that wait, by node and then by position. */
export function waitingRequests({ waiting }: Attached): readonly OpenRequest[] {
  return [...waiting.values()].sort(
    (left, right) => compareText(left.node, right.node) || positionOf(left) - positionOf(right),
  );
}

function positionOf({ operations }: OpenRequest): number {
  return operations[0]?.operation.index ?? 0;
}

interface ItemOf {
  readonly node: string;
  readonly index: number | null;
}

export function attemptsOf({ attempts }: Attached, item: ItemOf): number {
  return attempts.get(itemKey(item)) ?? 0;
}

export function countAttempt(attached: Attached, item: ItemOf): void {
  attached.attempts.set(itemKey(item), attemptsOf(attached, item) + 1);
}

function itemKey({ node, index }: ItemOf): string {
  return `${node}/${index ?? ""}`;
}
