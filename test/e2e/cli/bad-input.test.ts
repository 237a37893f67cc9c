import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Folder, LINE_TOTAL_VERIFIER, lineTotal, rote } from "./rote.ts";

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  folder.write("verifier.json", LINE_TOTAL_VERIFIER);
  folder.write("good.json", lineTotal());
});
afterEach(() => folder.remove());

/** Types the command twice, for people and as JSON, and sees that it wrote nothing. */
async function typed(words: readonly string[], input?: Uint8Array) {
  const before = folder.listing();
  const setting = { cwd: folder.path, ...(input === undefined ? {} : { input }) };
  const [plain, json] = await Promise.all([
    rote(words, setting),
    rote([...words, "--json"], setting),
  ]);
  expect(folder.listing()).toEqual(before);
  expect(json.stderr).toBe("");
  const document = JSON.parse(json.stdout);
  expect(json.code).toBe(plain.code);
  expect(document.exit_code).toBe(plain.code);
  for (const text of [plain.stdout, plain.stderr]) {
    expect(text).not.toMatch(/\n\s+at .*[:(]\d+/);
    expect(text.length).toBeLessThan(20_000);
  }
  return { ...plain, document };
}

const text = (value: unknown) => JSON.stringify(value, null, 2);

function withNode(step: unknown, more: { readonly [key: string]: unknown } = {}) {
  return { ...lineTotal(), terminal: "only", nodes: [{ id: "only", step, ...more }] };
}

const pure = (value: unknown) => withNode({ kind: "pure", value });

describe("a recipe that is no good", () => {
  it.each<[string, string | Uint8Array, readonly string[], string]>([
    [
      "truncated JSON",
      '{"version": 1,\n "id": "x", "inputs": {',
      ["error[bad_json]", "recipe.json:2:"],
      "bad_json",
    ],
    [
      "a member given twice",
      text(lineTotal()).replace('"version": 1', '"version": 1, "id": "other"'),
      ["error[duplicate_key]", '"id"'],
      "duplicate_key",
    ],
    [
      "the same member in another spelling",
      text(lineTotal()).replace('"version": 1', '"version": 1, "\\u0069d": "other"'),
      ["error[duplicate_key]"],
      "duplicate_key",
    ],
    ["a number with a leading zero", '{"version": 01}', ["recipe.json:1:13"], "bad_number"],
    ["a number beyond every double", '{"version": 1e400}', ["recipe.json:1:13"], "bad_number"],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), ["UTF-8"], "bad_encoding"],
    [
      "a byte order mark",
      new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
      ["byte order mark"],
      "bad_encoding",
    ],
    ["nothing at all", "", ["error[bad_json]"], "bad_json"],
    ["100,000 nested arrays", "[".repeat(100_000), ["64"], "document_too_deep"],
    ["100,000 closed arrays", "[".repeat(1e5) + "]".repeat(1e5), ["64"], "document_too_deep"],
    [
      "an expression of a million operators",
      JSON.stringify(pure("HERE")).replace('"HERE"', `[${"[],".repeat(1e6)}[]]`),
      ["error[too_many_operators]", "10000"],
      "too_many_operators",
    ],
    [
      "an operator nobody knows",
      text(pure({ op: "multply", left: 1, right: 2 })),
      ["error[unknown_operator]", "multply", "did you mean multiply?"],
      "unknown_operator",
    ],
    [
      "a cycle",
      text({
        ...lineTotal(),
        terminal: "b",
        nodes: ["a", "b", "c"].map((id, index) => ({
          id,
          step: { kind: "pure", value: { node: ["c", "a", "b"][index] } },
        })),
      }),
      ["error[cycle]", "a", "b", "c"],
      "cycle",
    ],
    [
      "a type that does not fit",
      text(pure({ op: "add", left: 1, right: "2" })),
      ["error[type_mismatch]"],
      "type_mismatch",
    ],
    [
      "a __proto__ member",
      text(lineTotal()).replace('"version": 1', '"version": 1, "__proto__": {"polluted": true}'),
      ["__proto__"],
      "unknown_key",
    ],
    [
      "an input called __proto__",
      text(lineTotal()).replace('"inputs": {', '"inputs": {"__proto__": "integer",'),
      ["__proto__"],
      "bad_name",
    ],
    ["a list", "[]", ["this is a list"], "bad_shape"],
    ["another version", text({ ...lineTotal(), version: 2 }), ["version"], "unsupported_version"],
  ])("is told: %s", async (_, content, parts, code) => {
    folder.write("recipe.json", content);
    const { code: exit, stdout, stderr, document } = await typed(["check", "recipe.json"]);
    expect(exit).toBe(1);
    expect(stderr).toBe("");
    for (const part of parts) expect(stdout).toContain(part);
    expect(document.exit).toBe("problem");
    expect(document.diagnostics.map((found: { code: string }) => found.code)).toContain(code);
    expect(document.diagnostics[0]).toMatchObject({ document: "recipe", file: "recipe.json" });
  });

  it("is not started, and told in the same way", async () => {
    folder.write("recipe.json", pure({ op: "multply", left: 1, right: 2 }));
    const { code, stdout, stderr, document } = await typed(["run", "recipe.json"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("recipe recipe.json does not compile");
    expect(stderr).toContain("error[unknown_operator]");
    expect(document.error.code).toBe("recipe_invalid");
    expect(document.error.diagnostics).toHaveLength(1);
  });

  it("names the members of a cycle, and nothing that only hangs on it", async () => {
    const node = (id: string, after: string) => ({
      id,
      step: { kind: "pure", value: { node: after } },
    });
    const nodes = [node("first", "second"), node("second", "first"), node("end", "second")];
    folder.write("recipe.json", { ...lineTotal(), terminal: "end", nodes });
    const { document } = await typed(["check", "recipe.json"]);
    const cycle = document.diagnostics.find((found: { code: string }) => found.code === "cycle");
    expect(cycle.message).toContain("first");
    expect(cycle.message).toContain("second");
    expect(cycle.message).not.toContain("end");
  });

  it("a 50 MB file is refused by its size, before it is read", async () => {
    folder.write("recipe.json", new Uint8Array(50_000_000).fill(0x20));
    for (const words of [
      ["graph", "recipe.json"],
      ["check", "good.json", "--verifier", "recipe.json"],
      ["run", "good.json", "--inputs", "recipe.json"],
      ["run", "good.json", "--environment", "recipe.json", "--input", "quantity=1"],
    ]) {
      const { code, stderr, document } = await typed(words);
      expect(code).toBe(1);
      expect(stderr).toContain("has 50000000 bytes; at most 16777216 are read");
      expect(document.error).toMatchObject({ code: "document_too_large", max_bytes: 16_777_216 });
    }
  });

  it("50 MB on standard input are refused as soon as they are too many", async () => {
    const { code, stderr } = await typed(["check", "-"], new Uint8Array(50_000_000).fill(0x20));
    expect(code).toBe(1);
    expect(stderr).toContain("recipe on standard input has more bytes; at most 16777216 are read");
  });
});

describe("what is not a file", () => {
  it.each<[string, () => string, string, string]>([
    ["nothing", () => "none.json", "does not exist", "file_not_found"],
    ["a directory", () => ".", "is a directory; expected a file", "not_a_file"],
    [
      "a pipe that nobody writes to",
      () => {
        execFileSync("mkfifo", [join(folder.path, "pipe")]);
        return "pipe";
      },
      "is a pipe; expected a file",
      "not_a_file",
    ],
    ["a device", () => "/dev/zero", "is not a regular file", "not_a_file"],
    ["a path through a file", () => "good.json/recipe.json", "not a directory", "not_readable"],
  ])("is refused as recipe and as inputs: %s", async (_, make, message, error) => {
    const file = make();
    for (const words of [
      ["check", file],
      ["run", "good.json", "--inputs", file],
    ]) {
      const { code, stderr, document } = await typed(words);
      expect(code).toBe(1);
      expect(stderr).toContain(message);
      expect(document.error.code).toBe(error);
    }
  });
});

describe("inputs that are no good", () => {
  it.each<[string, readonly string[], string]>([
    ["a leading zero", ["quantity=01", "price=2"], '"quantity"'],
    ["an exponent", ["quantity=1e3", "price=2"], '"quantity"'],
    ["minus zero", ["quantity=-0", "price=2"], '"quantity"'],
    ["nothing where a number belongs", ["quantity=", "price=2"], '"quantity"'],
    ["one input missing", ["quantity=1"], '"price": missing; expected integer'],
    ["an input nobody asked for", ["quantity=1", "price=2", "colour=red"], 'no input "colour"'],
    ["a misspelt input", ["quantity=1", "pric=2"], 'no input "pric"'],
    ["an input called __proto__", ["quantity=1", "__proto__=2"], 'no input "__proto__"'],
  ])("as words: %s", async (_, words, message) => {
    const options = words.flatMap((word) => ["--input", word]);
    const { code, stdout, stderr, document } = await typed(["run", "good.json", ...options]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(message);
    expect(document.error.code).toBe("bad_input");
  });

  const lines: readonly (readonly [string, string])[] = [
    ['{"quantity": 1,', "bad_json at line 1"],
    ['{"quantity": 1, "quantity": 2}', "duplicate_key at line 1"],
    ['{"quantity": 1e400, "price": 1}', "bad_number at line 1"],
    ['{"quantity": 01, "price": 1}', "bad_number at line 1"],
    ['{"quantity": "01", "price": 1}', '"quantity"'],
    ['{"quantity": 1.5, "price": 1}', '"quantity"'],
    ['{"quantity": [], "price": true}', '"price"'],
    ['{"quantity": 1}', '"price": missing'],
    ["[1, 2]", "expected an object"],
    ["[".repeat(100_000), "document_too_deep"],
    ['{"quantity": 1, "price": 2, "__proto__": {"price": 3}}', "__proto__"],
  ];

  it.each(["", "\n \n\n"])(
    "as a file without any line (%j): nothing was run, which is a problem",
    async (text) => {
      folder.write("none.jsonl", text);
      const words = ["run", "good.json", "--inputs", "none.jsonl"];
      const plain = await rote(words, { cwd: folder.path });
      expect(plain.code).toBe(1);
      expect(plain.stderr).toContain("inputs none.jsonl: there is no input line");
      const json = await rote([...words, "--json"], { cwd: folder.path });
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({ exit_code: 1, error: { code: "bad_input" } });
    },
  );

  it("as lines of a file: each is told by its number and stops nothing", async () => {
    const good = '{"quantity": 2, "price": 3}';
    folder.write("inputs.jsonl", [...lines.map(([line]) => line), "", good].join("\n"));
    const before = folder.listing();
    const words = ["run", "good.json", "--inputs", "inputs.jsonl"];
    const plain = await rote(words, { cwd: folder.path });
    const json = await rote([...words, "--json"], { cwd: folder.path });
    expect(folder.listing()).toEqual(before);
    expect([plain.code, json.code, json.stderr]).toEqual([1, 1, ""]);
    const told = json.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const [index, [, message]] of lines.entries()) {
      expect(plain.stdout).toContain(`line ${index + 1}: not started (bad_input)`);
      expect(told[index]).toMatchObject({
        line: index + 1,
        exit_code: 1,
        error: { code: "bad_input", message: expect.stringContaining(message) },
      });
    }
    expect(told.at(-2)).toMatchObject({ line: lines.length + 2, exit_code: 0, result: "6" });
    expect(told.at(-1)).toMatchObject({
      command: "run",
      exit_code: 1,
      summary: { runs: lines.length + 1 },
    });
  });

  it("as one file", async () => {
    folder.write("inputs.json", '{"quantity": 1e400, "price": 1}');
    const words = ["run", "good.json", "--inputs", "inputs.json"];
    const { code, stdout, stderr, document } = await typed(words);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("bad_number at line 1");
    expect(document.error.code).toBe("bad_input");
  });

  it("all problems of the inputs are told at once", async () => {
    const { stderr, document } = await typed(["run", "good.json", "--input", "quantity=x"]);
    expect(stderr).toContain('"price": missing');
    expect(stderr).toContain('"quantity"');
    expect(document.error.problems).toHaveLength(2);
  });
});

describe("other documents that are no good", () => {
  it("a verifier is told with its own file and places", async () => {
    folder.write(
      "wrong.json",
      '{\n "op": "not",\n "value": {"op": "equl", "left": 1, "right": 1}\n}',
    );
    const { code, stdout, document } = await typed([
      "check",
      "good.json",
      "--verifier",
      "wrong.json",
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain("wrong.json:3:");
    expect(stdout).toContain("did you mean equal?");
    expect(document.diagnostics[0]).toMatchObject({ document: "verifier", file: "wrong.json" });
  });

  it("a run without any verifier is not started", async () => {
    mkdirSync(join(folder.path, "alone"));
    folder.write("alone/recipe.json", lineTotal());
    const { code, stderr, document } = await typed([
      "run",
      "alone/recipe.json",
      "--input",
      "quantity=1",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("name it with --verifier");
    expect(document.error.code).toBe("verifier_missing");
  });

  it.each<[string, unknown, string]>([
    ["an array", [], "expected an object"],
    ["an unknown member", { polcy: "" }, 'unknown member "polcy"'],
    ["a digest in capitals", { policy: "A".repeat(64) }, '"policy" must be a digest'],
  ])("an environment: %s", async (_, content, message) => {
    folder.write("environment.json", content);
    const words = ["run", "good.json", "--environment", "environment.json"];
    const { code, stderr, document } = await typed([...words, "--input", "quantity=1"]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(document.error.code).toBe("environment_invalid");
  });

  it("answers are told line by line", async () => {
    folder.write("answers.jsonl", '{"node":"a","answer":1}\n{"node":"a"}\n{\n');
    const words = ["run", "good.json", "--answers", "answers.jsonl", "--input", "quantity=1"];
    const { code, stderr, document } = await typed(words);
    expect(code).toBe(1);
    expect(stderr).toContain("answers.jsonl:2:");
    expect(stderr).toContain("answers.jsonl:3:");
    expect(document.error.problems.map((one: { line: number }) => one.line)).toEqual([2, 3]);
  });

  it("an input that would steer the terminal is shown, not obeyed", async () => {
    const { stderr } = await rote(["run", "good.json", "--input", "\u001b[2J\u202e=1"], {
      cwd: folder.path,
    });
    expect(stderr).not.toContain("\u001b");
    expect(stderr).not.toContain("\u202e");
    expect(stderr).toContain("\\u{1b}[2J\\u{202e}");
  });
});

describe("an output file", () => {
  it("that exists is left as it is, unless --force says otherwise", async () => {
    folder.write("out.mmd", "mine");
    for (const command of ["graph", "bind"]) {
      const { code, stderr, document } = await typed([command, "good.json", "--out", "out.mmd"]);
      expect(code).toBe(1);
      expect(stderr).toContain("out.mmd exists and is left as it is");
      expect(document.error.code).toBe("file_exists");
    }
    const forced = await rote(["graph", "good.json", "--out", "out.mmd", "--force"], {
      cwd: folder.path,
    });
    expect(forced.code).toBe(0);
    expect(folder.read("out.mmd")).toContain("calculate");
  });

  it("in a directory that does not exist is refused", async () => {
    const { code, stderr } = await typed(["graph", "good.json", "--out", "no/such/out.mmd"]);
    expect(code).toBe(1);
    expect(stderr).toContain("the directory does not exist");
  });
});
