import type { ArgumentSpec, Call, CommandSpec, OptionSpec, Outcome, ValueKind } from "./spec.ts";

/** A command with all its words, as completions see it. */
interface Entry {
  /** `check`, `memory status`. */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly OptionSpec[];
  readonly arguments: readonly ArgumentSpec[];
  /** Words that may follow a group. */
  readonly children: readonly { readonly name: string; readonly summary: string }[];
}

/** Prints a completion script generated from the command table. */
export function run(call: Call): Promise<Outcome> {
  const shell = call.arguments[0] ?? "bash";
  const script = scriptFor(shell, entries(call.table));
  return Promise.resolve({ exit: "verified", json: { shell, script }, text: script, exact: true });
}

function scriptFor(shell: string, list: readonly Entry[]): string {
  if (shell === "zsh") return zsh(list);
  if (shell === "fish") return fish(list);
  return bash(list);
}

function entries(table: Call["table"]): readonly Entry[] {
  const list: Entry[] = [];
  for (const spec of table) {
    if ("commands" in spec) {
      const { name, summary, commands } = spec;
      list.push({ path: name, summary, options: [], arguments: [], children: commands });
      for (const command of commands) list.push(entryOf(command, `${name} ${command.name}`));
    } else {
      list.push(entryOf(spec, spec.name));
    }
  }
  return list;
}

function entryOf(spec: CommandSpec, path: string): Entry {
  return {
    path,
    summary: spec.summary,
    options: spec.options ?? [],
    arguments: spec.arguments ?? [],
    children: [],
  };
}

const topLevel = (list: readonly Entry[]) => list.filter((entry) => !entry.path.includes(" "));

function bash(list: readonly Entry[]): string {
  const groups = list.filter((entry) => entry.children.length > 0).map((entry) => entry.path);
  const cases = list.map((entry) => {
    const values = entry.options
      .filter((option) => option.value !== undefined)
      .map((option) => `        --${option.name}) ${bashValue(option.value?.kind ?? "text")} ;;`);
    const words = [
      ...entry.children.map((child) => child.name),
      ...entry.options.map((option) => `--${option.name}`),
      "--help",
    ];
    const kinds = entry.arguments.map((argument) => argument.kind);
    const rest = bashValue(
      kinds.every((kind) => kind === kinds[0]) ? (kinds[0] ?? "text") : "file",
    );
    return [
      `    "${entry.path}")`,
      '      case "$previous" in',
      ...values,
      `        *) if [[ $current == -* || ${entry.children.length > 0 ? 1 : 0} == 1 ]]; then`,
      `             COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current"))`,
      `           else ${rest}; fi ;;`,
      "      esac ;;",
    ].join("\n");
  });
  return `# bash completion for rote
_rote() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=
  COMPREPLY=()
  if (( COMP_CWORD > 1 )); then command=\${COMP_WORDS[1]}; fi
  if (( COMP_CWORD > 2 )) && [[ " ${groups.join(" ")} " == *" $command "* ]]; then
    command+=" \${COMP_WORDS[2]}"
  fi
  case "$command" in
    "") COMPREPLY=($(compgen -W "${[...topLevel(list).map((entry) => entry.path), "help", "--help", "--version"].join(" ")}" -- "$current")) ;;
${cases.join("\n")}
  esac
}
complete -o filenames -F _rote rote
`;
}

function bashValue(kind: ValueKind): string {
  if (typeof kind !== "string") {
    return `COMPREPLY=($(compgen -W "${kind.join(" ")}" -- "$current"))`;
  }
  if (kind === "file") return 'COMPREPLY=($(compgen -f -- "$current"))';
  if (kind === "directory") return 'COMPREPLY=($(compgen -d -- "$current"))';
  return ":";
}

