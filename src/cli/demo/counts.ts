/** What the runs of the demonstration came to, and the table that says so. */
import { isJsonArray, isJsonObject, type JsonValue } from "../../base/json.ts";
import type { Outcome } from "../spec.ts";
import { table } from "../table.ts";

/** Of one recipe. */
export interface DemoCounts {
  guided: number;
  guidedCalls: number;
  compiled: number;
  compiledCalls: number;
  learned: number;
  reused: number;
  bound: string;
  /** Signed decisions, effects that were done, and signed receipts, as the audit counted them. */
  approvals: number;
  effects: number;
  receipts: number;
}

export type AllCounts = Map<string, DemoCounts>;

export function countsOf(counts: AllCounts, recipe: string): DemoCounts {
  const found = counts.get(recipe);
  if (found !== undefined) return found;
  const none: DemoCounts = {
    guided: 0,
    guidedCalls: 0,
    compiled: 0,
    compiledCalls: 0,
    learned: 0,
    reused: 0,
    bound: "",
    approvals: 0,
    effects: 0,
    receipts: 0,
  };
  counts.set(recipe, none);
  return none;
}

/** Adds the runs that a command tells of, and what it says of a qualification. */
export function addTo(total: DemoCounts, { json }: Outcome): void {
  const bound = member(member(json, "qualification"), "failure_rate_bound");
  if (typeof bound === "number") total.bound = `< ${(bound * 100).toFixed(1)} %`;
  const report = member(json, "report");
  const summary = member(json, "summary");
  const compiled = member(summary, "mode") === "compiled" || member(json, "mode") === "compiled";
  const rows = report === undefined ? member(summary, "states") : [report];
  if (!isJsonArray(rows)) return;
  for (const row of rows) {
    const runs = report === undefined ? numberIn(row, "runs") : 1;
    const calls = numberIn(row, "model_calls");
    if (compiled) {
      total.compiled += runs;
      total.compiledCalls += calls;
    } else {
      total.guided += runs;
      total.guidedCalls += calls;
    }
    total.learned += numberIn(row, "learned_model_hits");
    total.reused += numberIn(row, "reused_pure_nodes");
  }
}

export function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

export function numberIn(value: JsonValue | undefined, name: string): number {
  const found = member(value, name);
  return typeof found === "number" ? found : 0;
}

export function textIn(value: JsonValue | undefined, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
}

export function listIn(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const found = member(value, name);
  return isJsonArray(found) ? found : [];
}

export function countsTable(counts: AllCounts): string {
  const head = [
    "recipe",
    "guided runs",
    "model calls",
    "failure rate",
    "compiled runs",
    "model calls",
    "learned",
    "reused",
    "approvals",
    "effects",
    "receipts",
  ];
  const rows = [...counts].map(([recipe, one]) => [
    recipe,
    one.guided,
    one.guidedCalls,
    one.bound,
    one.compiled,
    one.compiledCalls,
    one.learned,
    one.reused,
    one.approvals,
    one.effects,
    one.receipts,
  ]);
  return table(head, rows);
}
