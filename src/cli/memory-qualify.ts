import { RoteError } from "../base/error.ts";
import { boundText, statusJson, statusText } from "./memory-status.ts";
import { loadReady } from "./ready.ts";
import { openMemory } from "./session.ts";
import type { Call, Outcome } from "./spec.ts";
import { count } from "./table.ts";

/** Qualifies a procedure, or ends denied and says what is missing. */
export async function run(call: Call): Promise<Outcome> {
  const [directory = "", recipe = ""] = call.arguments;
  const { procedure, environment, note } = await loadReady(recipe, call.options, call.terminal);
  const memory = await openMemory(directory, false);
  const noted = note === null ? "" : `note: ${note}\n`;
  try {
    const qualified = await memory.qualify(procedure, { environment });
    const { id, clean_runs, failure_rate_bound: bound, learned } = qualified;
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
      json: { note, qualification: null, status: statusJson(status) },
      text: `${noted}${statusText(status)}\n\nerror: ${procedure.plan.id} is not qualified (${status.verdict})`,
    };
  } finally {
    await memory.close();
  }
}
