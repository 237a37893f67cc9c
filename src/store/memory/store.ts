/** Journal and procedure memory in this process only. */
import type { MemoryLimits } from "../../model/memory.ts";
import type { Journal } from "../../ports/journal.ts";
import type { ProcedureStore } from "../../ports/procedures.ts";
import { createJournal, type JournalOptions } from "../journal/journal.ts";
import { memoryJournalTables } from "./journal-tables.ts";
import { memoryProcedures } from "./procedures.ts";

export function openMemoryStore(options: {
  readonly journal: Omit<JournalOptions, "keepCopy" | "lastCopies">;
  readonly limits: MemoryLimits;
}): { readonly journal: Journal; readonly procedures: ProcedureStore } {
  const procedures = memoryProcedures(options.limits);
  const tables = memoryJournalTables((id) => procedures.stands(id));
  const journal = createJournal(tables, {
    ...options.journal,
    keepCopy: () => undefined,
    lastCopies: [],
  });
  return { journal, procedures };
}
