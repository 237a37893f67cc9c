import { isJsonObject, type JsonValue } from "../../base/json-value.ts";
import type { Appended, Entry } from "../../model/journal.ts";
import type { RunSummary } from "../../ports/journal.ts";
import type { RunRow } from "./tables.ts";

/** How far the order of the list of runs may lag, so that a fast run does not rewrite its row at every entry. */
const TOUCH_MS = 1_000;

/** The row of a run after one more entry of its chain; undefined when it stays as it is. */
export function rowAfter(before: RunRow | undefined, entry: Entry): RunRow | undefined {
  const ended = entry.type === "run_ended";
  if (before !== undefined && !ended && entry.time - before.touchedMs < TOUCH_MS) return undefined;
  const row = before ?? {
    run: entry.chain,
    recipe: text(entry.body, "recipe") ?? "",
    plan: text(entry.body, "plan") ?? "",
    mode: text(entry.body, "mode") ?? "",
    startedMs: entry.time,
    state: null,
    reason: null,
  };
  return {
    ...row,
    touchedMs: entry.time,
    state: ended ? text(entry.body, "state") : row.state,
    reason: ended ? text(entry.body, "reason") : row.reason,
  };
}

export function summaryOf({ touchedMs: _, ...row }: RunRow, { entry }: Appended): RunSummary {
  return { ...row, updatedMs: entry.time, last: entry.type };
}

function text(body: JsonValue, member: string): string | null {
  const value = isJsonObject(body) ? body[member] : undefined;
  return typeof value === "string" ? value : null;
}
