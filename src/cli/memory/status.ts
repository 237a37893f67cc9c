import type { ProcedureMemory } from "../../app/procedure-memory.ts";
import { PHASES, type ProcedureStatus } from "../../model/memory.ts";
import { reportJson } from "../report-json.ts";
import type { Call, Outcome } from "../spec.ts";
import { count, table } from "../table.ts";
import { withMemoryOf } from "./place.ts";

const LISTED = 1000;

/** What a memory holds, or what it knows about one procedure. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  return await withMemoryOf(call, async (memory, ready) => {
    if (ready === null) return await everything(memory);
    const { procedure, environment, note } = ready;
    const status = await memory.status(procedure, { environment });
    const text = note === null ? statusText(status) : `note: ${note}\n${statusText(status)}`;
    return { exit: "verified", json: { status: reportJson(status), note }, text };
  });
}

async function everything(memory: ProcedureMemory): Promise<Outcome> {
  const procedures = await memory.list({ limit: LISTED });
  const rows = procedures.map((one) => [
    one.task,
    one.observations,
    one.qualification === null ? "no" : "yes",
    short(one.plan),
    short(one.verifier),
  ]);
  const head = ["recipe", "observed", "qualified", "plan", "verifier"];
  const text = rows.length === 0 ? "the memory is empty" : table(head, rows);
  return {
    exit: "verified",
    json: { procedures: procedures.map(reportJson) },
    text,
  };
}

export function statusText(status: ProcedureStatus): string {
  const { task, plan, verifier, qualification, clean_runs, failure_rate_bound: bound } = status;
  const rows = PHASES.map((phase) => {
    const { counted, required, failed, distinct_inputs } = status.phases[phase];
    return [phase, counted, required, failed, distinct_inputs];
  });
  const lines = [
    `recipe     ${task}`,
    `plan       ${plan}`,
    `verifier   ${verifier}`,
    `verdict    ${status.verdict}`,
    `qualified  ${qualification === null ? "no" : `yes, ${qualification.id}`}`,
    `evidence   ${count(clean_runs, "clean run")}${bound === null ? "" : `: ${boundText(bound)}`}`,
    `learned    ${count(status.learned.length, "answer")}`,
    "",
    table(["phase", "counted", "required", "failed", "distinct inputs"], rows),
  ];
  if (status.demotion !== null) {
    lines.push("", `demoted: ${status.demotion.reason} (${status.demotion.cause})`);
  }
  if (status.missing.length > 0) {
    lines.push("", "missing:", ...status.missing.map((line) => `  ${line}`));
  }
  if (status.void.length > 0) {
    lines.push("", "does not apply:", ...status.void.map((one) => `  ${one.message}`));
  }
  return lines.join("\n");
}

export function boundText(bound: number): string {
  return `with 95 % confidence it fails in less than ${(bound * 100).toFixed(1)} % of runs`;
}

function short(digest: string): string {
  return digest.slice(0, "sha256:".length + 12);
}
