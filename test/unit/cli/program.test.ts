import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { main } from "../../../src/cli/program.ts";
import type { CommandSpec } from "../../../src/cli/spec.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";

async function type(line: string) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal: Terminal = {
    data: (text) => void out.push(text),
    print: (text) => void out.push(text),
    note: (text) => void err.push(text),
    progress: () => undefined,
    watched: false,
    standardInput: async function* () {},
    ask: null,
    environment: {},
    interrupted: new AbortController().signal,
  };
  const code = await main(line === "" ? [] : line.split(" "), terminal);
  return { code, out: out.join(""), err: err.join("") };
}

const commands: readonly (readonly [string, CommandSpec])[] = COMMANDS.flatMap((spec) =>
  "commands" in spec
    ? spec.commands.map((inner) => [`${spec.name} ${inner.name}`, inner] as const)
    : [[spec.name, spec] as const],
);

describe("help", () => {
  it.each(commands)(
    "of %s has its options, examples that parse, and exit codes",
    async (name, spec) => {
      const { code, out, err } = await type(`${name} --help`);
      expect(code).toBe(0);
      expect(err).toBe("");
      for (const option of spec.options ?? []) expect(out).toContain(`--${option.name}`);
      expect(spec.examples.length).toBeGreaterThan(0);
      for (const example of spec.examples) {
        expect(out).toContain(example);
        expect(example).toContain(`rote ${name}`);
      }
      expect(out).toContain("Exit codes:");
      expect(out).toMatch(/^ +2 {2}\S/m);
    },
  );

  it("lists every command", async () => {
    const { code, out } = await type("--help");
    expect(code).toBe(0);
    for (const [name] of commands) expect(out).toContain(name.split(" ")[0]);
  });

  it("is what a bare command gets, on standard error and with the usage code", async () => {
    for (const line of ["", "memory"]) {
      const { code, out, err } = await type(line);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain("Usage: rote");
    }
  });
});

describe("a wrong command line", () => {
  it.each([
    ["chek recipe.json", "unknown command 'chek'", "did you mean check?"],
    ["memory stats dir", "unknown command 'stats'", "did you mean status?"],
    ["memory wipe dir", "unknown command 'wipe'", "see `rote memory --help`"],
    [
      "check recipe.json --verifer v.json",
      "unknown option '--verifer'",
      "did you mean --verifier?",
    ],
    ["run recipe.json --mode fast", "Expected guided, compiled.", "see `rote run --help`"],
    ["run recipe.json --mode guidde", "Expected guided, compiled.", "did you mean guided?"],
    [
      "init recalculaton",
      "Expected transaction-testing, recalculation",
      "did you mean recalculation?",
    ],
    ["memory status", "missing required argument 'directory'", "see `rote memory status --help`"],
    ["run recipe.json --mode guided --mode compiled", "Give it once.", "see `rote run --help`"],
    ["run recipe.json --memory", "argument missing", "see `rote run --help`"],
    [
      "run recipe.json --memory --phase training",
      "Its own value is missing.",
      "see `rote run --help`",
    ],
    ["run", "missing required argument 'recipe'", "see `rote run --help`"],
    ["graph a.json b.json", "too many arguments", "see `rote graph --help`"],
    ["completions tcsh", "Expected bash, zsh, fish.", "see `rote completions --help`"],
  ])("%s says what is wrong and what to do", async (line, message, hint) => {
    const plain = await type(line);
    expect(plain).toEqual({ code: 2, out: "", err: expect.stringContaining(message) });
    expect(plain.err).toContain(`hint: ${hint}`);

    const json = await type(`${line} --json`);
    expect([json.code, json.err]).toEqual([2, ""]);
    const document = JSON.parse(json.out);
    expect(document).toMatchObject({ exit: "usage", exit_code: 2, error: { code: "bad_usage" } });
  });
});

it("after -- the word --json is an argument and asks for nothing", async () => {
  const { out, err } = await type("check --nothing -- --json");
  expect(out).toBe("");
  expect(err).toContain("unknown option '--nothing'");
});

it("the version is that of the package", async () => {
  const { code, out } = await type("--version");
  expect(code).toBe(0);
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe("words that begin with a dash", () => {
  const nonce = "-x_lrOI8UuI8ZSte4S3A00";
  const store = "--store none --trust none.json";

  it.each([
    ["before the options", `approvals show ${nonce} ${store}`],
    ["behind the options", `approvals show ${store} ${nonce}`],
    ["with two dashes", `approvals show -${nonce.slice(0, -1)} ${store}`],
  ])("are names of requests, %s", async (_, line) => {
    const { code, err } = await type(line);
    expect(err).toContain("none.json does not exist");
    expect(code).toBe(1);
  });

  it("are public keys as values of options", async () => {
    const rotate = "keys rotate none.json --root r.key --old";
    const { code, err } = await type(`${rotate} --${"x".repeat(41)} --new -${"y".repeat(42)}`);
    expect(err).toContain("none.json does not exist");
    expect(code).toBe(1);
    expect((await type(`${rotate} --new`)).code).toBe(2);
  });
});

it("options of several words arrive under their names", async () => {
  const both = "--passphrase-fd 0 --passphrase-file none";
  const { code, err } = await type(`keys generate none.key ${both}`);
  expect(err).toContain("both say the passphrase");
  expect(code).toBe(2);
});

describe("completions", () => {
  it.each(["bash", "zsh", "fish"])("for %s know every command and option", async (shell) => {
    const { code, out } = await type(`completions ${shell}`);
    expect(code).toBe(0);
    for (const [name, spec] of commands) {
      for (const word of name.split(" ")) expect(out).toContain(word);
      for (const option of spec.options ?? []) expect(out).toContain(option.name);
    }
  });
});
