import { procedureIn, resumeIn } from "../../app/journalled.ts";
import { ProcedureMemory } from "../../app/procedure-memory.ts";
import { recordOf } from "../../app/run-record.ts";
import { fault, usageFault } from "../fault.ts";
import { withHost } from "../host.ts";
import { observationJson, observationText } from "../run/told.ts";
import { phaseOf } from "../session.ts";
import type { Call, Outcome } from "../spec.ts";

/** Takes a run of the host's journal as evidence, as if it had been observed when it ended. */
export async function run(call: Call): Promise<Outcome> {
  const [name = ""] = call.arguments;
  const phase = phaseOf(call.options);
  if (phase === null) {
    throw usageFault("a run is observed as one of the phases", "add --phase training");
  }
  return await withHost(call, async ({ host }) => {
    // Resuming what has not ended would go on with it.
    if (recordOf(host, name).reason === null) {
      throw fault(
        "run_not_ended",
        `the run ${name} has not ended`,
        "go on with it: rote runs resume",
        { run: name, phase },
      );
    }
    const procedure = procedureIn(host, name);
    const { plan } = procedure;
    const observed = await resumeIn(host, name, procedure);
    try {
      const observation = await ProcedureMemory.at(host).observe(observed, { phase, procedure });
      return {
        exit: observation.outcome === "counted" ? "verified" : "rejected",
        json: { run: name, recipe: plan.id, observation: observationJson(observation) },
        text: `${plan.id}, ${name}: ${observationText(observation)}`,
      };
    } finally {
      await observed.closeAsync();
    }
  });
}
