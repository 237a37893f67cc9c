import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { type MemoryOptions, ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { readJson } from "../../../src/base/json.ts";
import type { QualifiedProcedure } from "../../../src/memory/index.ts";
import type { Environment } from "../../../src/model/environment.ts";
import { PHASES, type Phase } from "../../../src/model/memory.ts";
import type { Random } from "../../../src/ports/random.ts";
import type { Run } from "../../../src/run/index.ts";
import { FILE } from "../../../src/store/sqlite/schema.ts";
import { childProgram } from "../../support/children.ts";
import { countingRandom } from "../../support/counting-random.ts";
import { ENVIRONMENT, MODELS, recipeOf } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;
const models = MODELS;

/** A model names the kind of a memo; the verifier knows the right one. */
const KIND = recipeOf({ memo: "text", expected: "text" }, [
  { id: "kind", output: "text", step: { kind: "model", prompt: { input: "memo" } } },
  { id: "note", output: "text", step: { kind: "model", prompt: "which note?" } },
  { id: "r", after: ["kind", "note"], step: { kind: "pure", value: { node: "kind" } } },
]);
const AS_EXPECTED = {
  op: "equal",
  left: { input: "context/result" },
  right: { input: "context/inputs/expected" },
};

let root: string;
let directory: string;
const open: ProcedureMemory[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rote-ladder-"));
  directory = join(root, "memory");
});

afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close();
  rmSync(root, { recursive: true, force: true });
});

async function created(options: MemoryOptions = {}): Promise<ProcedureMemory> {
  const memory = await ProcedureMemory.create(directory, options);
  open.push(memory);
  return memory;
}

async function opened(options: MemoryOptions = {}): Promise<ProcedureMemory> {
  const memory = await ProcedureMemory.open(directory, options);
  open.push(memory);
  return memory;
}

function kindProcedure(random: Random = countingRandom()): Procedure {
  return new Procedure(KIND, { verifier: AS_EXPECTED, random });
}

/** Answers every boundary: `kind` and `note`. */
function answered(run: Run, kind: string, note = "n"): Run {
  let state = run.advancePure({ environment });
  while (state === "awaiting_model") {
    const node = run.pendingModel?.node ?? "";
    state = run.advancePure({
      environment,
      model: { node, answer: node === "kind" ? kind : note },
    });
  }
  return run;
}

/** A guided run whose memo differs each time. */
function guided(procedure: Procedure, memo: string, kind = "invoice", note = "n"): Run {
  return answered(procedure.start({ memo, expected: kind }, { environment, models }), kind, note);
}

async function climb(memory: ProcedureMemory, procedure: Procedure, round = "a"): Promise<void> {
  for (const [index, phase] of ([0, 0, 0, 1, 2] as const).entries()) {
    const run = guided(procedure, `${round}${index}`);
    await memory.observe(run, { phase: PHASES[phase] });
  }
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("must be refused");
    },
    (error: unknown) => error,
  );
}

