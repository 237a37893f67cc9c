import {
  environment,
  host,
  json,
  memoryDirectory,
  memoryHost,
  phase,
  recipe,
  verifier,
} from "../options.ts";
import type { GroupSpec } from "../spec.ts";

const optionalRecipe = { ...recipe, required: false } as const;

/** Procedure memory, in a directory of its own or in a host's store. */
export const MEMORY: GroupSpec = {
  name: "memory",
  summary: "look into a procedure memory and change it",
  commands: [
    {
      name: "status",
      summary: "what was observed, what is qualified, what is missing",
      arguments: [memoryDirectory, optionalRecipe],
      options: [verifier, environment, memoryHost, json],
      examples: ["rote memory status ./memory", "rote memory status ./memory recipe.json"],
      exits: ["problem"],
      load: () => import("./status.ts"),
    },
    {
      name: "observe",
      summary: "take a run of a host's journal as evidence",
      details: [
        "Only a run that ended verified and was guided counts, once; the recipe is that of the journal.",
      ],
      arguments: [{ name: "run", kind: "text", required: true, summary: "id of the run" }],
      options: [host, { ...phase, summary: "the phase that it counts for" }, json],
      examples: ["rote memory observe run-.. --host host.mjs --phase training"],
      exits: ["rejected", "problem"],
      load: () => import("./observe.ts"),
    },
    {
      name: "qualify",
      summary: "qualify a procedure on the runs observed, or say what is missing",
      arguments: [memoryDirectory, optionalRecipe],
      options: [verifier, environment, memoryHost, json],
      examples: [
        "rote memory qualify ./memory recipe.json",
        "rote memory qualify recipe.json --host host.mjs",
      ],
      exits: ["denied", "problem"],
      load: () => import("./qualify.ts"),
    },
    {
      name: "demote",
      summary: "take a qualification away; it stays on record",
      arguments: [memoryDirectory, optionalRecipe],
      options: [
        verifier,
        environment,
        memoryHost,
        {
          name: "reason",
          value: { name: "text", kind: "text" },
          summary: "why; kept with the demotion",
        },
        json,
      ],
      examples: ["rote memory demote ./memory recipe.json --reason 'rounding was changed'"],
      exits: ["denied", "problem"],
      load: () => import("./demote.ts"),
    },
    {
      name: "forget",
      summary: "remove all that was observed of a procedure",
      arguments: [memoryDirectory, optionalRecipe],
      options: [
        verifier,
        environment,
        memoryHost,
        { name: "yes", summary: "required, since nothing brings the evidence back" },
        json,
      ],
      examples: ["rote memory forget ./memory recipe.json --yes"],
      exits: ["problem"],
      load: () => import("./forget.ts"),
    },
  ],
};
