import { ok, type Result } from "../../src/base/result.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  type MemoryLimits,
  type ProcedureKey,
  type Signal,
  type StandingQualification,
} from "../../src/model/memory.ts";
import type { NewDemotion, NewObservation, ProcedureStore } from "../../src/ports/procedures.ts";
import { memoryProcedures } from "../../src/store/memory/procedures.ts";
import { createProcedures } from "../../src/store/sqlite/procedures.ts";
import { directories } from "../support/directories.ts";
import { KEY, NAME } from "../support/memory-evidence.ts";

interface Adapter {
  readonly name: string;
  /** The directory is not there yet. */
  make(directory: string, limits: MemoryLimits): ProcedureStore;
}

/** Every adapter of the port. */
export const ADAPTERS: readonly Adapter[] = [
  { name: "in process", make: (_directory, limits) => memoryProcedures(limits) },
  { name: "sqlite", make: (directory, limits) => createProcedures(directory, limits) },
];

export const NEVER = () => {
  throw new Error("must not be called");
};

export const DEMOTION: NewDemotion = { cause: "host", reason: "because", run: null, demoted_ms: 7 };

export function qualification(id: string): StandingQualification {
  return { id, learned: [], clean_runs: 5, qualified_ms: 9 };
}

export function signal(word: string, more: Partial<Signal> = {}): Signal {
  return { run: word, failed: false, reason: "agreed", models: [], signalled_ms: 3, ...more };
}

export interface Stores {
  fresh(limits?: Partial<MemoryLimits>): ProcedureStore;
  /** With the stores that were made. */
  remove(): void;
}

/** Fresh stores of one adapter, each in a place of its own. */
export function storesOf({ make }: Adapter): Stores {
  const places = directories();
  const made: ProcedureStore[] = [];
  return {
    fresh(limits = {}) {
      const store = make(places.fresh(), { ...DEFAULT_MEMORY_LIMITS, ...limits });
      made.push(store);
      return store;
    },
    remove() {
      for (const store of made.splice(0)) store.close();
      places.remove();
    },
  };
}

export function add(
  store: ProcedureStore,
  key: ProcedureKey,
  given: NewObservation,
  demotion: NewDemotion | null = null,
): Result<unknown, unknown> {
  const name = { ...NAME, task: key === KEY ? NAME.task : `task ${key.plan}` };
  return store.observe(key, name, () => ok({ observation: given, demotion }));
}

export function qualifyWith(store: ProcedureStore, key: ProcedureKey, id: string): void {
  store.qualify(key, () => ({ qualification: qualification(id), answer: null }));
}
