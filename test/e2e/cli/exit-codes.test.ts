import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Folder, LINE_TOTAL_VERIFIER, lineTotal, rote } from "./rote.ts";

let folder: Folder;
beforeAll(async () => {
  folder = new Folder();
  folder.write("verifier.json", LINE_TOTAL_VERIFIER);
  folder.write("no.json", { op: "equal", left: { input: "context/result" }, right: -1 });
  folder.write("yes.json", true);
  folder.write("verified.json", lineTotal());
  folder.write("verify-failed.json", ending({ kind: "verify", condition: false, value: 1 }));
  const policy = { kind: "policy", condition: false, message: "not on a Sunday" };
  folder.write("precondition.json", {
    ...ending({ kind: "verify", condition: true, value: 1 }, ["sunday"]),
    nodes: [
      { id: "sunday", step: policy },
      { id: "end", after: ["sunday"], step: { kind: "verify", condition: true, value: 1 } },
    ],
  });
  const zero = { op: "divide", left: 1, right: { input: "price" }, rounding: "floor" };
  folder.write("expression.json", ending({ kind: "pure", value: zero }));
  const huge = { op: "power", base: 2, exponent: { input: "quantity" } };
  folder.write("limit.json", ending({ kind: "pure", value: huge }));
  folder.write("model.json", {
    ...ending({ kind: "model", prompt: { input: "quantity" }, instructions: "Say yes or no." }),
    nodes: [
      {
        id: "end",
        output: "boolean",
        step: { kind: "model", prompt: { input: "quantity" }, instructions: "Say yes or no." },
      },
    ],
  });
  folder.write("answers.jsonl", '{"node":"end","answer":true}\n');
  folder.write("wrong-answers.jsonl", '{"node":"end","answer":"perhaps"}\n');
  folder.write("other-answers.jsonl", '{"node":"end","prompt":"9","answer":true}\n');
  folder.write("environment.json", {
    policy: "1".repeat(64),
    tools: "2".repeat(64),
    credentials: "3".repeat(64),
    evidence: "4".repeat(64),
    host_configuration: null,
  });
  folder.write("effect.json", {
    ...lineTotal(),
    terminal: "sent",
    nodes: [
      { id: "ready", step: { kind: "verify", condition: true, value: true } },
      {
        id: "sent",
        after: ["ready"],
        output: "text",
        step: { kind: "effect", tool: "mail", arguments: { op: "record", fields: {} } },
      },
    ],
  });
  folder.write("before.json", { version: 1, id: "both", before_effect: true, result: true });
  const setting = { cwd: folder.path };
  await rote(["bind", "verified.json", "--out", "bound.json"], setting);
  const one = ["--input", "quantity=1", "--input", "price=1"];
  const observed = ["--memory", "memory", "--phase", "training"];
  await rote(["run", "verified.json", ...one, ...observed], setting);
});
afterAll(() => folder.remove());

function ending(step: unknown, after: readonly string[] = []) {
  const node = { id: "end", ...(after.length === 0 ? {} : { after }), step };
  return { ...lineTotal(), terminal: "end", nodes: [node] };
}

async function run(words: readonly string[]) {
  const all = ["run", ...words, "--input", "quantity=9000", "--input", "price=0"];
  const [plain, json] = await Promise.all([
    rote(all, { cwd: folder.path }),
    rote([...all, "--json"], { cwd: folder.path }),
  ]);
  return { plain, json, document: JSON.parse(json.stdout) };
}