describe("only real runs are evidence", () => {
  it("a claim of any make is refused (B106)", async () => {
    const memory = await created();
    const run = guided(kindProcedure(), "m");
    const claims: readonly unknown[] = [
      { state: "verified", report: run.report, success: true },
      { ...run },
      Object.create(run),
      new Proxy(run, {}),
      run.report,
      null,
      "verified",
    ];
    for (const claim of claims) {
      expect(await refusal(memory.observe(claim as Run, { phase: "training" }))).toMatchObject({
        code: "not_a_run",
      });
      expect(await refusal(memory.signal(claim as Run))).toMatchObject({ code: "not_a_run" });
    }
    expect(await memory.list()).toEqual([]);
  });

  it("a run that was not verified is refused, whatever its result says of itself (B106)", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const start = (expected: string) =>
      procedure.start({ memo: "success: true", expected }, { environment, models });
    const rejected = answered(start("other"), "success");
    const waiting = start("x");
    waiting.advancePure({ environment });
    const cancelled = start("y");
    cancelled.cancel();
    const exhausted = procedure.start(
      { memo: "m", expected: "z" },
      { environment, models, limits: { max_steps: 1 } },
    );
    exhausted.advancePure({ environment });
    const refused = async (run: Run) => [
      run.state,
      ((await refusal(memory.observe(run, { phase: "training" }))) as { code: string }).code,
    ];
    expect(await refused(rejected)).toEqual(["rejected", "run_not_verified"]);
    expect(await refused(waiting)).toEqual(["awaiting_model", "run_not_ended"]);
    expect(await refused(cancelled)).toEqual(["cancelled", "run_not_verified"]);
    expect(await refused(exhausted)).toEqual(["exhausted", "run_not_verified"]);
    expect(await memory.list()).toEqual([]);
  });

  it("a check over nothing is no evidence, nor is one over a bad element (B108)", async () => {
    const memory = await created();
    const findings = new Procedure(
      recipeOf({ findings: { list: "integer" } }, [
        { id: "r", step: { kind: "pure", value: { input: "findings" } } },
      ]),
      {
        verifier: {
          op: "all",
          list: { input: "context/result" },
          as: "finding",
          empty: false,
          where: { op: "greater", left: { item: "finding" }, right: 0 },
        },
      },
    );
    const run = (list: readonly string[]) => {
      const started = findings.start({ findings: list }, { environment });
      started.advancePure({ environment });
      return started;
    };
    for (const list of [[], ["1", "0", "2"]]) {
      expect(await refusal(memory.observe(run(list), { phase: "training" }))).toMatchObject({
        code: "run_not_verified",
        message: expect.stringContaining("verifier_rejected"),
      });
    }
    expect(() => findings.start({}, { environment })).toThrow(
      expect.objectContaining({ code: "bad_input" }),
    );
    expect(await memory.status(findings, { environment })).toMatchObject({
      verdict: "no_evidence",
      phases: { training: { counted: 0, distinct_inputs: 0 } },
    });
    await expect(memory.observe(run(["1"]), { phase: "training" })).resolves.toMatchObject({
      outcome: "counted",
    });
  });

  it("equal inputs are one evidence, however they were written (B107)", async () => {
    const memory = await created();
    const procedure = new Procedure(
      recipeOf({ a: "integer", b: "integer" }, [
        {
          id: "r",
          step: { kind: "pure", value: { op: "add", left: { input: "a" }, right: { input: "b" } } },
        },
      ]),
      { verifier: true },
    );
    const run = (inputs: { readonly [name: string]: string | number }) => {
      const started = procedure.start(inputs, { environment });
      started.advancePure({ environment });
      return started;
    };
    await memory.observe(run({ a: 1, b: 2 }), { phase: "training" });
    for (const same of [
      { b: 2, a: 1 },
      { a: "1", b: "2" },
    ]) {
      expect(await refusal(memory.observe(run(same), { phase: "training" }))).toMatchObject({
        code: "inputs_already_observed",
      });
    }
    expect((await memory.status(procedure, { environment })).phases.training).toMatchObject({
      counted: 1,
      distinct_inputs: 1,
    });
  });

  it("a run of another procedure than the one named is refused by name of what differs", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const run = guided(procedure, "m");
    const named = async (other: Procedure, more: { readonly environment?: Environment } = {}) =>
      (
        (await refusal(memory.observe(run, { phase: "training", procedure: other, ...more }))) as {
          code: string;
        }
      ).code;
    expect(await named(new Procedure(KIND, { verifier: true }))).toBe("other_verifier");
    const longer = recipeOf({ memo: "text", expected: "text" }, [
      { id: "r", step: { kind: "pure", value: { input: "memo" } } },
    ]);
    expect(await named(new Procedure(longer, { verifier: AS_EXPECTED }))).toBe("other_plan");
    expect(await named(procedure, { environment: { ...environment, tools: "9".repeat(64) } })).toBe(
      "other_environment",
    );
    const { environment: _gone, ...unbound } = KIND as { readonly [member: string]: unknown };
    expect(await named(new Procedure(unbound, { verifier: AS_EXPECTED }))).toBe("unbound_plan");
    await expect(memory.observe(run, { phase: "training", procedure })).resolves.toMatchObject({
      outcome: "counted",
    });
  });

  it("a phase that does not exist is refused", async () => {
    const memory = await created();
    const run = guided(kindProcedure(), "m");
    expect(await refusal(memory.observe(run, { phase: "live" as Phase }))).toMatchObject({
      code: "bad_phase",
    });
  });
});

