import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Folder, LINE_TOTAL_VERIFIER, lineTotal, rote } from "./rote.ts";

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
  folder.write("verifier.json", LINE_TOTAL_VERIFIER);
  folder.write("recipe.json", lineTotal());
  folder.write(
    "inputs.jsonl",
    [1, 2, 3, 4].map((quantity) => JSON.stringify({ quantity, price: 1200 })).join("\n"),
  );
});
afterEach(() => folder.remove());

const type = async (...words: readonly string[]) => await rote(words, { cwd: folder.path });
async function json(...words: readonly string[]) {
  const { code, stdout, stderr } = await type(...words, "--json");
  expect(stderr).toBe("");
  const document = JSON.parse(stdout);
  expect(document.exit_code).toBe(code);
  return document;
}

describe("rote check", () => {
  it("tells plan, kinds, inputs and whether the recipe is bound", async () => {
    const { recipe, verifier, diagnostics } = await json("check", "recipe.json");
    expect(recipe).toMatchObject({
      id: "line-total",
      plan: null,
      bound: false,
      needs_host: false,
      nodes: 3,
      kinds: { pure: 2, verify: 1 },
      inputs: { price: "integer", quantity: "integer" },
      result: "integer",
    });
    expect(verifier.verifier).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(diagnostics).toEqual([]);
    await type("bind", "recipe.json", "--out", "bound.json");
    const bound = await json("check", "bound.json");
    expect(bound.recipe).toMatchObject({ bound: true });
    expect(bound.recipe.plan).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("without a verifier says that none was checked", async () => {
    folder.write("alone/recipe.json", lineTotal());
    const { code, stdout } = await type("check", "alone/recipe.json");
    expect(code).toBe(0);
    expect(stdout).toContain("no verifier was checked");
  });

  it("--score says how many wrong results the verifier catches, and lists what it accepts", async () => {
    const strong = await json("check", "recipe.json", "--score", "--inputs", "inputs.jsonl");
    expect(strong.score).toEqual({ samples: 4, possible: 8, tried: 8, caught: 8, survivors: [] });

    const weak = { op: "greater", left: { input: "context/result" }, right: 1200 };
    folder.write("weak.json", { op: "or", values: [LINE_TOTAL_VERIFIER, weak] });
    const words = ["check", "recipe.json", "--verifier", "weak.json", "--score"];
    const { score } = await json(...words, "--inputs", "inputs.jsonl");
    // 1200 may only become 1201; the three larger results may move both ways.
    expect(score).toMatchObject({ tried: 8, caught: 1 });
    expect(score.survivors).toEqual([
      { place: "", change: "plus one", tried: 4, accepted: 4, example: { sample: 0, pointer: "" } },
      {
        place: "",
        change: "minus one",
        tried: 4,
        accepted: 3,
        example: { sample: 1, pointer: "" },
      },
    ]);
    const { stdout } = await type(...words, "--inputs", "inputs.jsonl");
    expect(stdout).toContain("score   12.5 % caught: 1 of 8 altered results, from 4 samples");
    expect(stdout).toContain("The verifier accepts these wrong results:");
  });

  it("--score says so when a sample is not verified", async () => {
    folder.write("no.json", false);
    const words = ["check", "recipe.json", "--verifier", "no.json", "--score"];
    const { code, stdout } = await type(...words, "--inputs", "inputs.jsonl");
    expect(code).toBe(3);
    expect(stdout).toContain("no score, since sample inputs.jsonl:1 ended rejected");
  });

  it("--score without samples is a mistake of the command line", async () => {
    expect((await type("check", "recipe.json", "--score")).code).toBe(2);
  });
});

describe("rote graph", () => {
  it.each([
    ["mermaid", /^(flowchart|graph) /m],
    ["dot", /^digraph /m],
    ["svg", /<svg[\s>]/],
  ])("draws %s", async (format, start) => {
    const { code, stdout } = await type("graph", "recipe.json", "--format", format);
    expect(code).toBe(0);
    expect(stdout).toMatch(start);
    for (const id of ["calculate", "duplicate", "result"]) expect(stdout).toContain(id);
    await type("graph", "recipe.json", "--format", format, "--out", "drawing");
    expect(folder.read("drawing")).toBe(stdout);
  });
});

describe("rote bind", () => {
  it("fills in digests of empty documents, and --check says whether that is still so", async () => {
    const unbound = await type("bind", "recipe.json", "--check");
    expect(unbound.code).toBe(4);
    const { stdout } = await type("bind", "recipe.json");
    folder.write("bound.json", stdout);
    expect(JSON.parse(stdout).environment).toMatchObject({ host_configuration: null });
    expect((await type("bind", "bound.json", "--check")).code).toBe(0);
    const other = JSON.parse(stdout);
    other.environment.tools = "0".repeat(64);
    folder.write("other.json", other);
    const changed = await json("bind", "other.json", "--check");
    expect(changed).toMatchObject({ exit_code: 4, bound: false, changed: ["tools"] });
  });
});

describe("the ladder, as typed", () => {
  const input = (quantity: number) => ["--input", `quantity=${quantity}`, "--input", "price=1200"];
  const memory = ["--memory", "memory"];

  it("guided runs, what is missing, qualification, compiled runs, demotion, forgetting", async () => {
    const observed = (quantity: number, phase: string) =>
      json("run", "recipe.json", ...input(quantity), ...memory, "--phase", phase);
    const qualify = () => json("memory", "qualify", "memory", "recipe.json");

    for (const quantity of [1, 2, 3]) {
      expect(await observed(quantity, "training")).toMatchObject({
        exit_code: 0,
        mode: "guided",
        observation: { phase: "training", outcome: "counted" },
      });
    }
    const early = await qualify();
    expect(early).toMatchObject({ exit_code: 4, qualification: null });
    expect(early.status.missing).toHaveLength(2);

    // The same inputs again: the run is verified, but what was asked (to observe it) was not done.
    expect(await observed(3, "training")).toMatchObject({
      exit_code: 1,
      state: "verified",
      error: { code: "inputs_already_observed" },
    });
    await observed(4, "shadow");
    await observed(5, "canary");

    const waiting = await json("run", "recipe.json", ...input(6), ...memory);
    expect(waiting).toMatchObject({ exit_code: 0, mode: "guided" });
    expect(waiting.why).toContain("nobody has qualified it");

    expect(await qualify()).toMatchObject({ exit_code: 0, qualification: { clean_runs: 5 } });
    const compiled = await json("run", "recipe.json", ...input(6), ...memory);
    expect(compiled).toMatchObject({
      exit_code: 0,
      mode: "compiled",
      result: "7200",
      report: { independently_verified: true, reused_pure_nodes: 1, model_calls: 0 },
    });
    expect(
      await json("run", "recipe.json", ...input(6), ...memory, "--mode", "guided"),
    ).toMatchObject({
      mode: "guided",
      report: { reused_pure_nodes: 0 },
    });

    const lines = await type("run", "recipe.json", "--inputs", "inputs.jsonl", ...memory);
    expect(lines.stdout).toMatch(/^verified +completed +4 +4 +0 +0$/m);

    const listed = await json("memory", "status", "memory");
    expect(listed.procedures).toHaveLength(1);
    expect(listed.procedures[0]).toMatchObject({ task: "line-total", observations: 5 });
    const status = await type("memory", "status", "memory", "recipe.json");
    expect(status.stdout).toContain("verdict    pass");
    expect(status.stdout).toContain("with 95 % confidence it fails in less than 45.1 % of runs");

    const reason = ["--reason", "the rounding was changed"];
    expect((await type("memory", "demote", "memory", "recipe.json", ...reason)).code).toBe(0);
    const demoted = await json("run", "recipe.json", ...input(6), ...memory);
    expect(demoted.mode).toBe("guided");
    expect(demoted.why).toContain("the rounding was changed");
    const insisting = await json(
      "run",
      "recipe.json",
      ...input(6),
      ...memory,
      "--mode",
      "compiled",
    );
    expect(insisting).toMatchObject({ exit_code: 4, error: { code: "not_qualified" } });

    expect((await type("memory", "forget", "memory", "recipe.json")).code).toBe(2);
    expect((await type("memory", "forget", "memory", "recipe.json", "--yes")).code).toBe(0);
    expect((await json("memory", "status", "memory")).procedures).toEqual([]);
    const again = await json("memory", "forget", "memory", "recipe.json", "--yes");
    expect(again).toMatchObject({ exit_code: 1, error: { code: "nothing_kept" } });
  });

  it("a compiled run that its verifier refuses ends the qualification; the next lines ask again", async () => {
    folder.write("grade.json", {
      version: 1,
      id: "grade",
      inputs: { amount: "integer", truth: "text" },
      terminal: "grade",
      nodes: [
        {
          id: "grade",
          output: "text",
          step: { kind: "model", prompt: { input: "amount" } },
        },
      ],
    });
    folder.write("truth.json", {
      op: "equal",
      left: { input: "context/result" },
      right: { input: "context/inputs/truth" },
    });
    const low = (amount: number) => JSON.stringify({ amount, truth: "low" });
    const high = (amount: number) => JSON.stringify({ amount, truth: "high" });
    const answers = [1, 2, 3, 4, 5].map((amount) => ({
      node: "grade",
      prompt: `${amount}`,
      answer: "low",
    }));
    const asked = [...answers, { node: "grade", answer: "high" }];
    folder.write("answers.jsonl", asked.map((line) => JSON.stringify(line)).join("\n"));
    folder.write("training.jsonl", [1, 2, 3].map(low).join("\n"));
    folder.write("shadow.jsonl", low(4));
    folder.write("canary.jsonl", low(5));
    folder.write("later.jsonl", [low(6), high(7), high(8)].join("\n"));
    const rule = ["--verifier", "truth.json"];
    const run = ["run", "grade.json", ...rule, ...memory, "--answers", "answers.jsonl"];
    for (const phase of ["training", "shadow", "canary"]) {
      const { code } = await type(...run, "--phase", phase, "--inputs", `${phase}.jsonl`);
      expect(code).toBe(0);
    }
    expect((await type("memory", "qualify", "memory", "grade.json", ...rule)).code).toBe(0);

    const { code, stdout } = await type(...run, "--inputs", "later.jsonl", "--json");
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const told = ["mode", "state", "learned_model_hits", "model_calls"] as const;
    expect(lines.slice(0, 3).map((line) => told.map((name) => line[name]))).toEqual([
      ["compiled", "verified", 1, 0],
      ["compiled", "rejected", 1, 0],
      ["guided", "verified", 0, 1],
    ]);
    expect(code).toBe(3);
    const status = await json("memory", "status", "memory", "grade.json", ...rule);
    expect(status.status).toMatchObject({
      qualification: null,
      demotion: { cause: "verification_failed" },
    });
  });

  it("learned answers belong to the model that gave them", async () => {
    const cwd = folder.path;
    await rote(["demo", "--out", "shown"], { cwd });
    const words = ["run", "shown/expense-posting/recipe.json", "--memory", "shown/memory"];
    const inputs = ["--inputs", "first.json"];
    folder.write("first.json", folder.read("shown/expense-posting/later.jsonl").split("\n")[0]);
    const nobody = await json(...words, ...inputs);
    expect(nobody).toMatchObject({ exit_code: 8, mode: "compiled", state: "awaiting_model" });
    const same = await json(...words, ...inputs, "--model", "scripted:answers.jsonl");
    expect(same).toMatchObject({ exit_code: 0, report: { learned_model_hits: 1, model_calls: 0 } });
    const other = await json(...words, ...inputs, "--model", "scripted:others.jsonl");
    expect(other).toMatchObject({ exit_code: 8, report: { learned_model_hits: 0 } });
  });

  it("a run that waits, or that its verifier refuses, teaches nothing", async () => {
    folder.write("no.json", false);
    const words = ["run", "recipe.json", "--verifier", "no.json", ...input(1), ...memory];
    const refused = await json(...words, "--phase", "training");
    expect(refused).toMatchObject({ exit_code: 3, state: "rejected" });
    expect(refused).not.toHaveProperty("observation");
    expect((await json("memory", "status", "memory")).procedures).toEqual([]);
  });
});

describe("rote doctor", () => {
  it("finds the machine fit, and a memory that others may read unfit", async () => {
    const fit = await json("doctor");
    expect(fit.checks.map((check: { name: string }) => check.name)).toEqual([
      ...["node", "sqlite", "durability", "disk", "clock", "drawing"],
    ]);
    for (const check of fit.checks) expect(check.status).not.toBe("fail");

    const one = ["--input", "quantity=1", "--input", "price=1"];
    await type("run", "recipe.json", ...one, "--memory", "memory", "--phase", "training");
    const before = folder.listing();
    const good = await json("doctor", "memory");
    expect(good.checks.at(-1)).toMatchObject({ name: "memory", status: "ok" });
    expect(folder.listing()).toEqual(before);

    const [file = ""] = readdirSync(join(folder.path, "memory"));
    chmodSync(join(folder.path, "memory", file), 0o644);
    const open = await type("doctor", "memory");
    expect(open.code).toBe(1);
    expect(open.stdout).toContain("has mode 0644");
    expect(open.stdout).toContain("hint: chmod -R go= memory");
    expect((await type("doctor", "none")).code).toBe(1);
  });
});

describe("rote completions", () => {
  const complete = (script: string, line: string): readonly string[] => {
    const words = line.split(" ");
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _rote; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", `${script}\n${ask}`], {
      cwd: folder.path,
      encoding: "utf8",
      // A language that is not installed is worth a warning to bash.
      env: { ...process.env, LC_ALL: "C" },
    });
    expect(stderr).toBe("");
    return stdout
      .split("\n")
      .filter((word) => word !== "")
      .sort();
  };

  it("in bash complete commands, inner commands, options, choices and files", async () => {
    const { stdout: script } = await type("completions", "bash");
    expect(complete(script, "rote ch")).toEqual(["check"]);
    expect(complete(script, "rote memory ")).toEqual([
      "--help",
      "demote",
      "forget",
      "observe",
      "qualify",
      "status",
    ]);
    expect(complete(script, "rote memory forget --y")).toEqual(["--yes"]);
    expect(complete(script, "rote run recipe.json --mo")).toEqual(["--mode", "--model"]);
    expect(complete(script, "rote run recipe.json --mode ")).toEqual(["compiled", "guided"]);
    expect(complete(script, "rote check rec")).toEqual(["recipe.json"]);
    expect(complete(script, "rote graph recipe.json --format s")).toEqual(["svg"]);
  });
});
