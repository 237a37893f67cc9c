/** Journal tables of which one call fails, before or after it did what it is for. */
import type { JournalTables } from "../../../src/store/journal/tables.ts";

export class InjectedFault extends Error {}

export interface FaultPlan {
  /** The n-th call fails, from 1; null counts only. */
  readonly at: number | null;
  readonly when: "before" | "after";
}

export interface Faults {
  readonly around: (tables: JournalTables) => JournalTables;
  readonly calls: () => number;
  readonly failed: () => boolean;
}

export function faultsWith({ at, when }: FaultPlan): Faults {
  let calls = 0;
  let failed = false;
  const guarded = <T>(call: () => T): T => {
    calls += 1;
    if (calls !== at) return call();
    failed = true;
    if (when === "after") call();
    throw new InjectedFault("injected");
  };
  return {
    calls: () => calls,
    failed: () => failed,
    around(tables) {
      const wrapped = Object.fromEntries(
        Object.entries(tables).map(([name, method]) => {
          const call = method as (...given: unknown[]) => unknown;
          // Closing is how the process lets go of the store.
          return [
            name,
            name === "close" ? call : (...given: unknown[]) => guarded(() => call(...given)),
          ];
        }),
      );
      return wrapped as unknown as JournalTables;
    },
  };
}