describe.each(["sqlite", "in process"] as const)("the ladder, %s", (kind) => {
  it("five runs qualify; compiled runs use what was learned, and train nothing (B107)", async () => {
    const memory = kind === "sqlite" ? await created() : await ProcedureMemory.inProcess();
    const procedure = kindProcedure();
    expect(await refusal(memory.qualify(procedure, { environment }))).toMatchObject({
      code: "not_qualified",
      data: {
        outcome: "no_evidence",
        missing: [
          "3 more training runs with inputs not observed before (0 of 3)",
          "1 more shadow run with inputs not observed before (0 of 1)",
          "1 more canary run with inputs not observed before (0 of 1)",
        ],
      },
    });
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    expect(qualified).toMatchObject({ clean_runs: 5 });
    expect(qualified.failure_rate_bound).toBeCloseTo(0.4507, 4);
    expect(qualified.learned.map(({ node, answer, varied }) => [node, answer, varied])).toEqual([
      ["kind", "invoice", true],
      ["note", "n", false],
    ]);
    const run = qualified.start(
      { memo: "never seen", expected: "invoice" },
      { environment, models },
    );
    expect(run.mode).toBe("compiled");
    expect(run.advancePure({ environment })).toBe("verified");
    expect(run.result).toBe("invoice");
    expect(run.report).toMatchObject({ learned_model_hits: 2, model_calls: 0 });
    for (const phase of PHASES) {
      expect(await refusal(memory.observe(run, { phase }))).toMatchObject({ code: "compiled_run" });
    }
    expect(await refusal(memory.signal(run))).toMatchObject({ code: "compiled_run" });
    expect((await memory.status(procedure, { environment })).clean_runs).toBe(5);
    await memory.close();
  });

  it("a differing shadow run fails its phase, and the node is asked again in compiled runs", async () => {
    const memory = kind === "sqlite" ? await created() : await ProcedureMemory.inProcess();
    const procedure = kindProcedure();
    for (const memo of ["1", "2", "3"]) {
      await memory.observe(guided(procedure, memo), { phase: "training" });
    }
    await expect(
      memory.observe(guided(procedure, "4", "receipt"), { phase: "shadow" }),
    ).resolves.toMatchObject({
      outcome: "failed",
      agreed: 1,
      mismatches: [{ node: "kind", index: null, kind: "model" }],
    });
    expect(await refusal(memory.qualify(procedure, { environment }))).toMatchObject({
      data: { outcome: "fail" },
    });
    await memory.observe(guided(procedure, "5"), { phase: "shadow" });
    await memory.observe(guided(procedure, "6"), { phase: "canary" });
    const qualified = await memory.qualify(procedure, { environment });
    expect(qualified.learned.map((one) => one.node)).toEqual(["note"]);
    const run = qualified.start({ memo: "7", expected: "letter" }, { environment, models });
    expect(run.advancePure({ environment })).toBe("awaiting_model");
    expect(run.pending.map((one) => one.node)).toEqual(["kind"]);
    await memory.close();
  });
});

