import { describe, expect, it } from "vitest";
import { keyOfRun, observe } from "../../../src/memory/observe.ts";
import { qualify } from "../../../src/memory/qualify.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  LEAST_REQUIREMENT,
  OBSERVATION_REFUSALS,
  type Phase,
  type ProcedureKey,
} from "../../../src/model/memory.ts";
import type { RunEvidence } from "../../../src/model/run.ts";
import { STOP_REASONS, type StopReason, stateOf } from "../../../src/model/stop.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { memoryProcedures } from "../../../src/store/memory/procedures.ts";
import { digest, evidence, exchange, KEY, plainRecord } from "../../support/memory-evidence.ts";

function fresh(): ProcedureStore {
  return memoryProcedures(DEFAULT_MEMORY_LIMITS);
}

function observed(
  store: ProcedureStore,
  phase: Phase,
  given: RunEvidence,
  expected?: ProcedureKey,
) {
  return observe(store, given, {
    phase,
    requirement: LEAST_REQUIREMENT,
    nowMs: 1,
    ...(expected === undefined ? {} : { expected }),
  });
}

/** Three training runs; with `more`, also the same members in each. */
function trained(more: (index: number) => Partial<RunEvidence> = () => ({})): ProcedureStore {
  const store = fresh();
  for (const index of [1, 2, 3]) {
    expect(observed(store, "training", evidence(`t${index}`, more(index)))).toMatchObject({
      ok: true,
      value: { outcome: "counted" },
    });
  }
  return store;
}

const counted = (store: ProcedureStore) => store.read(KEY)?.observations.length ?? 0;

describe("observing refuses what is no evidence", () => {
  const endings = Object.values(STOP_REASONS)
    .flat()
    .filter((reason) => reason !== "completed");

  it.each(endings)("a run that ended %s (B106)", (reason: StopReason) => {
    const store = fresh();
    const state = stateOf(reason);
    const run = evidence("a", { state, reason, independentlyVerified: false });
    const refused = observed(store, "training", run);
    expect(refused).toMatchObject({ ok: false, error: { code: "run_not_verified" } });
    expect(refused).toMatchObject({ error: { message: expect.stringContaining(reason) } });
    expect(store.list(1)).toEqual([]);
  });

  it.each(["ready", "running", "awaiting_model", "awaiting_approval"] as const)(
    "a run that is still %s (B106)",
    (state) => {
      const run = evidence("a", { state, reason: null, independentlyVerified: false });
      expect(observed(fresh(), "training", run)).toMatchObject({
        error: { code: "run_not_ended", message: expect.stringContaining(state) },
      });
    },
  );

  it("a verified run that no verifier from outside judged", () => {
    const run = evidence("a", { independentlyVerified: false });
    expect(observed(fresh(), "training", run)).toMatchObject({
      error: { code: "run_not_independently_verified" },
    });
  });

  it("a compiled run, in every phase (B107)", () => {
    for (const phase of ["training", "shadow", "canary"] as const) {
      const run = evidence("a", { mode: "compiled" });
      expect(observed(fresh(), phase, run)).toMatchObject({
        error: {
          code: "compiled_run",
          message: expect.stringContaining("it used what was learned"),
        },
      });
    }
  });

  it("a run that took a learned answer, whatever it calls itself", () => {
    const models = [{ ...exchange("n", "p", 1), source: "learned" as const }];
    expect(observed(fresh(), "training", evidence("a", { models }))).toMatchObject({
      error: { code: "compiled_run" },
    });
  });

  it.each([
    ["other_plan", { plan: digest("other") }],
    ["other_verifier", { verifier: digest("other") }],
    ["other_environment", { environment: digest("other") }],
    ["other_semantics", { semantics: 2 }],
  ] as const)("a run of another procedure than the one named: %s", (code, other) => {
    const store = fresh();
    expect(observed(store, "training", evidence("a", other), KEY)).toMatchObject({
      ok: false,
      error: { code, message: expect.stringContaining(code.slice("other_".length)) },
    });
    expect(store.list(1)).toEqual([]);
    expect(observed(store, "training", evidence("a"), KEY)).toMatchObject({ ok: true });
  });

  it("the same run a second time, in any phase (B107)", () => {
    const store = trained();
    for (const phase of ["training", "shadow"] as const) {
      expect(observed(store, phase, evidence("t1"))).toMatchObject({
        error: { code: "run_already_observed" },
      });
    }
    expect(counted(store)).toBe(3);
  });

  it("inputs seen before, within a phase and across phases (B107)", () => {
    const store = trained();
    const again = { inputs: digest("inputs t1") };
    for (const phase of ["training", "shadow", "canary"] as const) {
      const refused = observed(store, phase, evidence(`new ${phase}`, again));
      expect(refused).toMatchObject({ error: { code: "inputs_already_observed" } });
      expect(refused).toMatchObject({ error: { message: expect.stringContaining("run-t1") } });
    }
    observed(store, "shadow", evidence("s"));
    expect(
      observed(store, "training", evidence("x", { inputs: digest("inputs s") })),
    ).toMatchObject({ error: { code: "inputs_already_observed" } });
    expect(counted(store)).toBe(4);
  });

  it("a shadow run before enough training, a canary run before a shadow run", () => {
    const store = fresh();
    const early = observed(store, "shadow", evidence("s"));
    expect(early).toMatchObject({
      error: {
        code: "phase_out_of_order",
        message:
          "a shadow run counts only after 3 training runs with different inputs, and there are 0",
      },
    });
    observed(store, "training", evidence("t1"));
    expect(observed(store, "canary", evidence("c"))).toMatchObject({
      error: { message: expect.stringContaining("there is 1") },
    });
    const ready = trained();
    expect(observed(ready, "canary", evidence("c"))).toMatchObject({
      error: {
        code: "phase_out_of_order",
        message:
          "a canary run counts only after 1 shadow run with different inputs, and there are 0",
      },
    });
    expect(observed(ready, "shadow", evidence("s"))).toMatchObject({ ok: true });
    expect(observed(ready, "canary", evidence("c"))).toMatchObject({ ok: true });
  });

  it("more runs of one procedure than are kept", () => {
    const store = fresh();
    for (let index = 0; index < 1000; index += 1) {
      store.observe(KEY, { task: "t", environment: evidence("a").environmentParts }, () => ({
        ok: true,
        value: { observation: { ...row(`t${index}`) }, demotion: null },
      }));
    }
    expect(observed(store, "training", evidence("one more"))).toMatchObject({
      error: { code: "procedure_full" },
    });
  });

  it("anything, when nothing may be dropped to make room", () => {
    const store = memoryProcedures({ rows: 1, bytes: 1_000_000 });
    observed(store, "training", evidence("t1"));
    expect(observed(store, "training", evidence("t2"))).toMatchObject({
      error: { code: "memory_full" },
    });
  });

  it("every refusal has a code of the closed list and a sentence", () => {
    const refusals = [
      observed(fresh(), "training", evidence("a", { state: "ready" })),
      observed(fresh(), "training", evidence("a", { mode: "compiled" })),
      observed(fresh(), "shadow", evidence("a")),
    ];
    for (const refused of refusals) {
      if (refused.ok) throw new Error("must be refused");
      expect(OBSERVATION_REFUSALS).toContain(refused.error.code);
      expect(refused.error.message.split(" ").length).toBeGreaterThan(5);
    }
  });

  function row(word: string) {
    const { run, inputs, result } = evidence(word);
    return {
      run,
      inputs,
      result,
      phase: "training" as const,
      clean: true,
      receipts: [],
      models: [],
      mismatches: [],
      observed_ms: 1,
    };
  }
});

