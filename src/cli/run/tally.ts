/** Counts over many runs: by state and reason, never by line, so that a million lines cost no more than ten. */
import type { JsonValue } from "../../base/json.ts";
import { inLine } from "../../base/text.ts";
import { EXIT_CODES, type ExitName } from "../../model/stop.ts";
import { count, table } from "../table.ts";

/** Problems told for people; JSON has them all. */
const TOLD = 20;

/** What came of one line. */
export interface Line {
  readonly number: number;
  readonly exit: ExitName;
  /** `rejected verifier_rejected`, or the code of the problem that kept the run from starting. */
  readonly state: string;
  readonly reason: string;
  readonly message: string | null;
  readonly json: { readonly [key: string]: JsonValue };
  readonly reused: number;
  readonly learned: number;
  readonly calls: number;
  readonly observed: "counted" | "failed" | "refused" | null;
}

interface Total {
  readonly state: string;
  readonly reason: string;
  runs: number;
  reused: number;
  learned: number;
  calls: number;
}

export interface Tally {
  lines: number;
  verified: number;
  worst: ExitName;
  readonly totals: Map<string, Total>;
  readonly observed: { counted: number; failed: number; refused: number };
  readonly told: string[];
  untold: number;
}

export function newTally(): Tally {
  return {
    lines: 0,
    verified: 0,
    worst: "verified",
    totals: new Map(),
    observed: { counted: 0, failed: 0, refused: 0 },
    told: [],
    untold: 0,
  };
}

export function addLine(tally: Tally, line: Line): void {
  tally.lines += 1;
  if (line.state === "verified") tally.verified += 1;
  tally.worst = worse(tally.worst, line.exit);
  const total = totalOf(tally, line);
  total.runs += 1;
  total.reused += line.reused;
  total.learned += line.learned;
  total.calls += line.calls;
  if (line.observed !== null) tally.observed[line.observed] += 1;
  if (line.exit === "verified") return;
  if (tally.told.length === TOLD) tally.untold += 1;
  else tally.told.push(toldLine(line));
}

function totalOf({ totals }: Tally, { state, reason }: Line): Total {
  const key = `${state} ${reason}`;
  const known = totals.get(key);
  if (known !== undefined) return known;
  const total: Total = { state, reason, runs: 0, reused: 0, learned: 0, calls: 0 };
  totals.set(key, total);
  return total;
}

function toldLine({ number, state, reason, message }: Line): string {
  const why = reason === "" ? "" : ` (${reason})`;
  return inLine(`line ${number}: ${state}${why}${message === null ? "" : ` ${message}`}`);
}

/** Exits are listed from best to worst. */
const ORDER = Object.keys(EXIT_CODES);

export function worse(left: ExitName, right: ExitName): ExitName {
  return ORDER.indexOf(left) >= ORDER.indexOf(right) ? left : right;
}

export function progressText({ lines, verified }: Tally): string {
  return `${count(lines, "run")}, ${verified} verified, ${lines - verified} not`;
}

export function tallyJson(tally: Tally): { readonly [key: string]: JsonValue } {
  const states = sorted(tally).map(({ state, reason, runs, reused, learned, calls }) => ({
    state,
    reason,
    runs,
    reused_pure_nodes: reused,
    learned_model_hits: learned,
    model_calls: calls,
  }));
  return { runs: tally.lines, states, observed: { ...tally.observed } };
}

export function tallyText(tally: Tally, cancelled: boolean): string {
  const lines = [...tally.told];
  if (tally.untold > 0) lines.push(`and ${count(tally.untold, "line")} more (--json has them all)`);
  if (lines.length > 0) lines.push("");
  const head = ["state", "reason", "runs", "reused nodes", "learned answers", "model calls"];
  const rows = sorted(tally).map(({ state, reason, runs, reused, learned, calls }) => [
    state,
    reason,
    runs,
    reused,
    learned,
    calls,
  ]);
  lines.push(table(head, rows));
  const { counted, failed, refused } = tally.observed;
  if (counted + failed + refused > 0) {
    lines.push(
      "",
      `observed: ${counted} counted, ${failed} failed their phase, ${refused} refused`,
    );
  }
  if (cancelled) lines.push("", "cancelled: the lines after these were not run");
  return lines.join("\n");
}

function sorted({ totals }: Tally): readonly Total[] {
  return [...totals.values()].sort((left, right) => right.runs - left.runs);
}
