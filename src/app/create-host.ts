/** Builds a host from what the application supplies. Nothing here has a default that would grant anything. */
import { signNote } from "../base/note.ts";
import type { PrivateKey } from "../base/sign.ts";
import { type Host, type HostParts, hostOf, keepDocuments } from "../host/index.ts";
import { DEFAULT_MEMORY_LIMITS } from "../model/memory.ts";
import type { Role } from "../model/trust.ts";
import { systemClock } from "../os/clock.ts";
import { isOwnerDead, processOwner } from "../os/owner.ts";
import { systemRandom } from "../os/random.ts";
import { systemTimers } from "../os/timers.ts";
import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import type { Timers } from "../ports/timers.ts";
import type { JournalTables } from "../store/journal/tables.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { adoptTrust } from "./adopt-trust.ts";
import { type HostOptions, invalid, type ReadOptions, readHostOptions } from "./host-options.ts";

export type { HostOptions, ToolRegistration } from "./host-options.ts";

/**
 * A host: the one gate through which procedures read and act.
 *
 * @throws RoteError `host_invalid` naming what is wrong, `trust_refused`, and as opening the store
 */
export function createHost(options: HostOptions): Promise<Host> {
  return assembleHost(options, {});
}

/** What a test puts between a host and its store, or its alarms. Not exported from the package, and nothing else sets it. */
export interface HostSeams {
  readonly around?: (tables: JournalTables) => JournalTables;
  readonly timers?: Timers;
}

/** `createHost`, with seams. */
export async function assembleHost(options: HostOptions, seams: HostSeams): Promise<Host> {
  const read = readHostOptions(options);
  const { clock = systemClock, random = systemRandom } = options;
  const { journal, procedures } = await openStore(options, read, clock, seams);
  try {
    const trust = await adoptTrust(journal, options.trust);
    refuseOtherRole(trust(), read.journalKey, "journal");
    refuseOtherRole(trust(), read.parts.receiptKey, "receipt");
    const parts: HostParts = Object.freeze({
      ...read.parts,
      journal,
      procedures,
      clock,
      timers: seams.timers ?? systemTimers,
      random,
      trust,
    });
    await keepDocuments(parts);
    return hostOf(parts);
  } catch (error) {
    // Whatever closing has to say, this is why.
    await journal.close().catch(() => undefined);
    procedures.close();
    throw error;
  }
}

/** One key has one role: with an approver's key a host could approve what it asks for. */
function refuseOtherRole(trust: TrustStore, { publicKey }: PrivateKey, role: Role): void {
  const listed = trust.key(publicKey.id)?.entry.role;
  if (listed === undefined || listed === role) return;
  throw invalid(`the key for ${role} is in the trust store as a key of the role ${listed}`);
}

async function openStore(
  { directory, heads: kept }: HostOptions,
  { origin, journalKey, leaseMs }: ReadOptions,
  clock: Clock,
  seams: HostSeams,
): Promise<{ readonly journal: Journal; readonly procedures: ProcedureStore }> {
  const journal = {
    origin,
    clock,
    timers: systemTimers,
    owner: processOwner(),
    isDead: isOwnerDead,
    sign: (text: string) => signNote(text, origin, journalKey),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  };
  const limits = DEFAULT_MEMORY_LIMITS;
  if (directory === null) {
    const { openMemoryStore } = await import("../store/memory/store.ts");
    return openMemoryStore({ journal, limits });
  }
  const { openSqliteStore } = await import("../store/sqlite/store.ts");
  const heads = kept === undefined ? {} : { heads: kept };
  return openSqliteStore(directory, { journal, limits, ...heads, ...seams });
}
