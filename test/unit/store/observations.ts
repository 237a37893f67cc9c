import { ok } from "../../../src/base/result.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { openProcedures } from "../../../src/store/sqlite/procedures.ts";
import { exchange, KEY, NAME, observation } from "../../support/memory-evidence.ts";

export function add(store: ProcedureStore, word: string, size = 0, key = KEY) {
  const models = size === 0 ? [] : [exchange("n", "p", "x".repeat(size))];
  const given = observation(word, { models: models.map(({ source: _source, ...rest }) => rest) });
  return store.observe(key, NAME, () => ok({ observation: given, demotion: null }));
}

export function runs(place: string): readonly string[] {
  const store = openProcedures(place, DEFAULT_MEMORY_LIMITS);
  try {
    return store.read(KEY)?.observations.map((one) => one.run) ?? [];
  } finally {
    store.close();
  }
}

export function code(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

export function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("must fail");
}
