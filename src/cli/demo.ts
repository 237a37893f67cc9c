/**
 * The demonstration: real commands, on the shipped recipes, in a directory of their own. Each step is a command line
 * that can be typed again; each says how it has to end, and the first that ends otherwise ends the demonstration.
 */
import { resolve } from "node:path";
import type { JsonValue } from "../base/json.ts";
import type { ExitName } from "../model/stop.ts";
import { EXIT_CODES } from "../model/stop.ts";
import { prepareDemo } from "./demo-files.ts";
import { STORY, type Step } from "./demo-story.ts";
import { fault } from "./fault.ts";
import { type Call, type Outcome, textOption } from "./spec.ts";
import { table } from "./table.ts";

/** What the runs of one recipe came to. */
interface Counts {
  guided: number;
  guidedCalls: number;
  compiled: number;
  compiledCalls: number;
  learned: number;
  reused: number;
  bound: string;
}

export async function run(call: Call): Promise<Outcome> {
  const { terminal } = call;
  const out = textOption(call.options, "out");
  const directory = prepareDemo(out === undefined ? null : resolve(out));
  const say = (text: string): void => {
    if (!call.json) terminal.print(`${text}\n`);
  };
  say(`The commands below are real and work in\n  cd ${directory}`);
  const counts = new Map<string, Counts>();
  const steps: JsonValue[] = [];
  for (const chapter of STORY) {
    say(`\n${chapter.title}`);
    for (const step of chapter.steps) {
      if (terminal.interrupted.aborted) throw fault("user_cancelled", "the demo was cancelled");
      say(`\n${step.say}\n  $ rote ${step.words.join(" ")}`);
      const outcome = await call.invoke(step.words.map((word) => placed(word, directory)));
      const text = outcome.text.replaceAll(`${directory}/`, "");
      say(shown(text, step, outcome.exit));
      if (outcome.exit !== step.exit) throw unexpected(step, outcome.exit, text);
      addTo(counts, chapter.recipe, outcome);
      const command = ["rote", ...step.words].join(" ");
      steps.push({ recipe: chapter.recipe, say: step.say, command, exit: outcome.exit });
    }
  }
  return {
    exit: "verified",
    json: { directory, steps, recipes: [...counts].map(([recipe, one]) => ({ recipe, ...one })) },
    text: `\n${summary(counts)}\n\n${farewell(directory)}`,
  };
}

/** Words that name a file of the demonstration start with `./`. */
function placed(word: string, directory: string): string {
  return word.startsWith("./") ? `${directory}/${word.slice(2)}` : word;
}

/** The lines that matter for the step, indented; a step that ends otherwise than well shows its exit code. */
function shown(text: string, step: Step, exit: ExitName): string {
  const lines = text.split("\n").filter((line) => step.show.some((part) => line.includes(part)));
  if (exit !== "verified") lines.push(`exit code ${EXIT_CODES[exit].code} (${exit})`);
  return lines.map((line) => `    ${line.trim()}`).join("\n");
}

function unexpected(step: Step, exit: ExitName, text: string): Error {
  return fault(
    "demo_failed",
    `rote ${step.words.join(" ")} ended ${exit}, and should have ended ${step.exit}`,
    "run `rote doctor`; if all is well there, this is a fault of rote to be reported",
    { details: text },
  );
}

function addTo(counts: Map<string, Counts>, recipe: string, { json }: Outcome): void {
  const none = { guided: 0, guidedCalls: 0, compiled: 0, compiledCalls: 0, learned: 0, reused: 0 };
  const total = counts.get(recipe) ?? { ...none, bound: "" };
  counts.set(recipe, total);
  const qualification = member(json, "qualification");
  const bound = member(qualification, "failure_rate_bound");
  if (typeof bound === "number") total.bound = `< ${(bound * 100).toFixed(0)} %`;
  const summary = member(json, "summary");
  const report = member(json, "report");
  const compiled = member(summary, "mode") === "compiled" || member(json, "mode") === "compiled";
  const rows = report === undefined ? member(summary, "states") : [report];
  if (!Array.isArray(rows)) return;
  for (const row of rows as readonly JsonValue[]) {
    const runs = report === undefined ? numberOf(row, "runs") : 1;
    const calls = numberOf(row, "model_calls");
    if (compiled) {
      total.compiled += runs;
      total.compiledCalls += calls;
    } else {
      total.guided += runs;
      total.guidedCalls += calls;
    }
    total.learned += numberOf(row, "learned_model_hits");
    total.reused += numberOf(row, "reused_pure_nodes");
  }
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as { readonly [key: string]: JsonValue })[name];
}

function numberOf(value: JsonValue, name: string): number {
  const found = member(value, name);
  return typeof found === "number" ? found : 0;
}

function summary(counts: ReadonlyMap<string, Counts>): string {
  const head = [
    "recipe",
    "guided runs",
    "model calls",
    "failure rate",
    "compiled runs",
    "model calls",
    "learned answers",
    "reused nodes",
  ];
  const rows = [...counts].map(([recipe, one]) => [
    recipe,
    one.guided,
    one.guidedCalls,
    one.bound,
    one.compiled,
    one.compiledCalls,
    one.learned,
    one.reused,
  ]);
  return table(head, rows);
}

function farewell(directory: string): string {
  return [
    "The model was a script (answers.jsonl), so its calls are counted and nothing was saved.",
    `Recipes, verifiers, inputs and the memory are in ${directory}`,
    "Look further with",
    `  rote memory status ${directory}/memory`,
    `  rote graph ${directory}/line-total/recipe.json`,
  ].join("\n");
}