function zsh(list: readonly Entry[]): string {
  const functions = list.map((entry) => {
    const name = functionName(entry.path);
    if (entry.children.length > 0) {
      const described = entry.children.map((child) => zshDescribed(child.name, child.summary));
      const cases = entry.children.map(
        (child) => `      ${child.name}) ${functionName(`${entry.path} ${child.name}`)} ;;`,
      );
      return [
        `${name}() {`,
        "  local state line",
        "  local -a commands",
        `  commands=(${described.join(" ")})`,
        "  _arguments -C '1: :->command' '*::argument:->rest'",
        "  case $state in",
        `    command) _describe command commands ;;`,
        "    rest) case $line[1] in",
        ...cases,
        "    esac ;;",
        "  esac",
        "}",
      ].join("\n");
    }
    const parts = [
      ...entry.options.map(zshOption),
      "'--help[show help]'",
      ...entry.arguments.map(
        (argument, index) =>
          `'${index + 1}:${argument.required ? "" : ":"}${argument.name}:${zshValue(argument.kind)}'`,
      ),
    ];
    return `${name}() {\n  _arguments \\\n    ${parts.join(" \\\n    ")}\n}`;
  });
  const top = topLevel(list);
  const described = top.map((entry) => zshDescribed(entry.path, entry.summary));
  const cases = top.map((entry) => `      ${entry.path}) ${functionName(entry.path)} ;;`);
  return `#compdef rote
${functions.join("\n\n")}

_rote() {
  local state line
  local -a commands
  commands=(${described.join(" ")})
  _arguments -C '--help[show help]' '--version[print the version]' '1: :->command' '*::argument:->rest'
  case $state in
    command) _describe command commands ;;
    rest) case $line[1] in
${cases.join("\n")}
    esac ;;
  esac
}

if [ "$funcstack[1]" = "_rote" ]; then _rote "$@"; else compdef _rote rote; fi
`;
}

const functionName = (path: string) => `_rote_${path.replaceAll(" ", "_")}`;
const zshDescribed = (name: string, summary: string) => `'${name}:${zshQuoted(summary)}'`;
const zshQuoted = (text: string) => text.replaceAll("'", "'\\''").replace(/[:[\]]/g, "\\$&");

function zshOption(option: OptionSpec): string {
  const repeat = option.repeatable === true ? "*" : "";
  const summary = zshQuoted(option.summary);
  if (option.value === undefined) return `'${repeat}--${option.name}[${summary}]'`;
  const { name, kind } = option.value;
  return `'${repeat}--${option.name}[${summary}]:${zshQuoted(name)}:${zshValue(kind)}'`;
}

function zshValue(kind: ValueKind): string {
  if (typeof kind !== "string") return `(${kind.join(" ")})`;
  if (kind === "file") return "_files";
  return kind === "directory" ? "_files -/" : "";
}

function fish(list: readonly Entry[]): string {
  const lines: string[] = ["# fish completion for rote", "complete -c rote -f"];
  for (const entry of topLevel(list)) {
    lines.push(
      `complete -c rote -n __fish_use_subcommand -a ${entry.path} -d ${fishQuoted(entry.summary)}`,
    );
  }
  for (const entry of list) {
    const condition = fishQuoted(fishCondition(entry, list));
    for (const child of entry.children) {
      lines.push(
        `complete -c rote -n ${condition} -a ${child.name} -d ${fishQuoted(child.summary)}`,
      );
    }
    for (const argument of entry.arguments) {
      lines.push(`complete -c rote -n ${condition} ${fishValue(argument.kind)}`);
    }
    for (const option of entry.options) {
      const value = option.value === undefined ? "" : ` ${fishOptionValue(option.value.kind)}`;
      lines.push(
        `complete -c rote -n ${condition} -l ${option.name}${value} -d ${fishQuoted(option.summary)}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

function fishCondition(entry: Entry, list: readonly Entry[]): string {
  const seen = entry.path
    .split(" ")
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join("; and ");
  if (entry.children.length === 0) return seen;
  const children = list
    .filter((other) => other.path.startsWith(`${entry.path} `))
    .map((other) => other.path.slice(entry.path.length + 1));
  return `${seen}; and not __fish_seen_subcommand_from ${children.join(" ")}`;
}

/** The value is required; only files may be offered beside what is listed. */
function fishOptionValue(kind: ValueKind): string {
  return kind === "file" ? "-r -F" : `-x ${fishValue(kind)}`.trimEnd();
}

function fishValue(kind: ValueKind): string {
  if (typeof kind !== "string") return `-a ${fishQuoted(kind.join(" "))}`;
  if (kind === "file") return "-F";
  return kind === "directory" ? "-a '(__fish_complete_directories)'" : "";
}

const fishQuoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
