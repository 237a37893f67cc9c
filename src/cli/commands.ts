import type { CommandSpec, GroupSpec, OptionSpec } from "./spec.ts";

const json: OptionSpec = {
  name: "json",
  summary: "print JSON, and nothing else, on standard output",
};
const verifier: OptionSpec = {
  name: "verifier",
  value: { name: "file", kind: "file" },
  summary: "the verifier; default: verifier.json beside the recipe",
};
const environment: OptionSpec = {
  name: "environment",
  value: { name: "file", kind: "file" },
  summary: "environment digests; default: the recipe's own, else digests of empty documents",
};
const answers: OptionSpec = {
  name: "answers",
  value: { name: "file.jsonl", kind: "file" },
  summary: "answer model nodes from a script: one {node, prompt?, answer} a line",
};
const model: OptionSpec = {
  name: "model",
  value: { name: "provider:name", kind: "text" },
  summary:
    "who answered when the procedure qualified, so that learned answers apply without --answers",
};
const out: OptionSpec = {
  name: "out",
  value: { name: "file", kind: "file" },
  summary: "write to a file instead of standard output",
};
const force: OptionSpec = {
  name: "force",
  summary: "replace the file named by --out if it exists",
};
const recipe = {
  name: "recipe",
  kind: "file",
  required: true,
  summary: "recipe document (- reads standard input)",
} as const;
const memoryDirectory = {
  name: "directory",
  kind: "directory",
  required: true,
  summary: "directory of a procedure memory",
} as const;

export const COMMANDS: readonly (CommandSpec | GroupSpec)[] = [
  {
    name: "check",
    summary: "compile a recipe and its verifier, and say everything that is wrong",
    details: [
      "With --score, runs the sample inputs guided, alters each verified result in every way its type allows " +
        "(drops, swaps and repeats elements, changes numbers by one, changes texts, flips booleans) and says how " +
        "many of those wrong results the verifier refuses. What it accepts is listed by place.",
    ],
    arguments: [recipe],
    options: [
      verifier,
      { name: "score", summary: "measure the verifier over sample runs; needs --inputs" },
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
    ],
    exits: ["problem", "rejected"],
    load: () => import("./check.ts"),
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
      "A run that needs a model's answer and has no --answers ends waiting and prints what is asked.",
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
      {
        name: "phase",
        value: { name: "phase", kind: ["training", "shadow", "canary"] },
        summary: "observe each verified guided run into --memory as this phase",
      },
      answers,
      model,
      environment,
      json,
    ],
    examples: [
      "rote run recipe.json --input quantity=6 --input price=1200",
      "rote run recipe.json --inputs inputs.jsonl --memory ./memory --phase training",
      "rote run recipe.json --inputs one.json --memory ./memory --json",
      "cat rows.jsonl | rote run recipe.json --inputs - --lines --json",
    ],
    exits: ["rejected", "denied", "exhausted", "failed", "uncertain", "waiting", "problem"],
    load: () => import("./run.ts"),
  },
  {
    name: "bind",
    summary: "fill in the environment digests that a recipe runs under",
    details: [
      "There is no host yet, so the digests are those of empty documents (or those of --environment).",
    ],
    arguments: [recipe],
    options: [
      environment,
      {
        name: "check",
        summary: "write nothing; end with 4 unless the recipe is bound to just this",
      },
      out,
      force,
      json,
    ],
    examples: ["rote bind recipe.json --out recipe.bound.json", "rote bind recipe.json --check"],
    exits: ["problem", "denied"],
    load: () => import("./bind.ts"),
  },
  {
    name: "memory",
    summary: "look into a procedure memory and change it",
    commands: [
      {
        name: "status",
        summary: "what was observed, what is qualified, what is missing",
        arguments: [memoryDirectory, { ...recipe, required: false }],
        options: [verifier, environment, json],
        examples: ["rote memory status ./memory", "rote memory status ./memory recipe.json"],
        exits: ["problem"],
        load: () => import("./memory-status.ts"),
      },
      {
        name: "qualify",
        summary: "qualify a procedure on the runs observed, or say what is missing",
        arguments: [memoryDirectory, recipe],
        options: [verifier, environment, json],
        examples: ["rote memory qualify ./memory recipe.json"],
        exits: ["denied", "problem"],
        load: () => import("./memory-qualify.ts"),
      },
      {
        name: "demote",
        summary: "take a qualification away; it stays on record",
        arguments: [memoryDirectory, recipe],
        options: [
          verifier,
          environment,
          {
            name: "reason",
            value: { name: "text", kind: "text" },
            summary: "why; kept with the demotion",
          },
          json,
        ],
        examples: ["rote memory demote ./memory recipe.json --reason 'rounding was changed'"],
        exits: ["denied", "problem"],
        load: () => import("./memory-demote.ts"),
      },
      {
        name: "forget",
        summary: "remove all that was observed of a procedure",
        arguments: [memoryDirectory, recipe],
        options: [
          verifier,
          environment,
          { name: "yes", summary: "required, since nothing brings the evidence back" },
          json,
        ],
        examples: ["rote memory forget ./memory recipe.json --yes"],
        exits: ["problem"],
        load: () => import("./memory-forget.ts"),
      },
    ],
  },
  {
    name: "demo",
    summary: "show the whole ladder on the shipped recipes, in under a minute",
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
    load: () => import("./demo.ts"),
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
