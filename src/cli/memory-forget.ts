import { fault, usageFault } from "./fault.ts";
import { loadReady } from "./ready.ts";
import { openMemory } from "./session.ts";
import { type Call, type Outcome, switchOption } from "./spec.ts";
import { count } from "./table.ts";

/** Drops all that is kept about a procedure. */
export async function run(call: Call): Promise<Outcome> {
  const [directory = "", recipe = ""] = call.arguments;
  const { procedure, environment, note } = await loadReady(recipe, call.options, call.terminal);
  if (!switchOption(call.options, "yes")) {
    throw usageFault(
      `forgetting ${procedure.plan.id} removes its evidence for good`,
      "add --yes; `rote memory demote` keeps the evidence",
    );
  }
  const memory = await openMemory(directory, false);
  try {
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
  } finally {
    await memory.close();
  }
}
