import { fault, usageFault } from "../fault.ts";
import { type Call, type Outcome, switchOption } from "../spec.ts";
import { count } from "../table.ts";
import { withMemory } from "./place.ts";

/** Drops all that is kept about a procedure. */
export async function run(call: Call): Promise<Outcome> {
  return await withMemory(call, async (memory, { procedure, environment, note }) => {
    if (!switchOption(call.options, "yes")) {
      throw usageFault(
        `forgetting ${procedure.plan.id} removes its evidence for good`,
        "add --yes; `rote memory demote` keeps the evidence",
      );
    }
    const forgotten = await memory.forget(procedure, { environment });
    if (forgotten === undefined) {
      throw fault(
        "nothing_kept",
        `the memory keeps nothing of exactly this recipe, verifier and environment (${procedure.plan.id})`,
        "`rote memory status` lists what it keeps",
      );
    }
    const what = `${count(forgotten.observations, "observation")}, ${count(forgotten.demotions, "demotion")}`;
    return {
      exit: "verified",
      json: { note, forgotten: { ...forgotten } },
      text: `ok ${procedure.plan.id} is forgotten: ${what}`,
    };
  });
}
