/** What stands beside each code of a finding, and what several of them advise. */

export type Severity = "error" | "warning";

export interface Explained {
  /** An error says that the record is wrong or cannot be relied on; a warning, that something cannot be told. */
  readonly severity: Severity;
  readonly meaning: string;
  readonly todo: string;
}

export const ASK_FOR_ALL =
  "Ask for a whole copy; if this is the record itself, treat it as changed.";
export const CHANGED = "Treat the record as changed from here on; compare with another copy.";
export const ASK_HOST = "Ask who runs the host; this host did what its own rules refuse.";
