/**
 * Where the demonstration plays: it runs command lines, in this process as the operator or in one of its own as the
 * reviewer, says each before it runs, and ends the demonstration when one ends otherwise than it has to.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { moduleFromHome } from "../../base/code-home.ts";
import type { JsonValue } from "../../base/json.ts";
import { EXIT_CODES, type ExitName } from "../../model/stop.ts";
import { fault } from "../fault.ts";
import type { Call, Outcome } from "../spec.ts";

export interface DemoStep {
  /** The command line after `rote`; what starts with `./` is a file of the demonstration. */
  readonly words: readonly string[];
  /** How it has to end: in one of these ways. */
  readonly exit: ExitName | readonly ExitName[];
  /** What it shows; left out where a line before it says so. */
  readonly say?: string;
  /** Lines of the output that contain one of these are shown; left out, the command is not shown either. */
  readonly show?: readonly string[];
}

export interface Stage {
  readonly directory: string;
  /** All command lines that were run, as the JSON document lists them. */
  readonly steps: readonly JsonValue[];
  /** Processes that the reviewer had. */
  readonly processes: () => number;
  say(this: void, text: string): void;
  /** A command line of the operator. @throws RoteError `demo_failed` */
  operator(this: void, step: DemoStep): Promise<Outcome>;
  /** A command line of the reviewer, whose process shares nothing with this one but files. Its outcome is its text. */
  reviewer(this: void, step: DemoStep): Promise<Outcome>;
  /** What a `./` at the beginning of a word stands for, put there. */
  place(this: void, word: string): string;
}

export function createStage(call: Call, directory: string): Stage {
  const { terminal } = call;
  const steps: JsonValue[] = [];
  let processes = 0;
  const place = (word: string): string =>
    word.startsWith("./") ? `${directory}/${word.slice(2)}` : word;
  const say = (text: string): void => {
    if (!call.json) terminal.print(`${text}\n`);
  };

  function announced({ words, say: what, show }: DemoStep, prompt: string): void {
    if (terminal.interrupted.aborted) throw fault("user_cancelled", "the demo was cancelled");
    if (what !== undefined) say(`\n${what}`);
    if (show !== undefined) say(`  ${prompt} rote ${words.join(" ")}`);
  }

  function ended(step: DemoStep, outcome: Outcome, by: string): Outcome {
    const text = outcome.text.replaceAll(`${directory}/`, "");
    if (step.show !== undefined) {
      const told = shown(text, step.show, outcome.exit);
      if (told !== "") say(told);
    }
    if (![step.exit].flat().includes(outcome.exit)) throw unexpected(step, outcome.exit, text);
    const { words, say: what } = step;
    const command = ["rote", ...words].join(" ");
    steps.push({ ...(what === undefined ? {} : { say: what }), command, by, exit: outcome.exit });
    return outcome;
  }

  return {
    directory,
    steps,
    processes: () => processes,
    say,
    place,

    async operator(step) {
      announced(step, "$");
      return ended(step, await call.invoke(step.words.map(place)), "operator");
    },

    async reviewer(step) {
      announced(step, "reviewer $");
      processes += 1;
      return ended(step, await inOwnProcess(step.words.map(place), call), "reviewer");
    },
  };
}

/** The lines that matter for the step, indented; a step that ends otherwise than well shows its exit code. */
function shown(text: string, parts: readonly string[], exit: ExitName): string {
  const lines = text.split("\n").filter((line) => parts.some((part) => line.includes(part)));
  if (exit !== "verified" && exit !== "waiting") {
    lines.push(`exit code ${EXIT_CODES[exit].code} (${exit})`);
  }
  return lines.map((line) => `    ${line.trim()}`).join("\n");
}

function unexpected({ words, exit: wanted }: DemoStep, exit: ExitName, text: string): Error {
  return fault(
    "demo_failed",
    `rote ${words.join(" ")} ended ${exit}, and should have ended ${[wanted].flat().join(" or ")}`,
    "run `rote doctor`; if all is well there, this is a fault of rote to be reported",
    { details: text },
  );
}

/** This command in a process of its own, as somebody else would start it. */
async function inOwnProcess(words: readonly string[], { terminal }: Call): Promise<Outcome> {
  const main = fileURLToPath(moduleFromHome("cli/main"));
  const child = spawn(process.execPath, [...process.execArgv, main, ...words], {
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "" },
    stdio: ["ignore", "pipe", "pipe"],
    signal: terminal.interrupted,
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  }
  try {
    const [code] = (await once(child, "close")) as [number | null];
    const names = Object.keys(EXIT_CODES) as ExitName[];
    const exit = names.find((name) => EXIT_CODES[name].code === code) ?? "internal";
    return { exit, json: {}, text };
  } catch (error) {
    if (terminal.interrupted.aborted) throw fault("user_cancelled", "the demo was cancelled");
    throw error;
  }
}
