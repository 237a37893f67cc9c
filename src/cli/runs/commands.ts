import {
  acceptCost,
  answers,
  ask,
  host,
  json,
  model,
  passphraseFd,
  passphraseFile,
  recipe,
  verifier,
  wait,
} from "../options.ts";
import type { GroupSpec } from "../spec.ts";

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
      load: () => import("./list.ts"),
    },
    {
      name: "show",
      summary: "one run with its timeline, what it waits for, and what is uncertain about it",
      arguments: [run],
      options: [host, json],
      examples: ["rote runs show run-.. --host host.mjs"],
      exits: ["problem"],
      load: () => import("./show.ts"),
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
        model,
        ask,
        acceptCost,
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
      load: () => import("./resume.ts"),
    },
    {
      name: "cancel",
      summary: "end a run where it stands; what it has done is not undone",
      arguments: [run],
      options: [host, json],
      examples: ["rote runs cancel run-.. --host host.mjs"],
      exits: ["uncertain", "problem"],
      load: () => import("./cancel.ts"),
    },
    {
      name: "reconcile",
      summary: "file what was found out about an uncertain operation, signed",
      details: [
        "Look at the target system first. The statement is signed with the key of a reconciler of the host's trust store " +
          "and goes on record for good. It dispatches nothing, and the run stays uncertain. Found not_done, the natural " +
          "key of the operation is free again, so that another run may do the same deed.",
      ],
      arguments: [run],
      options: [
        host,
        {
          name: "found",
          value: { name: "what", kind: ["done", "not_done"] },
          summary: "whether the target has it",
        },
        {
          name: "evidence",
          value: { name: "text", kind: "text" },
          summary: "how it was found out",
        },
        {
          name: "operation",
          value: { name: "digest", kind: "text" },
          summary: "which operation, when the run has several that are uncertain",
        },
        {
          name: "key",
          value: { name: "file", kind: "file" },
          summary: "key file of the reconciler",
        },
        passphraseFile,
        passphraseFd,
        { name: "yes", summary: "do not ask for confirmation" },
        json,
      ],
      examples: [
        "rote runs reconcile run-.. --host host.mjs --found done --evidence 'payment 4711 in the ledger' --key carl.key",
      ],
      exits: ["denied", "problem"],
      load: () => import("./reconcile.ts"),
    },
  ],
};
