/**
 * Who may write to a chain. A lease is held by its epoch: whoever claims counts it up, and from then on everything that
 * carries an older one is refused, however late it comes. Time decides only who may claim, never who may write.
 */
import { err, ok, type Result } from "../../base/result.ts";
import type { Lease, LeaseHeld } from "../../ports/journal.ts";
import type { JournalTables } from "./tables.ts";

export interface Leases {
  holds(lease: Lease): boolean;
  claim(chain: string, now: number): Result<Lease, LeaseHeld>;
  /**
   * Extends a lease that is held, when it is in the second half of its life: most writes change no lease. It lasts
   * `holdMs` longer than usual.
   */
  extend(lease: Lease, now: number, holdMs: number): void;
  /** Gives a lease back that is held; a lost one stays whose it is. */
  release(lease: Lease): void;
}

export function leasesIn(tables: JournalTables, { owner, isDead, leaseMs }: LeaseOptions): Leases {
  function holds(lease: Lease): boolean {
    const row = tables.lease(lease.chain);
    return row?.epoch === lease.epoch && row.owner === lease.owner;
  }

  return {
    holds,

    claim(chain, now) {
      const row = tables.lease(chain);
      const free = row === undefined || row.expiresMs <= now || isDead(row.owner);
      if (!free) return err({ code: "held", owner: row.owner, expiresMs: row.expiresMs });
      const epoch = (row?.epoch ?? 0) + 1;
      tables.putLease(chain, { owner, epoch, expiresMs: now + leaseMs });
      return ok({ chain, owner, epoch });
    },

    extend(lease, now, holdMs) {
      const row = tables.lease(lease.chain);
      if (row !== undefined && row.expiresMs - now < holdMs + leaseMs / 2) {
        tables.putLease(lease.chain, { ...row, expiresMs: now + holdMs + leaseMs });
      }
    },

    release(lease) {
      const row = tables.lease(lease.chain);
      if (row !== undefined && holds(lease)) tables.putLease(lease.chain, { ...row, expiresMs: 0 });
    },
  };
}

export interface LeaseOptions {
  readonly owner: string;
  readonly isDead: (owner: string) => boolean;
  readonly leaseMs: number;
}
