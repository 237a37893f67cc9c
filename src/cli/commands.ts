/** The commands, in the order of help. What reaches outside has a file of its own. */
import { WORKFLOWS } from "../model/workflows.ts";
import { AGENT } from "./agent/commands.ts";
import { APPROVALS } from "./approvals/commands.ts";
import { AUDIT } from "./audit/commands.ts";
import { KEYS } from "./keys/commands.ts";
import { MEMORY } from "./memory/commands.ts";
import {
  acceptCost,
  answers,
  ask,
  environment,
  force,
  host,
  json,
  model,
  out,
  passphraseFd,
  passphraseFile,
  phase,
  recipe,
  verifier,
  wait,
} from "./options.ts";
import { RUNS } from "./runs/commands.ts";
import type { CommandSpec, GroupSpec } from "./spec.ts";

export const COMMANDS: readonly (CommandSpec | GroupSpec)[] = [
  {
    name: "check",
    summary: "compile a recipe and its verifier, and say everything that is wrong",
    details: [
      "With --score, runs the sample inputs guided, alters each verified result in every way its type allows " +
        "(drops, swaps and repeats elements, changes numbers by one, changes texts, flips booleans) and says how " +
        "many of those wrong results the verifier refuses. What it accepts is listed by place.",
      "With --host, the samples are the verified runs of the recipe in the host's journal, and what was proposed before " +
        "each effect is altered as well. Nothing is run.",
    ],
    arguments: [recipe],
    options: [
      verifier,
      { name: "score", summary: "measure the verifier over sample runs; needs --inputs or --host" },
      host,
      {
        name: "inputs",
        value: { name: "file", kind: "file" },
        summary: "sample inputs for --score: .json, or .jsonl with one object a line",
      },
      { name: "lines", summary: "read --inputs as one object a line, whatever its name" },
      answers,
      environment,
      json,
    ],
    examples: [
      "rote check recipe.json",
      "rote check recipe.json --verifier verifier.json --json",
      "rote check recipe.json --score --inputs inputs.jsonl",
      "rote check recipe.json --score --host host.mjs",
    ],
    exits: ["problem", "rejected"],
    load: () => import("./check/check.ts"),
  },
  {
    name: "graph",
    summary: "draw a recipe",
    arguments: [recipe],
    options: [
      {
        name: "format",
        value: { name: "format", kind: ["mermaid", "dot", "svg"] },
        summary: "mermaid (default), dot, or svg (needs the package @viz-js/viz)",
      },
      out,
      force,
      json,
    ],
    examples: ["rote graph recipe.json", "rote graph recipe.json --format svg --out recipe.svg"],
    exits: ["problem"],
    load: () => import("./graph.ts"),
  },
  {
    name: "run",
    summary: "run a procedure on one input, or on every line of a .jsonl file",
    details: [
      "--input name=value reads the value by the input's type: for integer, decimal, text, date, timestamp and " +
        "enum it is the text as typed (optional or not); for everything else it is JSON, e.g. --input 'lines=[1,2]'. " +
        "Leave an optional input out to give null.",
      "Without --mode a run is compiled if the memory has a standing qualification for exactly this recipe, " +
        "verifier and environment, else guided; which, and why, is printed. --mode compiled without one is refused.",
      "A run that needs a model's answer and has neither --answers nor --ask ends waiting and prints what is asked.",
      "With --host, reads, effects and approvals go through the host that the application's module describes, and the " +
        "run is kept in its journal. A run that needs an approval prints exactly what is to be approved and ends waiting; " +
        "`rote approvals` decides and `rote runs resume` goes on, in any process. Ctrl-C leaves the run as soon as " +
        "nothing is in flight, so that it can be resumed. The module is code and runs with your rights.",
      "A bad line of a .jsonl file is reported by its number and does not stop the others; the exit code is that " +
        "of the worst run.",
    ],
    arguments: [recipe],
    options: [
      verifier,
      {
        name: "input",
        value: { name: "name=value", kind: "text" },
        repeatable: true,
        summary: "one input; repeat for more",
      },
      {
        name: "inputs",
        value: { name: "file", kind: "file" },
        summary:
          "all inputs: .json for one run, .jsonl for one run a line (- reads standard input)",
      },
      { name: "lines", summary: "read --inputs as one run a line, whatever its name" },
      {
        name: "mode",
        value: { name: "mode", kind: ["guided", "compiled"] },
        summary: "guided or compiled; default: compiled where qualified",
      },
      {
        name: "memory",
        value: { name: "directory", kind: "directory" },
        summary: "procedure memory to look up, and to observe into; made if missing with --phase",
      },
      phase,
      answers,
      model,
      ask,
      acceptCost,
      host,
      wait,
      {
        name: "once",
        value: { name: "name", kind: "text" },
        summary:
          "start this only once at the host: a second start of the same under this name goes on with the first, of anything else is refused",
      },
      environment,
      json,
    ],
    examples: [
      "rote run recipe.json --input quantity=6 --input price=1200",
      "rote run recipe.json --inputs inputs.jsonl --memory ./memory --phase training",
      "rote run recipe.json --inputs one.json --memory ./memory --json",
      "cat rows.jsonl | rote run recipe.json --inputs - --lines --json",
      "rote run recipe.json --host host.mjs --input invoice=INV-7 --wait",
      "rote run recipe.json --inputs one.json --model ollama:qwen3:8b --ask",
      "rote run recipe.json --host host.mjs --inputs day.json --once 2024-07-01",
    ],
    exits: ["rejected", "denied", "exhausted", "failed", "uncertain", "waiting", "problem"],
    load: () => import("./run/run.ts"),
  },
  {
    name: "bind",
    summary: "fill in the environment digests that a recipe runs under",
    details: [
      "With --host they are those of the host and the tools that the recipe names. Without one they are those of empty " +
        "documents, or those of --environment.",
    ],
    arguments: [recipe],
    options: [
      host,
      environment,
      {
        name: "check",
        summary: "write nothing; end with 4 unless the recipe is bound to just this",
      },
      out,
      force,
      json,
    ],
    examples: [
      "rote bind recipe.json --out recipe.bound.json",
      "rote bind recipe.json --check",
      "rote bind recipe.json --host host.mjs --out recipe.bound.json",
    ],
    exits: ["problem", "denied"],
    load: () => import("./bind.ts"),
  },
  RUNS,
  AGENT,
  APPROVALS,
  ...AUDIT,
  KEYS,
  MEMORY,
  {
    name: "init",
    summary: "make a folder in which a shipped workflow runs: host, keys, sample documents",
    details: [
      "Without a workflow they are listed. The folder has recipe and verifier, inputs for seven runs, and a host whose module, " +
        "policy and documents are plain files to be changed. All keys are fresh. The passphrase is asked for twice, or read from " +
        "a file or descriptor; it is that of the keys that people hold: approver, tool reviewer and root.",
      "What it prints at the end can be typed. For a recipe of your own, docs/tutorial.md builds the same host step by step.",
    ],
    arguments: [
      {
        name: "workflow",
        kind: WORKFLOWS,
        required: false,
        summary: "the workflow",
      },
      {
        name: "directory",
        kind: "directory",
        required: false,
        summary: "the folder, new or empty; default: one with the workflow's name",
      },
    ],
    options: [
      {
        name: "as",
        value: { name: "name", kind: "text" },
        summary: "name of who approves, and of the key file; default approver",
      },
      {
        name: "origin",
        value: { name: "name", kind: "text" },
        summary:
          "name of the host in all that is signed for it, like accounts.example/audit; default: the workflow and a random number",
      },
      passphraseFile,
      passphraseFd,
      json,
    ],
    examples: [
      "rote init",
      "rote init recalculation",
      "rote init control-testing ./payments --as alice --origin accounts.example/payments",
    ],
    exits: ["problem"],
    load: () => import("./init.ts"),
  },
  {
    name: "demo",
    summary: "show everything on the shipped recipes, in under a minute",
    details: [
      "First the ladder of procedures that only compute. Then a workflow that reads evidence and writes a workpaper: what " +
        "it opens and writes is approved by a reviewer with a key file of her own, each time in a process of hers, also when " +
        "it runs compiled. At last its record is exported, audited, and audited once more with one byte changed.",
      "Leaves DIRECTORY/bundle and DIRECTORY/trust.json, beside everything else; all keys are made for it. Every step is a " +
        "command line that can be typed again.",
    ],
    options: [
      {
        name: "out",
        value: { name: "directory", kind: "directory" },
        summary:
          "where to leave the files; must be empty or new; default: a new temporary directory",
      },
      json,
    ],
    examples: ["rote demo", "rote demo --out ./rote-demo"],
    exits: ["problem"],
    load: () => import("./demo/demo.ts"),
  },
  {
    name: "doctor",
    summary: "check what rote needs from this machine, and a memory directory if given",
    arguments: [
      {
        name: "directory",
        kind: "directory",
        required: false,
        summary: "directory of a procedure memory",
      },
    ],
    options: [json],
    examples: ["rote doctor", "rote doctor ./memory --json"],
    exits: ["problem"],
    load: () => import("./doctor.ts"),
  },
  {
    name: "completions",
    summary: "print a completion script for a shell",
    arguments: [
      {
        name: "shell",
        kind: ["bash", "zsh", "fish"],
        required: true,
        summary: "bash, zsh or fish",
      },
    ],
    examples: [
      "rote completions bash > ~/.local/share/bash-completion/completions/rote",
      "rote completions zsh > ~/.zfunc/_rote",
      "rote completions fish > ~/.config/fish/completions/rote.fish",
    ],
    exits: [],
    load: () => import("./completions.ts"),
  },
];
