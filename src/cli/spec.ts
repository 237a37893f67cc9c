import type { JsonValue } from "../base/json.ts";
import type { ExitName } from "../model/stop.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The commands as data. Parsing, help and completions all derive from it, so none of them can know an option that
 * another does not; and it loads nothing, so that help costs nothing.
 */
export interface CommandSpec {
  /** Words after `rote`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs of help below the summary. */
  readonly details?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly string[];
  /** Exits besides `verified`, `usage`, `internal` and `cancelled`, which every command can have. */
  readonly exits: readonly ExitName[];
  readonly load: () => Promise<{ readonly run: (call: Call) => Promise<Outcome> }>;
}

/** A word that only groups commands, such as `memory`. */
export interface GroupSpec {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandSpec[];
}

/** What stands for a value in help and tells completions what to offer. */
export type ValueKind = "file" | "directory" | "text" | readonly string[];

export interface ArgumentSpec {
  readonly name: string;
  readonly kind: ValueKind;
  readonly required: boolean;
  readonly summary: string;
}

export interface OptionSpec {
  /** Without the dashes. */
  readonly name: string;
  /** Left out for a switch. */
  readonly value?: { readonly name: string; readonly kind: ValueKind };
  readonly repeatable?: boolean;
  readonly summary: string;
}

/** One command line, parsed. */
export interface Call {
  /** The words of the command, e.g. `memory status`. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly options: OptionValues;
  /** True with `--json`: standard output is JSON and nothing else. */
  readonly json: boolean;
  readonly terminal: Terminal;
  /** The whole table of commands. */
  readonly table: readonly (CommandSpec | GroupSpec)[];
  /** Runs another command line, words after `rote`, and prints nothing. */
  readonly invoke: (words: readonly string[]) => Promise<Outcome>;
}

export interface OptionValues {
  readonly [name: string]: string | boolean | readonly string[] | undefined;
}

/** What a command leaves to be printed. The exit code is derived from `exit` in one place. */
export interface Outcome {
  readonly exit: ExitName;
  /** Members of the JSON document, beside `command`, `exit` and `exit_code`. */
  readonly json: { readonly [key: string]: JsonValue };
  /** The same for people; empty when the command has printed already. */
  readonly text: string;
  /** The text tells an error: it goes to standard error. */
  readonly failed?: boolean;
  /** The text is a document of its own and is written exactly as it is. */
  readonly exact?: boolean;
  /** Prints the JSON document on one line, as the last of a stream of lines. */
  readonly oneLine?: boolean;
}

export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function textOptions(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

export function switchOption(options: OptionValues, name: string): boolean {
  return options[name] === true;
}