describe("a failed verification of a compiled run", () => {
  async function fallen(): Promise<{
    memory: ProcedureMemory;
    qualified: QualifiedProcedure;
    run: Run;
  }> {
    const memory = await created();
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    const run = qualified.start({ memo: "odd", expected: "letter" }, { environment, models });
    expect(run.advancePure({ environment })).toBe("rejected");
    return { memory, qualified, run };
  }

  it("demotes at once and durably, in every handle on the memory", async () => {
    const { qualified, run } = await fallen();
    expect(qualified.stands()).toBe(false);
    expect(() => qualified.start({ memo: "x", expected: "y" }, { environment, models })).toThrow(
      expect.objectContaining({ code: "not_qualified" }),
    );
    const other = await opened();
    const procedure = kindProcedure();
    expect(await other.recall(procedure, { environment })).toBeUndefined();
    expect(await other.status(procedure, { environment })).toMatchObject({
      verdict: "fail",
      qualification: null,
      demotion: {
        qualification: qualified.id,
        cause: "verification_failed",
        reason: "a compiled run ended verifier_rejected",
        run: run.id,
      },
    });
    expect(await refusal(other.qualify(procedure, { environment }))).toMatchObject({
      code: "not_qualified",
      data: { outcome: "fail" },
    });
  });

  it("is final: only fresh runs on new inputs qualify again, under a new id", async () => {
    const { memory, qualified } = await fallen();
    const procedure = kindProcedure({ bytes: (count) => new Uint8Array(count).fill(7) });
    expect(
      await refusal(memory.observe(guided(procedure, "a0"), { phase: "training" })),
    ).toMatchObject({ code: "inputs_already_observed" });
    await climb(memory, kindProcedure(offset(100)), "fresh");
    const again = await memory.qualify(procedure, { environment });
    expect(again.id).not.toBe(qualified.id);
    expect(again.stands()).toBe(true);
    expect(qualified.stands()).toBe(false);
  });

  it("reaches compiled runs that wait, also from another handle", async () => {
    const memory = await created();
    const other = await opened();
    const procedure = kindProcedure();
    for (const [index, phase] of ([0, 0, 0, 1, 2] as const).entries()) {
      const note = `note ${index}`;
      const run = guided(procedure, `m${index}`, "invoice", note);
      await memory.observe(run, { phase: PHASES[phase] });
    }
    const qualified = await memory.qualify(procedure, { environment });
    const waiting = qualified.start({ memo: "w", expected: "invoice" }, { environment, models });
    expect(waiting.advancePure({ environment })).toBe("awaiting_model");
    await other.demote(procedure, { environment, reason: "rounding was changed" });
    expect(waiting.advancePure({ environment, model: { node: "note", answer: "n" } })).toBe(
      "denied",
    );
    expect(waiting.report.reason).toBe("not_qualified");
  });

  it("counts as demoted in this process even when it cannot be written, and says that it was not", async () => {
    const memory = await created({ busyTimeoutMs: 1 });
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    const run = qualified.start({ memo: "odd", expected: "letter" }, { environment, models });
    const writer = new Sqlite(join(directory, FILE));
    writer.exec("BEGIN IMMEDIATE");
    expect(() => run.advancePure({ environment })).toThrow(
      expect.objectContaining({ code: "store_busy" }),
    );
    writer.close();
    expect(run.report).toMatchObject({ state: "rejected", reason: "verifier_rejected" });
    expect(run.result).toBeUndefined();
    expect(qualified.stands()).toBe(false);
    expect(() => qualified.start({ memo: "x", expected: "y" }, { environment, models })).toThrow(
      expect.objectContaining({ code: "not_qualified" }),
    );
  });

  describe("that could not be written", () => {
    async function unwritten() {
      const memory = await created({ busyTimeoutMs: 1 });
      const procedure = kindProcedure();
      await climb(memory, procedure);
      const before = await memory.qualify(procedure, { environment });
      const qualified = await memory.qualify(procedure, { environment });
      const run = qualified.start({ memo: "odd", expected: "letter" }, { environment, models });
      const writer = new Sqlite(join(directory, FILE));
      writer.exec("BEGIN IMMEDIATE");
      expect(() => run.advancePure({ environment })).toThrow(
        expect.objectContaining({ code: "store_busy" }),
      );
      return { memory, procedure, before, qualified, run, writer };
    }

    it("stands for nobody in the process, through no handle, recall or qualify", async () => {
      const { memory, procedure, before, writer } = await unwritten();
      expect(before.stands()).toBe(false);
      expect(await memory.recall(procedure, { environment })).toBeUndefined();
      expect(await memory.status(procedure, { environment })).toMatchObject({
        qualification: null,
      });
      expect(await refusal(memory.qualify(procedure, { environment }))).toMatchObject({
        code: "store_busy",
      });
      const fresh = guided(procedure, "fresh");
      expect(await refusal(memory.observe(fresh, { phase: "training" }))).toMatchObject({
        code: "store_busy",
      });
      writer.close();
    });

    it.each([
      ["recall", ({ memory, procedure }) => memory.recall(procedure, { environment })],
      ["stands", async ({ before }) => before.stands()],
      ["qualify", ({ memory, procedure }) => refusal(memory.qualify(procedure, { environment }))],
      [
        "observe",
        ({ memory, procedure }) =>
          memory.observe(guided(procedure, "fresh"), { phase: "training" }),
      ],
      ["status", ({ memory, procedure }) => memory.status(procedure, { environment })],
      ["close", ({ memory }) => memory.close()],
    ] as const satisfies readonly (readonly [
      string,
      (given: Awaited<ReturnType<typeof unwritten>>) => Promise<unknown>,
    ])[])("is written by the next %s when the store can be written again", async (_, next) => {
      const given = await unwritten();
      given.writer.close();
      await next(given);
      const other = await opened();
      expect(await other.status(given.procedure, { environment })).toMatchObject({
        verdict: "fail",
        qualification: null,
        demotion: { qualification: given.qualified.id, run: given.run.id },
      });
    });

    it("leaves alone what stands in its place by then", async () => {
      const { memory, procedure, qualified, writer } = await unwritten();
      writer.close();
      const other = await opened();
      await other.demote(procedure, { environment, reason: "rounding was changed" });
      await climb(other, kindProcedure(offset(100)), "fresh");
      const again = await other.qualify(procedure, { environment });
      expect(qualified.stands()).toBe(false);
      expect(await memory.recall(procedure, { environment })).toMatchObject({ id: again.id });
      expect(again.stands()).toBe(true);
    });
  });

  it("doubt is no: a closed memory lets no compiled run go on", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    const run = qualified.start({ memo: "m", expected: "invoice" }, { environment, models });
    await memory.close();
    expect(run.advancePure({ environment })).toBe("denied");
    expect(run.report.reason).toBe("not_qualified");
    expect(qualified.stands()).toBe(false);
  });
});