describe("observing keeps", () => {
  it("commitments and model answers, and nothing else of the run", () => {
    const store = fresh();
    const models = [exchange("n", "p", { secret: "answer" }, { index: 3 })];
    const given = evidence("t1", { models, receipts: [digest("receipt")] });
    observed(store, "training", { ...given, extra: "inputs in clear" } as RunEvidence);
    expect(plainRecord(store.read(KEY))?.observations).toEqual([
      {
        seq: 1n,
        run: given.run,
        phase: "training",
        clean: true,
        inputs: given.inputs,
        result: given.result,
        receipts: [digest("receipt")],
        models: [
          {
            node: "n",
            index: 3,
            prompt: digest("p"),
            answer: { secret: "answer" },
            model: { provider: "provider", name: "model" },
          },
        ],
        mismatches: [],
        observed_ms: 1,
      },
    ]);
    expect(keyOfRun(given)).toEqual(KEY);
  });

  it("evidence of different procedures apart", () => {
    const store = fresh();
    observed(store, "training", evidence("t1"));
    observed(store, "training", evidence("t1", { verifier: digest("other") }));
    expect(store.list(10).map((one) => one.observations)).toEqual([1, 1]);
  });
});

describe("shadow and canary runs are compared with what compiled mode would have used", () => {
  const sorted = (answer: string) => ({ models: [exchange("sort", "p", answer)] });

  it("nothing is compared in training: an answer that differs only teaches less", () => {
    const store = trained((index) => sorted(index === 2 ? "b" : "a"));
    expect(observed(store, "shadow", evidence("s", sorted("c")))).toMatchObject({
      value: { outcome: "counted", agreed: 0 },
    });
  });

  it("an agreeing run counts, and says how much it agreed", () => {
    const store = trained(() => sorted("a"));
    expect(observed(store, "shadow", evidence("s", sorted("a")))).toMatchObject({
      value: { phase: "shadow", outcome: "counted", agreed: 1, mismatches: [], demoted: false },
    });
  });

  it("a differing run fails its phase, is kept, and its answer counts against the learned one", () => {
    const store = trained(() => sorted("a"));
    expect(observed(store, "shadow", evidence("s1", sorted("b")))).toMatchObject({
      value: {
        outcome: "failed",
        mismatches: [{ node: "sort", index: null, kind: "model" }],
        agreed: 0,
        demoted: false,
      },
    });
    expect(store.read(KEY)?.observations.at(-1)).toMatchObject({ run: "run-s1", clean: false });
    // Nothing is learned at this node any more, so the next run has nothing to differ from.
    expect(observed(store, "shadow", evidence("s2", sorted("a")))).toMatchObject({
      value: { outcome: "counted", agreed: 0 },
    });
  });

  it("a prompt that was never seen is no mismatch, since compiled mode would have asked", () => {
    const store = trained(() => sorted("a"));
    const other = { models: [exchange("sort", "another prompt", "b")] };
    expect(observed(store, "shadow", evidence("s", other))).toMatchObject({
      value: { outcome: "counted", agreed: 0 },
    });
  });

  it("where prompts varied, a prompt that was never seen is compared too", () => {
    const store = trained((index) => ({ models: [exchange("sort", `p${index}`, "a")] }));
    const other = { models: [exchange("sort", "another prompt", "b")] };
    expect(observed(store, "shadow", evidence("s", other))).toMatchObject({
      value: { outcome: "failed" },
    });
  });

  it("another model is no mismatch", () => {
    const store = trained(() => sorted("a"));
    const models = [exchange("sort", "p", "b", { model: { provider: "provider", name: "new" } })];
    expect(observed(store, "shadow", evidence("s", { models }))).toMatchObject({
      value: { outcome: "counted", agreed: 0 },
    });
  });

  it("a pure node that differs from its twin fails in every phase", () => {
    const twins = [{ node: "duplicate", agreed: false }];
    for (const phase of ["training", "shadow"] as const) {
      const store = trained();
      expect(observed(store, phase, evidence("x", { twins }))).toMatchObject({
        value: {
          outcome: "failed",
          mismatches: [{ node: "duplicate", index: null, kind: "twin" }],
        },
      });
    }
    const store = trained();
    const agreed = { twins: [{ node: "duplicate", agreed: true }] };
    expect(observed(store, "shadow", evidence("s", agreed))).toMatchObject({
      value: { outcome: "counted" },
    });
  });

  it("elements of an each are compared one by one", () => {
    const models = (answers: readonly string[]) => ({
      models: answers.map((answer, index) => exchange("sort", `p${index}`, answer, { index })),
    });
    const store = trained(() => models(["a", "a"]));
    expect(observed(store, "shadow", evidence("s", models(["a", "b"])))).toMatchObject({
      value: {
        outcome: "failed",
        agreed: 1,
        mismatches: [{ node: "sort", index: 1, kind: "model" }],
      },
    });
  });
});