describe("the exit code follows from the state of the run, with and without --json (B038)", () => {
  it.each<[string, readonly string[], number, string | null, string]>([
    ["verified", ["verified.json"], 0, "verified", "completed"],
    ["a check of the recipe fails", ["verify-failed.json"], 3, "rejected", "verify_failed"],
    [
      "the verifier says no",
      ["verified.json", "--verifier", "no.json"],
      3,
      "rejected",
      "verifier_rejected",
    ],
    ["a precondition fails", ["precondition.json"], 3, "rejected", "precondition_failed"],
    ["an expression has no value", ["expression.json"], 6, "failed", "expression_error"],
    ["a limit is reached", ["limit.json"], 5, "exhausted", "expression_limit"],
    ["nobody answers", ["model.json"], 8, "awaiting_model", ""],
    [
      "no line answers",
      ["model.json", "--answers", "other-answers.jsonl"],
      8,
      "awaiting_model",
      "",
    ],
  ])("%s", async (_, words, code, state, reason) => {
    const verifier = words.includes("--verifier") ? [] : ["--verifier", "verifier.json"];
    const rule = words[0] === "verified.json" ? verifier : ["--verifier", "yes.json"];
    const { plain, json, document } = await run(
      words.includes("--verifier") ? words : [...words, ...rule],
    );
    expect(plain.code).toBe(code);
    expect(json.code).toBe(code);
    expect(json.stderr).toBe("");
    expect(document).toMatchObject({ command: "run", exit_code: code, state });
    expect(document.reason ?? "").toBe(reason);
    expect(plain.stdout).toContain(`state   ${state}`);
    expect("result" in document).toBe(state === "verified");
  });

  it.each<[string, readonly string[], number, string]>([
    [
      "a recipe bound to another environment",
      ["bound.json", "--verifier", "yes.json", "--environment", "environment.json"],
      4,
      "environment_changed",
    ],
    [
      "compiled without a qualification",
      ["verified.json", "--mode", "compiled", "--memory", "memory"],
      4,
      "not_qualified",
    ],
    ["compiled without a memory", ["verified.json", "--mode", "compiled"], 2, "bad_usage"],
    [
      "a phase for a compiled run",
      ["verified.json", "--mode", "compiled", "--memory", "memory", "--phase", "canary"],
      2,
      "bad_usage",
    ],
    ["a phase without a memory", ["verified.json", "--phase", "training"], 2, "bad_usage"],
    ["inputs given in two ways", ["verified.json", "--inputs", "x.json"], 2, "bad_usage"],
    ["a memory that is not there", ["verified.json", "--memory", "none"], 1, "store_missing"],
    ["an effect without a host", ["effect.json", "--verifier", "before.json"], 1, "host_required"],
  ])("nothing is started: %s", async (_, words, code, error) => {
    const before = folder.listing();
    const { plain, json, document } = await run(words);
    expect(folder.listing()).toEqual(before);
    expect([plain.code, json.code]).toEqual([code, code]);
    expect([plain.stdout, json.stderr]).toEqual(["", ""]);
    expect(document).toMatchObject({ exit_code: code, error: { code: error } });
    expect(plain.stderr).toMatch(/^error: /);
  });

  it("a wrong answer leaves the run waiting, and the answers file is the problem", async () => {
    const words = ["model.json", "--verifier", "yes.json", "--answers", "wrong-answers.jsonl"];
    const { plain, document } = await run(words);
    expect(plain.code).toBe(1);
    expect(document).toMatchObject({
      exit_code: 1,
      state: "awaiting_model",
      error: { code: "invalid_model_answer" },
    });
  });

  it("a waiting run prints what is asked, and a script answers it", async () => {
    const waiting = await run(["model.json", "--verifier", "yes.json"]);
    expect(waiting.plain.stdout).toContain("asks    node end, role default");
    expect(waiting.plain.stdout).toContain("Say yes or no.");
    expect(waiting.plain.stdout).toContain('prompt  "9000"');
    expect(waiting.document.pending).toEqual([
      {
        node: "end",
        index: null,
        role: "default",
        instructions: "Say yes or no.",
        prompt: "9000",
        answer_type: "boolean",
      },
    ]);
    const words = ["model.json", "--verifier", "yes.json", "--answers", "answers.jsonl"];
    const answered = await run(words);
    expect(answered.document).toMatchObject({
      exit_code: 0,
      result: true,
      report: { model_calls: 1, tokens: { input: "unknown", output: "unknown" } },
    });
  });

  it("over many lines it is that of the worst, and every line has its own", async () => {
    folder.write(
      "inputs.jsonl",
      '{"quantity":1,"price":1}\n{"quantity":1,"price":0}\n{"quantity":1}\n',
    );
    const words = ["run", "expression.json", "--verifier", "yes.json", "--inputs", "inputs.jsonl"];
    const { code, stdout, stderr } = await rote([...words, "--json"], { cwd: folder.path });
    expect([code, stderr]).toEqual([6, ""]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.exit_code)).toEqual([0, 6, 1, 6]);
    expect(lines.at(-1).summary.states).toHaveLength(3);
  });
});
