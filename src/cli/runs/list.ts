import { TERMINAL_STATES } from "../../model/stop.ts";
import { meantHint, usageFault } from "../fault.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { table } from "../table.ts";

const LISTED = 50;

/** Runs of a host's journal, the most recently moved first. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  const limit = limitOf(textOption(call.options, "limit"));
  const wanted = stateOf(textOption(call.options, "state"));
  return await withHost(call, async ({ host }) => {
    const asking = new Set(host.pendingRequests().map((request) => request.run));
    const runs = host
      .runs(wanted === undefined ? limit : MOST)
      .map((one) => ({ ...one, state: one.state ?? (asking.has(one.run) ? WAITS : OPEN) }))
      .filter(({ state }) => wanted === undefined || state === wanted)
      .slice(0, limit);
    const rows = runs.map((one) => [
      one.run,
      one.recipe,
      one.mode,
      one.reason === null ? one.state : `${one.state} (${one.reason})`,
      new Date(one.startedMs).toISOString(),
      new Date(one.updatedMs).toISOString(),
    ]);
    const head = ["run", "recipe", "mode", "state", "started", "last entry"];
    return {
      exit: "verified",
      json: {
        runs: runs.map(({ startedMs, updatedMs, ...one }) => ({
          ...one,
          started_ms: startedMs,
          updated_ms: updatedMs,
        })),
      },
      text: rows.length === 0 ? "no runs" : table(head, rows),
    };
  });
}

const WAITS = "awaiting_approval";
/** Running somewhere, waiting for a model's answer, or left behind. */
const OPEN = "open";
/** Runs looked through for those in one state. */
const MOST = 10_000;

function stateOf(text: string | undefined): string | undefined {
  const states: readonly string[] = [WAITS, OPEN, ...TERMINAL_STATES];
  if (text === undefined || states.includes(text)) return text;
  throw usageFault(
    `--state ${text} is no state of a run in this list`,
    meantHint(text, states, `states are ${states.join(", ")}`),
  );
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return LISTED;
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw usageFault(`--limit ${text} is no number of runs`, "write for example --limit 100");
}
