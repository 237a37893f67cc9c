import { nearest } from "../base/text.ts";
import type { ProcedureKey, ProcedureSummary } from "../model/memory.ts";
import type { ProcedureStore } from "../ports/procedures.ts";

export type Wanted = { readonly task: string } | ProcedureKey;

export interface LookUp {
  /** Exact matches only: at most one by digests; by task the most recently observed first. */
  readonly procedures: readonly ProcedureSummary[];
  /** A task of a similar name when none matches: to ask about, never to use. */
  readonly suggestion: string | null;
}

/** Procedures told of one task. */
const TOLD = 100;
/** Task names that a suggestion is sought among. */
const NAMES = 10_000;

export function lookUp(store: ProcedureStore, wanted: Wanted): LookUp {
  if (!("task" in wanted)) {
    const found = store.find(wanted);
    return { procedures: found === undefined ? [] : [found], suggestion: null };
  }
  const procedures = store.findTask(wanted.task, TOLD);
  if (procedures.length > 0) return { procedures, suggestion: null };
  return { procedures, suggestion: nearest(wanted.task, store.tasks(NAMES)) ?? null };
}
