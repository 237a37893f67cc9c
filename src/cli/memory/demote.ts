import { type Call, type Outcome, textOption } from "../spec.ts";
import { withMemory } from "./place.ts";

const DEFAULT_REASON = "demoted on the command line";

/** Ends a qualification; the evidence and the demotion stay on record. */
export async function run(call: Call): Promise<Outcome> {
  const reason = textOption(call.options, "reason") ?? DEFAULT_REASON;
  return await withMemory(call, async (memory, { procedure, environment, note }) => {
    await memory.demote(procedure, { environment, reason });
    const text = `ok ${procedure.plan.id} is demoted: ${reason}\nnote: it qualifies again only on runs observed from now on, on inputs never observed before`;
    return { exit: "verified", json: { note, demoted: true, reason }, text };
  });
}
