import { signNote } from "../../src/base/note.ts";
import { privateKey } from "../../src/base/sign.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../src/model/memory.ts";
import { systemTimers } from "../../src/os/timers.ts";
import type { Append, Journal, Lease } from "../../src/ports/journal.ts";
import type { Timers } from "../../src/ports/timers.ts";

export const ORIGIN = "tests.example/journal";
export const KEY = privateKey(new Uint8Array(32).fill(11));

export class ManualClock {
  now = 1_700_000_000_000;
  wallMs = () => this.now;
  monotonicMs = () => this.now;
}

export interface Opening {
  readonly clock: ManualClock;
  readonly owner?: string;
  readonly isDead?: (owner: string) => boolean;
  readonly timers?: Timers;
}

export function optionsOf({
  clock,
  owner = "one",
  isDead = () => false,
  timers = systemTimers,
}: Opening) {
  return {
    limits: DEFAULT_MEMORY_LIMITS,
    journal: {
      origin: ORIGIN,
      clock,
      timers,
      owner,
      isDead,
      sign: (text: string) => signNote(text, ORIGIN, KEY),
    },
  };
}

export async function leaseOn(journal: Journal, chain: string): Promise<Lease> {
  const claimed = await journal.claim(chain);
  if (!claimed.ok) throw new Error(`${chain} is held by ${claimed.error.owner}`);
  return claimed.value;
}

export function note(
  lease: Lease,
  body: Append["entries"][number]["body"],
  more: Partial<Append> = {},
): Append {
  return { lease, entries: [{ chain: lease.chain, type: "model_answered", body }], ...more };
}
