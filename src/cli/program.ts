/**
 * From a command line to an exit code: builds the parser from the command table, runs the one command that was
 * asked for, prints what it leaves and tells every error in one way. The only place that knows commander.
 */
import { readFileSync } from "node:fs";
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { EXIT_CODES, type ExitName } from "../model/stop.ts";
import { COMMANDS } from "./commands.ts";
import { failureOf } from "./fault.ts";
import type {
  ArgumentSpec,
  Call,
  CommandSpec,
  GroupSpec,
  OptionSpec,
  OptionValues,
  Outcome,
} from "./spec.ts";
import type { Terminal } from "./terminal.ts";

/** Runs one command line; `words` are those after `rote`. Never throws. */
export async function main(words: readonly string[], terminal: Terminal): Promise<number> {
  let exit: ExitName = "verified";
  const runner = async (spec: CommandSpec, command: string, call: Call): Promise<void> => {
    exit = await perform(spec, command, call);
  };
  const program = programOf(terminal, runner);
  try {
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 || error.code === "commander.help") {
      exit = tellUsage(error, words, terminal);
    }
  }
  return EXIT_CODES[exit].code;
}

type Runner = (spec: CommandSpec, command: string, call: Call) => Promise<void>;

function programOf(terminal: Terminal, runner: Runner): Command {
  const program = new Command("rote")
    .description(
      "Do it once, prove it, then do it by rote, under the same approvals, with receipts.",
    )
    .version(packageVersion(), "--version", "print the version")
    .helpOption("-h, --help", "show help")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text),
      writeErr: (text) => terminal.note(text),
      // Told in `tellUsage`, where --json is known.
      outputError: () => undefined,
    })
    .addHelpText("after", `\n${exitTable(Object.keys(EXIT_CODES) as ExitName[])}`);
  for (const spec of COMMANDS) {
    if ("commands" in spec) addGroup(program, spec, terminal, runner);
    else addCommand(program, spec, spec.name, terminal, runner);
  }
  return program;
}

function addGroup(program: Command, group: GroupSpec, terminal: Terminal, runner: Runner): void {
  const parent = program.command(group.name).description(group.summary);
  for (const spec of group.commands) {
    addCommand(parent, spec, `${group.name} ${spec.name}`, terminal, runner);
  }
}

function addCommand(
  parent: Command,
  spec: CommandSpec,
  name: string,
  terminal: Terminal,
  runner: Runner,
): void {
  const command = parent.command(spec.name).summary(spec.summary);
  command.description([spec.summary, ...(spec.details ?? [])].join("\n\n"));
  for (const argument of spec.arguments ?? []) command.addArgument(argumentOf(argument));
  for (const option of spec.options ?? []) command.addOption(optionOf(option));
  command.addHelpText(
    "after",
    `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join("\n")}`,
  );
  const exits: readonly ExitName[] = ["verified", ...spec.exits, "usage", "internal", "cancelled"];
  command.addHelpText("after", `\n${exitTable(exits)}`);
  command.action(async () => {
    const options: OptionValues = command.opts();
    const words = command.args.map(String);
    const json = options["json"] === true;
    await runner(spec, name, { command: name, arguments: words, options, json, terminal });
  });
}

function argumentOf(spec: ArgumentSpec): Argument {
  const argument = new Argument(spec.required ? `<${spec.name}>` : `[${spec.name}]`, spec.summary);
  return Array.isArray(spec.kind) ? argument.choices(spec.kind as readonly string[]) : argument;
}

function optionOf(spec: OptionSpec): Option {
  if (spec.value === undefined) return new Option(`--${spec.name}`, spec.summary);
  const option = new Option(`--${spec.name} <${spec.value.name}>`, spec.summary);
  const choices = typeof spec.value.kind === "string" ? undefined : spec.value.kind;
  option.argParser((value: string, previous: unknown) => {
    if (choices !== undefined && !choices.includes(value)) {
      throw new InvalidArgumentError(`Expected ${choices.join(", ")}.`);
    }
    if (spec.repeatable === true) return [...((previous as string[] | undefined) ?? []), value];
    if (previous !== undefined) throw new InvalidArgumentError("Give it once.");
    return value;
  });
  return option;
}

/** Exits of a help text, in the order of their codes. */
function exitTable(names: readonly ExitName[]): string {
  const lines = [...new Set(names)]
    .map((name) => EXIT_CODES[name])
    .sort((left, right) => left.code - right.code)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`);
  return `Exit codes:\n${lines.join("\n")}`;
}

async function perform(spec: CommandSpec, command: string, call: Call): Promise<ExitName> {
  const { terminal } = call;
  try {
    const { run } = await spec.load();
    const outcome = await run(call);
    if (call.json) terminal.data(documentOf(command, outcome));
    else if (outcome.exact === true) terminal.data(withLineEnd(outcome.text));
    else if (outcome.text !== "") terminal.print(withLineEnd(outcome.text));
    return outcome.exit;
  } catch (error) {
    const failure = failureOf(error);
    if (!(error instanceof RoteError) && (terminal.environment["ROTE_DEBUG"] ?? "") !== "") {
      terminal.note(withLineEnd(error instanceof Error ? String(error.stack) : String(error)));
    }
    if (call.json) {
      const { exit, code, message, hint, data } = failure;
      const told = { code, message, ...(hint === null ? {} : { hint }), ...data };
      terminal.data(documentOf(command, { exit, json: { error: told }, text: "" }));
    } else {
      tell(failure.message, failure.hint, terminal);
    }
    return failure.exit;
  }
}

function documentOf(command: string, outcome: Outcome): string {
  const { exit, json } = outcome;
  const document: JsonValue = { command, exit, exit_code: EXIT_CODES[exit].code, ...json };
  return `${JSON.stringify(document, null, outcome.oneLine === true ? 0 : 2)}\n`;
}

/** A command line that commander refused; help that was asked for has been printed by then. */
function tellUsage(error: CommanderError, words: readonly string[], terminal: Terminal): ExitName {
  if (error.code === "commander.help") return "usage";
  const message = error.message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/s, "");
  const nearest = /\n\(Did you mean (.*)\?\)$/s.exec(error.message)?.[1];
  const hint = nearest === undefined ? `see \`${helpCommand(words)}\`` : `did you mean ${nearest}?`;
  if (asksForJson(words)) {
    const told = { code: "bad_usage", message, hint };
    terminal.data(documentOf(words[0] ?? "", { exit: "usage", json: { error: told }, text: "" }));
  } else {
    tell(message, hint, terminal);
  }
  return "usage";
}

/** The help that covers as many of the words as name a command. */
function helpCommand(words: readonly string[]): string {
  const spec = COMMANDS.find(({ name }) => name === words[0]);
  if (spec === undefined) return "rote --help";
  if (!("commands" in spec)) return `rote ${spec.name} --help`;
  const inner = spec.commands.find(({ name }) => name === words[1]);
  return inner === undefined
    ? `rote ${spec.name} --help`
    : `rote ${spec.name} ${inner.name} --help`;
}

/** Parsing failed, so only the words themselves can say whether JSON was asked for. */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? words.length : end).includes("--json");
}

function tell(message: string, hint: string | null, terminal: Terminal): void {
  const lines = [`error: ${message}`, ...(hint === null ? [] : [`hint: ${hint}`])];
  terminal.note(withLineEnd(lines.join("\n")));
}

function withLineEnd(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const parsed: unknown = JSON.parse(text);
  const version =
    typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : "";
  return String(version);
}
