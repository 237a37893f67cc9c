import { answers, host, json, recipe, verifier, wait } from "./options.ts";
import type { GroupSpec } from "./spec.ts";

const run = { name: "run", kind: "text", required: true, summary: "id of the run" } as const;

/** Runs of a host's journal. */
export const RUNS: GroupSpec = {
  name: "runs",
  summary: "look at the runs of a host, go on with them, end them",
  commands: [
    {
      name: "list",
      summary: "runs of the host's journal, the most recently moved first",
      options: [
        host,
        {
          name: "state",
          value: { name: "state", kind: "text" },
          summary: "only those in this state, for example awaiting_approval or uncertain",
        },
        {
          name: "limit",
          value: { name: "number", kind: "text" },
          summary: "how many at most; default 50",
        },
        json,
      ],
      examples: [
        "rote runs list --host host.mjs",
        "rote runs list --host host.mjs --state uncertain",
      ],
      exits: ["problem"],
      load: () => import("./runs-list.ts"),
    },
    {
      name: "show",
      summary: "one run with its timeline, what it waits for, and what is uncertain about it",
      arguments: [run],
      options: [host, json],
      examples: ["rote runs show run-.. --host host.mjs"],
      exits: ["problem"],
      load: () => import("./runs-show.ts"),
    },
    {
      name: "resume",
      summary: "go on with a run where it stands, in this process",
      details: [
        "The recipe is taken from the journal when none is named, and only if it compiles to what the run was started " +
          "with. What was dispatched and has no recorded outcome is found out about first and never dispatched again.",
        "The exit code is that of the run, also of one that had ended before. A run that another process is moving is " +
          "refused.",
      ],
      arguments: [run, { ...recipe, required: false }],
      options: [
        host,
        verifier,
        answers,
        {
          name: "approval",
          value: { name: "file", kind: "file" },
          summary: "a signed decision to go on with, as `rote approvals approve --out` wrote it",
        },
        wait,
        json,
      ],
      examples: [
        "rote runs resume run-.. --host host.mjs",
        "rote runs resume run-.. --host host.mjs --approval decision.json",
        "rote runs resume run-.. recipe.json --host host.mjs --answers answers.jsonl",
      ],
      exits: ["rejected", "denied", "exhausted", "failed", "uncertain", "waiting", "problem"],
      load: () => import("./runs-resume.ts"),
    },
    {
      name: "cancel",
      summary: "end a run where it stands; what it has done is not undone",
      arguments: [run],
      options: [host, json],
      examples: ["rote runs cancel run-.. --host host.mjs"],
      exits: ["uncertain", "problem"],
      load: () => import("./runs-cancel.ts"),
    },
  ],
};
