import { COMMANDS } from "../../src/cli/commands.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec, ValueKind } from "../../src/cli/spec.ts";
import { EXIT_CODES } from "../../src/model/stop.ts";
import { code, GENERATED, markdownTable } from "../markdown.ts";

/** docs/cli.md from the table of commands that the command itself runs on. */
export function outputs(): ReadonlyMap<string, string> {
  const sections = COMMANDS.flatMap((each) =>
    "commands" in each
      ? each.commands.map((command) => section(`${each.name} ${command.name}`, command))
      : [section(each.name, each)],
  );
  const text = [
    GENERATED,
    "",
    "# The command `rote`",
    "",
    "`rote COMMAND --help` says the same. With `--json` standard output is JSON and nothing else. Every command can also",
    `end with ${["verified", "usage", "internal", "cancelled"].map((name) => exit(name)).join(", ")}; docs/states.md has the table.`,
    "",
    sections.join("\n\n"),
    "",
  ].join("\n");
  return new Map([["docs/cli.md", text]]);
}

function section(words: string, command: CommandSpec): string {
  const shown = (command.arguments ?? []).map((argument) =>
    argument.required ? `<${argument.name}>` : `[${argument.name}]`,
  );
  const parts = [
    `## ${code(`rote ${[words, ...shown].join(" ")}`)}`,
    `${sentence(command.summary)}`,
    ...(command.details ?? []),
  ];
  const rows = [
    ...(command.arguments ?? []).map(argumentRow),
    ...(command.options ?? []).map(optionRow),
  ];
  if (rows.length > 0) parts.push(markdownTable(["argument or option", "meaning"], rows));
  parts.push(["```", ...command.examples, "```"].join("\n"));
  if (command.exits.length > 0) parts.push(`Ends also with ${command.exits.map(exit).join(", ")}.`);
  return parts.join("\n\n");
}

function argumentRow(argument: ArgumentSpec): readonly string[] {
  return [code(`<${argument.name}>`), argument.summary + choices(argument.kind)];
}

function optionRow(option: OptionSpec): readonly string[] {
  const value = option.value === undefined ? "" : ` <${option.value.name}>`;
  return [code(`--${option.name}${value}`), option.summary];
}

function choices(kind: ValueKind): string {
  return typeof kind === "string" ? "" : ` (${kind.join(", ")})`;
}

function exit(name: string): string {
  const { code: number } = EXIT_CODES[name as keyof typeof EXIT_CODES];
  return `${code(String(number))} (${name})`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
