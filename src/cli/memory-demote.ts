import { loadReady } from "./ready.ts";
import { openMemory } from "./session.ts";
import { type Call, type Outcome, textOption } from "./spec.ts";

const DEFAULT_REASON = "demoted on the command line";

/** Ends a qualification; the evidence and the demotion stay on record. */
export async function run(call: Call): Promise<Outcome> {
  const [directory = "", recipe = ""] = call.arguments;
  const { procedure, environment, note } = await loadReady(recipe, call.options, call.terminal);
  const reason = textOption(call.options, "reason") ?? DEFAULT_REASON;
  const memory = await openMemory(directory, false);
  try {
    await memory.demote(procedure, { environment, reason });
  } finally {
    await memory.close();
  }
  const text = `ok ${procedure.plan.id} is demoted: ${reason}\nnote: it qualifies again only on runs observed from now on, on inputs never observed before`;
  return { exit: "verified", json: { note, demoted: true, reason }, text };
}
