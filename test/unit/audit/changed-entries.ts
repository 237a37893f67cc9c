import { auditBundle, type Finding } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import { changedAt, entriesIn, forged, type Json, type Loose } from "../../support/audit/forge.ts";
import { paidTwice, type Recording } from "../../support/audit/record.ts";

export interface ChangedEntries {
  readonly recorded: Recording;
  readonly entries: readonly Loose[];
  /** What an auditor finds in a record that says this instead, signed by the journal's key. */
  found(changed: readonly Loose[]): Promise<readonly Finding[]>;
  /** The entries, with one of them changed. */
  with_(at: number, change: (entry: Loose) => Loose): readonly Loose[];
}

/** The record of two payments, for somebody who holds the journal's key to change. */
export async function changedEntries(): Promise<ChangedEntries> {
  const recorded = await paidTwice();
  const entries = entriesIn(recorded.files);
  return {
    recorded,
    entries,
    async found(changed) {
      const source = memorySource(forged(recorded.files, changed));
      return (await auditBundle(source, { trust: recorded.trust })).findings;
    },
    with_: (at, change) => entries.map((entry, index) => (index === at ? change(entry) : entry)),
  };
}

export function body(pointer: string, next: JsonValue | undefined) {
  return (entry: Loose): Loose => ({
    ...entry,
    body: changedAt(entry.body, pointer, next) as Json,
  });
}