describe("while a qualification stands", () => {
  const sorted = (answer: string) => ({ models: [exchange("sort", "p", answer)] });

  function qualified(): ProcedureStore {
    const store = trained(() => sorted("a"));
    observed(store, "shadow", evidence("s", sorted("a")));
    observed(store, "canary", evidence("c", sorted("a")));
    qualify(store, KEY, { requirement: LEAST_REQUIREMENT, nowMs: 2, newId: () => "q" });
    expect(store.stands("q")).toBe(true);
    return store;
  }

  it.each(["training", "shadow", "canary"] as const)(
    "a %s run that contradicts it ends it at once",
    (phase) => {
      const store = qualified();
      expect(observed(store, phase, evidence("x", sorted("b")))).toMatchObject({
        value: { outcome: "failed", demoted: true },
      });
      expect(store.stands("q")).toBe(false);
      expect(store.read(KEY)?.demotions).toMatchObject([
        { qualification: "q", cause: "phase_failed", run: "run-x", barrier: 6n },
      ]);
    },
  );

  it("a run that agrees adds to the evidence and leaves it standing", () => {
    const store = qualified();
    expect(observed(store, "training", evidence("x", sorted("a")))).toMatchObject({
      value: { outcome: "counted", agreed: 1, demoted: false },
    });
    expect(store.stands("q")).toBe(true);
  });
});
