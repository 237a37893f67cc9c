import type { JsonValue } from "../../base/json-value.ts";
import { type Entry, HOST_CHAIN } from "../../model/journal.ts";
import type { RunSummary } from "../../ports/journal.ts";

/** The row of the list of runs after one more entry of its chain; undefined for the host's chain. */
export function summaryAfter(before: RunSummary | undefined, entry: Entry): RunSummary | undefined {
  if (entry.chain === HOST_CHAIN) return undefined;
  const started = before ?? {
    run: entry.chain,
    recipe: text(entry.body, "recipe") ?? "",
    plan: text(entry.body, "plan") ?? "",
    mode: text(entry.body, "mode") ?? "",
    startedMs: entry.time,
    state: null,
    reason: null,
  };
  const ended = entry.type === "run_ended";
  return {
    ...started,
    updatedMs: entry.time,
    last: entry.type,
    state: ended ? text(entry.body, "state") : started.state,
    reason: ended ? text(entry.body, "reason") : started.reason,
  };
}

function text(body: JsonValue, member: string): string | null {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return null;
  const value = (body as { readonly [key: string]: JsonValue })[member];
  return typeof value === "string" ? value : null;
}
