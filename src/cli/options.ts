/** Options and arguments that several commands have, said once. */
import type { OptionSpec } from "./spec.ts";

export const json: OptionSpec = {
  name: "json",
  summary: "print JSON, and nothing else, on standard output",
};
export const verifier: OptionSpec = {
  name: "verifier",
  value: { name: "file", kind: "file" },
  summary: "the verifier; default: verifier.json beside the recipe",
};
export const environment: OptionSpec = {
  name: "environment",
  value: { name: "file", kind: "file" },
  summary: "environment digests; default: the recipe's own, else digests of empty documents",
};
export const answers: OptionSpec = {
  name: "answers",
  value: { name: "file.jsonl", kind: "file" },
  summary: "answer model nodes from a script: one {node, prompt?, answer} a line",
};
export const model: OptionSpec = {
  name: "model",
  value: { name: "provider:name", kind: "text" },
  summary:
    "who answered when the procedure qualified, so that learned answers apply without --answers",
};
export const ask: OptionSpec = {
  name: "ask",
  summary:
    "ask the model that --model names, of openai, anthropic, ollama or openai-compatible; its key is taken from the environment (docs/models.md)",
};
export const acceptCost: OptionSpec = {
  name: "accept-cost",
  summary: "agree to paying for the model; without it, one that costs money is not asked",
};
export const out: OptionSpec = {
  name: "out",
  value: { name: "file", kind: "file" },
  summary: "write to a file instead of standard output",
};
export const force: OptionSpec = {
  name: "force",
  summary: "replace the file named by --out if it exists",
};
export const host: OptionSpec = {
  name: "host",
  value: { name: "file", kind: "file" },
  summary:
    "the application's module that describes its host: it exports the options of createHost, or a function returning them, as `host` or default",
};
export const memoryHost: OptionSpec = {
  ...host,
  summary: "work with the memory of this host instead; the directory is then left out",
};
export const wait: OptionSpec = {
  name: "wait",
  summary: "wait until somebody has decided what the run asks, as often as it asks",
};
export const phase: OptionSpec = {
  name: "phase",
  value: { name: "phase", kind: ["training", "shadow", "canary"] },
  summary: "observe each verified guided run into the memory as this phase",
};
export const recipe = {
  name: "recipe",
  kind: "file",
  required: true,
  summary: "recipe document (- reads standard input)",
} as const;
export const memoryDirectory = {
  name: "directory",
  kind: "directory",
  required: false,
  summary: "directory of a procedure memory; left out with --host",
} as const;

export const passphraseFile: OptionSpec = {
  name: "passphrase-file",
  value: { name: "file", kind: "file" },
  repeatable: true,
  summary:
    "take the passphrase from the first line of a file that only you can read, instead of asking; for several keys repeat it in their order",
};
export const passphraseFd: OptionSpec = {
  name: "passphrase-fd",
  value: { name: "number", kind: "text" },
  summary: "take the passphrase from an open descriptor, instead of asking",
};
