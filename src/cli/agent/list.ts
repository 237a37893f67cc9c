import { NO_MODEL } from "../../app/agent-model.ts";
import { AgentRuntime } from "../../app/agent-runtime.ts";
import { RoteError } from "../../base/error.ts";
import { shortened } from "../../base/text.ts";
import type { RunSummary } from "../../ports/journal.ts";
import { usageFault } from "../fault.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { table } from "../table.ts";

const LISTED = 50;
const GOAL = 48;

/** Agent runs of a host's journal, the most recently moved first. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  const limit = limitOf(textOption(call.options, "limit"));
  return await withHost(call, async ({ host }) => {
    const runtime = new AgentRuntime({ host, model: NO_MODEL });
    const runs = runtime.list(limit).map((summary) => listed(runtime, summary));
    const rows = runs.map(({ run, goal, state, reason, steps, updated_ms: updated }) => [
      run,
      short(goal ?? ""),
      reason === null || reason === state ? state : `${state} (${reason})`,
      steps ?? "",
      new Date(updated).toISOString(),
    ]);
    const head = ["run", "goal", "state", "turns", "last entry"];
    return {
      exit: "verified",
      json: { runs },
      text: rows.length === 0 ? "no agent runs" : table(head, rows),
    };
  });
}

function listed(runtime: AgentRuntime, { run, startedMs, updatedMs }: RunSummary) {
  const times = { started_ms: startedMs, updated_ms: updatedMs };
  try {
    const { goal, report, parent } = runtime.inspect(run);
    const { state, reason, steps, tool_calls } = report;
    return { run, goal, parent, state, reason, steps, tool_calls, ...times };
  } catch (error) {
    // One record that this version cannot read hides no other.
    if (!(error instanceof RoteError)) throw error;
    const { code } = error;
    const unread = { goal: null, parent: null, state: "unreadable", steps: null, tool_calls: null };
    return { run, ...unread, reason: code, ...times };
  }
}

function short(text: string): string {
  return shortened(text.replaceAll(/\s+/g, " ").trim(), GOAL);
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return LISTED;
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  throw usageFault(`--limit ${text} is no number of runs`, "write for example --limit 100");
}
