/**
 * From a command line to an exit code: builds the parser from the command table, runs the one command that was
 * asked for, prints what it leaves and tells every error in one way. The only place that knows commander.
 */
import { readFileSync } from "node:fs";
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { placeFromHome } from "../base/code-home.ts";
import type { JsonValue } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import { EXIT_CODES, type ExitName } from "../model/stop.ts";
import { COMMANDS } from "./commands.ts";
import { type Failure, failureOf } from "./fault.ts";
import type {
  ArgumentSpec,
  Call,
  CommandSpec,
  GroupSpec,
  OptionSpec,
  OptionValues,
  Outcome,
} from "./spec.ts";
import { jsonText, type Terminal } from "./terminal.ts";

/** Runs one command line; `words` are those after `rote`. Never throws. */
export async function main(words: readonly string[], terminal: Terminal): Promise<number> {
  const ended = await runWords(words, terminal);
  const { command, outcome } = ended;
  if (outcome !== null) {
    if (ended.json) terminal.data(documentOf(command, outcome));
    else if (outcome.exact === true) terminal.data(withLineEnd(outcome.text));
    else if (outcome.failed === true) terminal.note(withLineEnd(outcome.text));
    else if (outcome.text !== "") terminal.print(withLineEnd(outcome.text));
  }
  return EXIT_CODES[ended.exit].code;
}

interface EndedCommand {
  readonly command: string;
  readonly json: boolean;
  readonly exit: ExitName;
  /** Null when help or version was asked for and has been printed. */
  readonly outcome: Outcome | null;
}

async function runWords(words: readonly string[], terminal: Terminal): Promise<EndedCommand> {
  let ended: EndedCommand | undefined;
  const runner: Runner = async (spec, call) => {
    const outcome = await outcomeOf(spec, call);
    ended = { command: call.command, json: call.json, exit: outcome.exit, outcome };
  };
  try {
    await programOf(terminal, runner).parseAsync(namesLast(words), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const command = words[0] ?? "";
    if (error.code === "commander.help")
      return { command, json: false, exit: "usage", outcome: null };
    if (error.exitCode !== 0) {
      const outcome = usageOutcome(error, words);
      return { command, json: asksForJson(words), exit: "usage", outcome };
    }
  }
  return ended ?? { command: "", json: false, exit: "verified", outcome: null };
}

/** Runs another command line of the same table and prints nothing: the text for people is in the outcome. */
async function invoke(words: readonly string[], terminal: Terminal): Promise<Outcome> {
  const printed: string[] = [];
  const keep = (text: string): void => void printed.push(text);
  const quiet = { data: () => undefined, print: keep, note: () => undefined, watched: false };
  const { outcome } = await runWords(words, { ...terminal, ...quiet });
  if (outcome === null) throw new TypeError(`rote ${words.join(" ")} has no outcome`);
  return { ...outcome, text: [...printed, outcome.text].join("") };
}

/** Names of requests are 22 letters of base64url, and begin with a dash as often as with any other letter. */
const DASHED_NAME = /^-[A-Za-z0-9_-]{21}$/;

/** Puts such a name behind the word that ends the options. */
function namesLast(words: readonly string[]): string[] {
  const name = words.find((word) => DASHED_NAME.test(word));
  if (name === undefined || words.includes("--")) return [...words];
  return [...words.filter((word) => word !== name), "--", name];
}

type Runner = (spec: CommandSpec, call: Call) => Promise<void>;

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
    const options = optionsOf(command, spec);
    const words = command.args.map(String);
    const json = options["json"] === true;
    await runner(spec, {
      command: name,
      arguments: words,
      options,
      json,
      terminal,
      table: COMMANDS,
      invoke: (others) => invoke(others, terminal),
    });
  });
}

/** By their names in the table: commander has its own spelling for those of several words. */
function optionsOf(command: Command, { options = [] }: CommandSpec): OptionValues {
  const given: { readonly [name: string]: unknown } = command.opts();
  return Object.fromEntries(
    options.map((spec) => [
      spec.name,
      given[optionOf(spec).attributeName()] as OptionValues[string],
    ]),
  );
}

