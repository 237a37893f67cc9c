import { type RunRecord, recordOf, type TimelineEntry } from "../../app/run-record.ts";
import { inLine } from "../../base/text.ts";
import { type OpenHost, withHost } from "../host.ts";
import { resumeAgent, resumeRun } from "../next.ts";
import { operationJson, uncertainLines } from "../run/told.ts";
import type { Call, Outcome } from "../spec.ts";
import { table } from "../table.ts";
import { requestJson, requestText } from "../waiting.ts";

/** One run as the journal has it. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  const [name = ""] = call.arguments;
  return await withHost(call, async (at) => {
    const record = recordOf(at.host, name);
    return { exit: "verified", json: recordJson(record), text: recordText(record, at) };
  });
}

function recordJson({ requests, uncertain, entries, ...facts }: RunRecord): Outcome["json"] {
  return {
    ...facts,
    requests: requests.map(requestJson),
    uncertain: uncertain.map(({ frozen, found }) => ({
      operation: operationJson(frozen),
      found,
    })),
    entries: entries.map((entry) => ({ ...entry })),
  };
}

function recordText(record: RunRecord, at: OpenHost): string {
  const { run: id, state, reason, message, requests, uncertain } = record;
  const agent = record.mode === "agent";
  const open = uncertain.flatMap(({ frozen, found }) => (found === null ? [frozen] : []));
  return [
    `run      ${id}`,
    ...(agent ? [] : [`recipe   ${record.recipe}`, `plan     ${record.plan}`]),
    `mode     ${record.mode}`,
    `as       ${record.identity}`,
    `state    ${state}${reason === null ? "" : ` (${reason})`}`,
    ...(message === null ? [] : [inLine(`why      ${message}`)]),
    "",
    timeline(record.entries),
    ...requests.flatMap((request) => ["", ...requestText(request, at)]),
    ...uncertainLines(open, id, at),
    ...(state === "open"
      ? [`hint: go on with  ${agent ? resumeAgent(id, null, at.file) : resumeRun(id, at.file)}`]
      : []),
  ].join("\n");
}

function timeline(entries: readonly TimelineEntry[]): string {
  const rows = entries.map(({ chain, seq, time, type, what }) => [
    chain === "host" ? `host ${seq}` : String(seq),
    new Date(time).toISOString(),
    type,
    what,
  ]);
  return table(["entry", "time", "type", "what"], rows);
}