/** Ids that do not meet those of another `countingRandom`. */
function offset(from: number): Random {
  const random = countingRandom();
  return {
    bytes: (count) => {
      const bytes = random.bytes(count);
      bytes[count - 1] = from;
      return bytes;
    },
  };
}

describe("a share of qualified starts may run guided", () => {
  async function qualified(): Promise<{
    memory: ProcedureMemory;
    at: (share: number, draw: number) => Run;
  }> {
    const draws: number[] = [];
    const random: Random = {
      bytes: (count) => {
        const bytes = new Uint8Array(count);
        if (count === 4) new DataView(bytes.buffer).setUint32(0, draws.shift() ?? 0);
        else bytes.set(ids.bytes(count));
        return bytes;
      },
    };
    const ids = offset(200);
    const memory = await created({ random });
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualifiedProcedure = await memory.qualify(procedure, { environment });
    return {
      memory,
      at: (guidedShare, draw) => {
        draws.push(draw);
        const inputs = { memo: `draw ${draw}`, expected: "invoice" };
        return qualifiedProcedure.start(inputs, { environment, models, guidedShare });
      },
    };
  }

  it("drawn before the first node, and no more often than asked", async () => {
    const { at } = await qualified();
    const modes = (share: number) =>
      [0, 0x3fff_ffff, 0x4000_0000, 0xffff_ffff].map((draw) => at(share, draw).mode);
    expect(modes(0)).toEqual(["compiled", "compiled", "compiled", "compiled"]);
    expect(modes(0.25)).toEqual(["guided", "guided", "compiled", "compiled"]);
    expect(modes(1)).toEqual(["guided", "guided", "guided", "guided"]);
  });

  it.each([-0.1, 1.1, Number.NaN])("a share of %d is refused", async (share) => {
    const { at } = await qualified();
    expect(() => at(share, 0)).toThrow(expect.objectContaining({ code: "bad_share" }));
  });

  it("and speaks as a signal: for it when it agrees, against it when it differs", async () => {
    const { memory, at } = await qualified();
    const agreeing = answered(at(1, 1), "invoice");
    expect(agreeing.state).toBe("verified");
    await expect(memory.signal(agreeing)).resolves.toMatchObject({ failed: false });
    expect(await refusal(memory.signal(agreeing))).toMatchObject({ code: "run_already_observed" });
    for (const [draw, demoted] of [
      [2, false],
      [3, true],
    ] as const) {
      const differing = answered(at(1, draw), "invoice", "another note");
      await expect(memory.signal(differing)).resolves.toMatchObject({ failed: true, demoted });
    }
    for (const share of [0, 1]) {
      expect(() => at(share, 4)).toThrow(expect.objectContaining({ code: "not_qualified" }));
    }
  });
});