function argumentOf(spec: ArgumentSpec): Argument {
  const argument = new Argument(spec.required ? `<${spec.name}>` : `[${spec.name}]`, spec.summary);
  if (typeof spec.kind === "string") return argument;
  const choices = spec.kind;
  return argument.choices(choices).argParser((value: string) => among(value, choices));
}

/** A public key is 43 letters of base64url, the first two of which may be dashes. */
const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;

function optionOf(spec: OptionSpec): Option {
  if (spec.value === undefined) return new Option(`--${spec.name}`, spec.summary);
  const option = new Option(`--${spec.name} <${spec.value.name}>`, spec.summary);
  const choices = typeof spec.value.kind === "string" ? undefined : spec.value.kind;
  option.argParser((value: string, previous: unknown) => {
    // `--memory --json` is a forgotten directory far more often than a directory of that name.
    if (value.startsWith("--") && !KEY_TEXT.test(value))
      throw new InvalidArgumentError("Its own value is missing.");
    if (choices !== undefined) among(value, choices);
    if (spec.repeatable === true) return [...((previous as string[] | undefined) ?? []), value];
    if (previous !== undefined) throw new InvalidArgumentError("Give it once.");
    return value;
  });
  return option;
}

/** In commander's own form for what it finds nearest itself. */
function among(value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value;
  const meant = nearest(value, choices);
  throw new InvalidArgumentError(
    `Expected ${choices.join(", ")}.${meant === undefined ? "" : `\n(Did you mean ${meant}?)`}`,
  );
}

/** Exits of a help text, in the order of their codes. */
function exitTable(names: readonly ExitName[]): string {
  const lines = [...new Set(names)]
    .map((name) => EXIT_CODES[name])
    .sort((left, right) => left.code - right.code)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`);
  return `Exit codes:\n${lines.join("\n")}`;
}

async function outcomeOf(spec: CommandSpec, call: Call): Promise<Outcome> {
  const { terminal } = call;
  try {
    const { run } = await spec.load();
    return await run(call);
  } catch (error) {
    const failure = failureOf(error);
    if ((terminal.environment["ROTE_DEBUG"] ?? "") !== "") {
      const told = failure.exit === "internal" ? error : causeOf(error);
      if (told !== undefined) terminal.note(withLineEnd(stackOf(told)));
    }
    return failureOutcome(failure);
  }
}

/** What an error of the library or of the application's own module came from. */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}

function failureOutcome(failure: Failure): Outcome {
  const { exit, code, message, hint, details, data } = failure;
  const lines = [`error: ${message}`];
  if (details !== null) lines.push(details.trimEnd());
  if (hint !== null) lines.push(`hint: ${hint}`);
  const error = { code, message, ...(hint === null ? {} : { hint }), ...data };
  return { exit, json: { error }, text: lines.join("\n"), failed: true };
}

function documentOf(command: string, outcome: Outcome): string {
  const { exit, json } = outcome;
  const document: JsonValue = { command, exit, exit_code: EXIT_CODES[exit].code, ...json };
  return `${jsonText(document, outcome.oneLine === true ? 0 : 2)}\n`;
}

/** A command line that commander refused. */
function usageOutcome(error: CommanderError, words: readonly string[]): Outcome {
  const message = error.message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/s, "");
  const meant = /\n\(Did you mean (.*)\?\)$/s.exec(error.message)?.[1];
  const hint = meant === undefined ? `see \`${helpCommand(words)}\`` : `did you mean ${meant}?`;
  const told = { code: "bad_usage", message, hint, details: null, data: {} };
  return failureOutcome({ exit: "usage", ...told });
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

function withLineEnd(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function packageVersion(): string {
  const text = readFileSync(placeFromHome("../package.json"), "utf8");
  const parsed: unknown = JSON.parse(text);
  const version =
    typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : "";
  return String(version);
}
