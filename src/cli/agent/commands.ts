import { acceptCost, force, host, json, out, wait } from "../options.ts";
import type { GroupSpec, OptionSpec } from "../spec.ts";

const run = { name: "run", kind: "text", required: true, summary: "id of the run" } as const;

const script: OptionSpec = {
  name: "script",
  value: { name: "file.jsonl", kind: "file" },
  summary: "a model that reads its replies off: one a line, the n-th for the n-th turn",
};

const model: OptionSpec = {
  name: "model",
  value: { name: "provider:model", kind: "text" },
  summary:
    "a model of openai, anthropic, ollama or openai-compatible; its key is taken from the environment (docs/models.md)",
};

const prices: OptionSpec = {
  name: "prices",
  value: { name: "file", kind: "file" },
  summary: "what tokens cost, as a table of your own",
};

/** Agents at a host: free-form work under limits, on the same journal and through the same gate. */
export const AGENT: GroupSpec = {
  name: "agent",
  summary: "let a model work with the tools of a host, under limits; look at what it did",
  commands: [
    {
      name: "run",
      summary: "give an agent a goal and take it as far as it goes",
      details: [
        "Every call goes through the host's gate: what needs an approval waits for one, whatever the model says. The run is " +
          "kept in the host's journal, and any process can go on with it. Ctrl-C leaves the run as soon as no tool is at " +
          "work, so that it can be resumed.",
        'A line of a script is {"say": TEXT} or {"calls": [{"name": TOOL, "arguments": {..}}]}; usage, stop, fail and ' +
          "repeat are optional.",
        "Limits are those of docs/agent.md: max_steps, max_tool_calls, max_active_ms, max_total_tokens, repeated_action, " +
          "no_progress, consecutive_errors and others. A limit ends the run with a reason of its own and an exit code that " +
          "is not 0.",
      ],
      arguments: [
        { name: "goal", kind: "text", required: true, summary: "what is wanted, in words" },
      ],
      options: [
        host,
        script,
        model,
        acceptCost,
        prices,
        {
          name: "context-tokens",
          value: { name: "number", kind: "text" },
          summary:
            "tokens that one request has at most; with --prices and max_reply_tokens, the most that the run can cost is told",
        },
        {
          name: "tool",
          value: { name: "name", kind: "text" },
          repeatable: true,
          summary: "a tool that the model may ask for; default: all reviewed tools of the host",
        },
        {
          name: "poll",
          value: { name: "name", kind: "text" },
          repeatable: true,
          summary: "a tool that may be asked again as long as its answers change",
        },
        {
          name: "limit",
          value: { name: "name=number", kind: "text" },
          repeatable: true,
          summary: "one limit; repeat for more",
        },
        {
          name: "instructions",
          value: { name: "text", kind: "text" },
          summary: "what the model is told before the goal",
        },
        {
          name: "tell",
          summary: "tell the model of a refusal instead of ending the run by it",
        },
        {
          name: "parent",
          value: { name: "run", kind: "text" },
          summary: "the run that this one belongs to: its limits hold for both together",
        },
        wait,
        json,
      ],
      examples: [
        "rote agent run 'Pay invoice INV-7' --host host.mjs --script replies.jsonl",
        "rote agent run 'Look it up' --host host.mjs --script replies.jsonl --tool ledger.read --limit max_steps=5",
        "rote agent run 'Look it up' --host host.mjs --model anthropic:claude-sonnet-5-5 --accept-cost",
      ],
      exits: ["denied", "exhausted", "failed", "uncertain", "waiting", "problem"],
      load: () => import("./run.ts"),
    },
    {
      name: "list",
      summary: "agent runs of the host's journal, the most recently moved first",
      options: [
        host,
        {
          name: "limit",
          value: { name: "number", kind: "text" },
          summary: "how many at most; default 50",
        },
        json,
      ],
      examples: ["rote agent list --host host.mjs"],
      exits: ["problem"],
      load: () => import("./list.ts"),
    },
    {
      name: "inspect",
      summary:
        "what a run does, why it stopped, what it repeated, what ran, and whether it can go on",
      details: [
        "Changes nothing. With --json the whole trace. With --prices also what the run has cost, where all of its tokens " +
          "are known.",
      ],
      arguments: [run],
      options: [host, prices, json],
      examples: ["rote agent inspect run-.. --host host.mjs"],
      exits: ["problem"],
      load: () => import("./inspect.ts"),
    },
    {
      name: "resume",
      summary: "go on with a run where it stands, in this process",
      details: [
        "What was done is not done again. What was handed to a tool and has no recorded outcome is found out about first, " +
          "and never repeated blindly. A run that another process is moving is refused.",
        "The model must be the one that the run was begun with; a run that has ended needs none.",
      ],
      arguments: [run],
      options: [
        host,
        script,
        model,
        acceptCost,
        prices,
        {
          name: "approval",
          value: { name: "file", kind: "file" },
          summary: "a signed decision to go on with, as `rote approvals approve --out` wrote it",
        },
        wait,
        json,
      ],
      examples: ["rote agent resume run-.. --host host.mjs --script replies.jsonl"],
      exits: ["denied", "exhausted", "failed", "uncertain", "waiting", "problem"],
      load: () => import("./resume.ts"),
    },
    {
      name: "cancel",
      summary: "end a run where it stands; what it has done is not undone",
      arguments: [run],
      options: [host, json],
      examples: ["rote agent cancel run-.. --host host.mjs"],
      exits: ["uncertain", "problem"],
      load: () => import("./cancel.ts"),
    },
    {
      name: "replay",
      summary: "go through a run again from its record alone, without a model, a tool or a network",
      details: [
        "Replies and results are found by what was asked and called. What is not found is an error, and nothing is asked " +
          "for; so is a decision that differs from the recorded one.",
      ],
      arguments: [run],
      options: [
        host,
        {
          name: "goal",
          value: { name: "text", kind: "text" },
          summary: "replay with another goal, to see where the record does not reach",
        },
        json,
      ],
      examples: ["rote agent replay run-.. --host host.mjs"],
      exits: ["problem"],
      load: () => import("./replay.ts"),
    },
    {
      name: "export",
      summary: "write a run as a transcript for learning, one JSON object on one line",
      arguments: [run],
      options: [host, out, force, json],
      examples: ["rote agent export run-.. --host host.mjs --out transcript.jsonl"],
      exits: ["problem"],
      load: () => import("./export.ts"),
    },
  ],
};