describe("any change of digest invalidates", () => {
  const named = async (
    memory: ProcedureMemory,
    recipe: unknown,
    verifier: unknown = AS_EXPECTED,
  ) => {
    const procedure = new Procedure(recipe, { verifier });
    return refusal(
      memory.qualify(procedure, { environment: procedure.plan.environment ?? environment }),
    );
  };
  const recipe = KIND as { readonly inputs: object; readonly nodes: readonly object[] };

  it.each([
    ["a renamed slot", { ...recipe, inputs: { memo_text: "text", expected: "text" } }],
    ["an added slot", { ...recipe, inputs: { ...recipe.inputs, more: "integer" } }],
    ["a slot of another type", { ...recipe, inputs: { memo: { enum: ["a"] }, expected: "text" } }],
  ])("%s: the error names the plan (B069)", async (name, changed) => {
    const memory = await created();
    await climb(memory, kindProcedure());
    await memory.qualify(kindProcedure(), { environment });
    const text = JSON.stringify(changed);
    const fitting =
      name === "a renamed slot" ? text.replace('{"input":"memo"}', '{"input":"memo_text"}') : text;
    const error = await named(memory, fitting);
    expect(error).toMatchObject({ code: "not_qualified", data: { outcome: "no_evidence" } });
    expect(String(error)).toMatch(
      /does not apply here: plan was sha256:[0-9a-f]{12}… and is sha256:/,
    );
  });

  it("a changed verifier, named", async () => {
    const memory = await created();
    await climb(memory, kindProcedure());
    expect(String(await named(memory, KIND, true))).toMatch(/: verifier was sha256:/);
  });

  it("a changed environment, with the parts that differ", async () => {
    const memory = await created();
    await climb(memory, kindProcedure());
    const changed = { ...environment, tools: "9".repeat(64), evidence: "8".repeat(64) };
    const error = await named(memory, { ...recipe, environment: changed });
    expect(String(error)).toMatch(/environment \(tools, evidence\) was sha256:/);
  });

  it("order of keys, whitespace and sharing change nothing, in this process or another (B069, B072)", async () => {
    const memory = await created();
    await climb(memory, kindProcedure());
    const { id } = await memory.qualify(kindProcedure(), { environment });
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member)]),
      );
    };
    const once = readJson(JSON.stringify(KIND));
    if (!once.ok) throw new Error(once.error.message);
    const texts = [
      JSON.stringify(shuffled(KIND)),
      JSON.stringify(KIND, null, 4),
      shuffled(shuffled(KIND)),
      once.value,
      new TextEncoder().encode(JSON.stringify(KIND)),
    ];
    for (const text of texts) {
      const procedure = new Procedure(text, { verifier: AS_EXPECTED });
      expect((await memory.qualify(procedure, { environment })).id).toBe(id);
    }
    const [summary] = await memory.list();
    await memory.close();
    const child = spawnSync(process.execPath, [childProgram("digest")], {
      input: JSON.stringify({ recipe: shuffled(KIND), verifier: AS_EXPECTED, directory }),
      encoding: "utf8",
    });
    expect(JSON.parse(child.stdout)).toEqual({
      plan: summary?.plan,
      verifier: summary?.verifier,
      environment: summary?.environment,
      qualification: id,
    });
  });
});

