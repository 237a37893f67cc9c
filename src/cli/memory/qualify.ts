import type { ProcedureMemory } from "../../app/procedure-memory.ts";
import { RoteError } from "../../base/error.ts";
import type { Ready } from "../ready.ts";
import { reportJson } from "../report-json.ts";
import type { Call, Outcome } from "../spec.ts";
import { count } from "../table.ts";
import { withMemory } from "./place.ts";
import { boundText, statusText } from "./status.ts";

/** Qualifies a procedure, or ends denied and says what is missing. */
export async function run(call: Call): Promise<Outcome> {
  return await withMemory(call, qualified);
}

async function qualified(
  memory: ProcedureMemory,
  { procedure, environment, note }: Ready,
): Promise<Outcome> {
  const noted = note === null ? "" : `note: ${note}\n`;
  try {
    const {
      id,
      clean_runs,
      failure_rate_bound: bound,
      learned,
    } = await memory.qualify(procedure, {
      environment,
    });
    const evidence = `${count(clean_runs, "clean run")}${bound === null ? "" : `; ${boundText(bound)}`}`;
    return {
      exit: "verified",
      json: {
        note,
        qualification: { id, clean_runs, failure_rate_bound: bound, learned: learned.length },
      },
      text: `${noted}ok ${procedure.plan.id} is qualified on ${evidence}\n   ${id}, ${count(learned.length, "learned answer")}`,
    };
  } catch (error) {
    if (!(error instanceof RoteError) || error.code !== "not_qualified") throw error;
    const status = await memory.status(procedure, { environment });
    return {
      exit: "denied",
      json: { note, qualification: null, status: reportJson(status) },
      text: `${noted}${statusText(status)}\n\nerror: ${procedure.plan.id} is not qualified (${status.verdict})`,
    };
  }
}