describe("what a memory is asked and told", () => {
  it("look-up is exact; a similar task is only suggested", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await memory.observe(guided(procedure, "m"), { phase: "training" });
    const { procedures } = await memory.lookUp({ task: "case" });
    expect(procedures).toMatchObject([{ task: "case", observations: 1, qualification: null }]);
    const [found] = procedures;
    if (found === undefined) throw new Error("not found");
    expect(await memory.lookUp(found)).toEqual({ procedures, suggestion: null });
    expect(await memory.lookUp({ task: "cases" })).toEqual({ procedures: [], suggestion: "case" });
    expect(await memory.list()).toEqual(procedures);
    expect(await memory.list({ limit: 0 })).toEqual([]);
    expect(await refusal(memory.list({ limit: -1 }))).toMatchObject({ code: "bad_limits" });
  });

  it("recall gives what stands and judges nothing", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await climb(memory, procedure);
    expect(await memory.recall(procedure, { environment })).toBeUndefined();
    const qualified = await memory.qualify(procedure, { environment });
    const recalled = await memory.recall(procedure, { environment });
    expect(recalled?.id).toBe(qualified.id);
    expect(recalled?.learned).toEqual(qualified.learned);
  });

  it("a host may ask for more at opening and at each call, never for less", async () => {
    expect(
      await refusal(ProcedureMemory.create(directory, { requirement: { training: 2 } })),
    ).toMatchObject({ code: "bad_requirement" });
    const memory = await created({ requirement: { training: 4 } });
    const procedure = kindProcedure();
    for (const memo of ["1", "2", "3"]) {
      await memory.observe(guided(procedure, memo), { phase: "training" });
    }
    expect(
      await refusal(memory.observe(guided(procedure, "4"), { phase: "shadow" })),
    ).toMatchObject({
      code: "phase_out_of_order",
    });
    expect(
      await refusal(memory.status(procedure, { environment, requirement: { training: 3 } })),
    ).toMatchObject({ code: "bad_requirement" });
    const asked = { environment, requirement: { canary: 2 } };
    expect((await memory.status(procedure, asked)).missing).toEqual([
      "1 more training run with inputs not observed before (3 of 4)",
      "1 more shadow run with inputs not observed before (0 of 1)",
      "2 more canary runs with inputs not observed before (0 of 2)",
    ]);
  });

  it("demoting by hand needs a reason and something that stands", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    expect(await refusal(memory.demote(procedure, { environment, reason: "r" }))).toMatchObject({
      code: "not_qualified",
    });
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    for (const reason of ["", "  ", "x".repeat(501), "\ud800", undefined as unknown as string]) {
      expect(await refusal(memory.demote(procedure, { environment, reason }))).toMatchObject({
        code: "bad_reason",
      });
    }
    expect(qualified.stands()).toBe(true);
    await memory.demote(procedure, { environment, reason: "rounding was changed" });
    expect(qualified.stands()).toBe(false);
  });

  it("what the host reports feeds the same test as signals", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const report = { procedure, environment, failed: true, reason: "a guard refused" };
    expect(await refusal(memory.report(report))).toMatchObject({ code: "not_qualified" });
    await climb(memory, procedure);
    await memory.qualify(procedure, { environment });
    await expect(memory.report(report)).resolves.toMatchObject({ demoted: false });
    await expect(memory.report(report)).resolves.toMatchObject({ demoted: true });
  });

  it("forgetting starts from nothing", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    await expect(memory.forget(procedure, { environment })).resolves.toEqual({
      observations: 5,
      signals: 0,
      demotions: 0,
      qualified: true,
    });
    expect(qualified.stands()).toBe(false);
    await expect(memory.forget(procedure, { environment })).resolves.toBeUndefined();
    await memory.observe(guided(procedure, "a0"), { phase: "training" });
    const [summary] = await memory.list();
    if (summary === undefined) throw new Error("nothing kept");
    await expect(memory.forgetKey(summary)).resolves.toMatchObject({ observations: 1 });
  });

  it("limits have to be whole numbers over 0", async () => {
    for (const limits of [{ rows: 0 }, { bytes: 1.5 }, { rows: Number.POSITIVE_INFINITY }]) {
      expect(await refusal(ProcedureMemory.inProcess({ limits }))).toMatchObject({
        code: "bad_limits",
      });
    }
  });

  it("an unbound recipe can be remembered nowhere", async () => {
    const memory = await created();
    const { environment: _gone, ...unbound } = KIND as { readonly [member: string]: unknown };
    const procedure = new Procedure(unbound, { verifier: AS_EXPECTED });
    for (const call of [
      memory.status(procedure, { environment }),
      memory.qualify(procedure, { environment }),
      memory.forget(procedure, { environment }),
    ]) {
      expect(await refusal(call)).toMatchObject({ code: "unbound_plan" });
    }
  });

  it("after closing every call is refused, and closing again is not", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const run = guided(procedure, "m");
    await memory.close();
    await memory.close();
    for (const call of [
      memory.observe(run, { phase: "training" }),
      memory.qualify(procedure, { environment }),
      memory.status(procedure, { environment }),
      memory.recall(procedure, { environment }),
      memory.list(),
      memory.lookUp({ task: "case" }),
      memory.signal(run),
      memory.demote(procedure, { environment, reason: "r" }),
      memory.forget(procedure, { environment }),
    ]) {
      expect(await refusal(call)).toMatchObject({ code: "memory_closed" });
    }
  });

  it("the native module is loaded when a memory is first opened, and not before", () => {
    const index = JSON.stringify(
      new URL("../../../src/app/procedure-memory.ts", import.meta.url).href,
    );
    const script = `
      const loaded = () => process.report.getReport().sharedObjects.some((one) => one.includes("better_sqlite3"));
      const { ProcedureMemory } = await import(${index});
      const memory = await ProcedureMemory.inProcess();
      await memory.close();
      const before = loaded();
      await (await ProcedureMemory.create(${JSON.stringify(directory)})).close();
      console.log(JSON.stringify([before, loaded()]));
    `;
    const child = spawnSync(
      process.execPath,
      ["--import", tsx(), "--input-type=module", "--eval", script],
      { encoding: "utf8" },
    );
    expect(child.stderr).toBe("");
    expect(JSON.parse(child.stdout)).toEqual([false, true]);
  });
});

function tsx(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
}
