import { describe, expect, it } from "vitest";
import { lookUp } from "../../../src/memory/look-up.ts";
import { observe } from "../../../src/memory/observe.ts";
import { qualify } from "../../../src/memory/qualify.ts";
import { requirement } from "../../../src/memory/requirement.ts";
import { statusOf } from "../../../src/memory/status.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  LEAST_REQUIREMENT,
  PHASES,
  type ProcedureKey,
} from "../../../src/model/memory.ts";
import type { RunEvidence } from "../../../src/model/run.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { memoryProcedures } from "../../../src/store/memory/procedures.ts";
import { digest, evidence, exchange, KEY } from "../../support/memory-evidence.ts";
import { ENVIRONMENT } from "../../support/pure-procedure.ts";

const sorted = (answer: string, prompt = "p") => ({ models: [exchange("sort", prompt, answer)] });

/** Climbs the ladder: `t` `s` `c` observe a run each, numbered from `from`. */
function climb(
  store: ProcedureStore,
  story: string,
  more: Partial<RunEvidence> = {},
  from = 0,
): void {
  for (const [index, letter] of [...story].entries()) {
    const phase = PHASES["tsc".indexOf(letter)];
    if (phase === undefined) throw new Error(letter);
    const given = evidence(`${from + index}`, more);
    const observed = observe(store, given, { phase, requirement: LEAST_REQUIREMENT, nowMs: 1 });
    if (!observed.ok) throw new Error(observed.error.message);
  }
}

function qualified(store: ProcedureStore, id: string, asked = LEAST_REQUIREMENT, key = KEY) {
  return qualify(store, key, { requirement: asked, nowMs: 9, newId: () => id });
}

function status(store: ProcedureStore, key: ProcedureKey = KEY, more = {}) {
  return statusOf(store, {
    task: "task-a",
    key,
    environment: ENVIRONMENT,
    requirement: LEAST_REQUIREMENT,
    ...more,
  });
}

describe("qualifying", () => {
  it("needs three training runs, a shadow run and a canary run", () => {
    for (const story of ["", "t", "ttt", "ttts"]) {
      const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
      climb(store, story);
      expect(qualified(store, "q")).toMatchObject({ ok: false, error: { verdict: "no_evidence" } });
      expect(store.stands("q")).toBe(false);
    }
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc", sorted("a"));
    expect(qualified(store, "q")).toEqual({
      ok: true,
      value: {
        id: "q",
        learned: [
          {
            node: "sort",
            answer: "a",
            prompts: [digest("p")],
            varied: false,
            model: { provider: "provider", name: "model" },
          },
        ],
        clean_runs: 5,
        qualified_ms: 9,
      },
    });
    expect(store.stands("q")).toBe(true);
  });

  it("never promotes for fewer runs than the host asks for", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc");
    const asked = requirement({ training: 4 });
    expect(qualified(store, "q", asked)).toMatchObject({ error: { verdict: "no_evidence" } });
    climb(store, "t", {}, 5);
    expect(qualified(store, "q", asked)).toMatchObject({ ok: true });
  });

  it("three runs that are one, or have one input, do not qualify, and the counts say 1 (B107)", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    const give = (given: RunEvidence) =>
      observe(store, given, { phase: "training", requirement: LEAST_REQUIREMENT, nowMs: 1 });
    const same = evidence("same");
    expect([give(same), give(same), give(same)].map((one) => one.ok)).toEqual([true, false, false]);
    expect(status(store).phases.training).toMatchObject({ counted: 1, distinct_inputs: 1 });
    const equal = { inputs: same.inputs };
    expect(give(evidence("second", equal)).ok).toBe(false);
    expect(give(evidence("third", equal)).ok).toBe(false);
    expect(status(store).phases.training).toMatchObject({ counted: 1, distinct_inputs: 1 });
    expect(give(evidence("fourth")).ok).toBe(true);
    expect(give(evidence("fifth", equal)).ok).toBe(false);
    expect(status(store).phases.training).toMatchObject({ counted: 2, distinct_inputs: 2 });
    expect(give(evidence("sixth", { mode: "compiled" })).ok).toBe(false);
    expect(qualified(store, "q")).toMatchObject({
      error: {
        verdict: "no_evidence",
        missing: [
          "1 more training run with inputs not observed before (2 of 3)",
          "1 more shadow run with inputs not observed before (0 of 1)",
          "1 more canary run with inputs not observed before (0 of 1)",
        ],
      },
    });
  });

  it("again gives the qualification that stands", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc", sorted("a"));
    const first = qualified(store, "q1");
    expect(qualified(store, "q2")).toEqual(first);
  });

  it("again after more evidence keeps the id and adds what more was learned", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc", sorted("a"));
    qualified(store, "q1");
    climb(store, "t", sorted("a", "another prompt"), 5);
    expect(qualified(store, "q2")).toMatchObject({
      value: { id: "q1", clean_runs: 6, learned: [{ varied: false, prompts: { length: 2 } }] },
    });
    expect(store.read(KEY)?.standing).toMatchObject({ id: "q1", clean_runs: 6 });
  });

  it("again stands for any prompt only when later training was shown by held-out runs too", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc", sorted("a"));
    qualified(store, "q1");
    const widened = () => qualified(store, "q2");
    climb(store, "t", sorted("a", "second"), 5);
    climb(store, "s", sorted("a", "third"), 6);
    expect(widened()).toMatchObject({ value: { id: "q1", learned: [{ varied: false }] } });
    climb(store, "c", sorted("a", "fourth"), 7);
    expect(widened()).toMatchObject({ value: { id: "q1", learned: [{ varied: true }] } });
  });

  it("again learns less when a held-out run answers a new prompt otherwise", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc", sorted("a"));
    qualified(store, "q1");
    climb(store, "t", sorted("a", "second"), 5);
    climb(store, "s", sorted("b", "third"), 6);
    expect(qualified(store, "q2")).toMatchObject({ value: { id: "q2", learned: [] } });
  });

  it("again with less covered ends the old qualification and gives a new one", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc", sorted("a"));
    qualified(store, "q1");
    climb(store, "t", { models: [] }, 5);
    expect(store.stands("q1")).toBe(true);
    expect(qualified(store, "q2")).toMatchObject({ value: { id: "q2", learned: [] } });
    expect(store.stands("q1")).toBe(false);
    expect(store.stands("q2")).toBe(true);
  });

  it("after a demotion needs fresh runs on inputs never observed before", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc");
    qualified(store, "q1");
    store.demote(KEY, {
      cause: "verification_failed",
      reason: "a compiled run ended verifier_rejected",
      run: "run-x",
      demoted_ms: 5,
    });
    expect(qualified(store, "q2")).toMatchObject({ error: { verdict: "fail" } });
    const old = evidence("new run", { inputs: digest("inputs 0") });
    expect(
      observe(store, old, { phase: "training", requirement: LEAST_REQUIREMENT, nowMs: 6 }),
    ).toMatchObject({ error: { code: "inputs_already_observed" } });
    climb(store, "ttts", {}, 10);
    expect(qualified(store, "q2")).toMatchObject({ error: { verdict: "fail" } });
    climb(store, "c", {}, 20);
    expect(qualified(store, "q2")).toMatchObject({ value: { id: "q2", clean_runs: 5 } });
    expect(store.stands("q1")).toBe(false);
  });
});

describe("status", () => {
  it("says without failing what is there, what is missing and what would be learned", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "ttts", sorted("a"));
    expect(status(store)).toEqual({
      task: "task-a",
      ...KEY,
      verdict: "no_evidence",
      phases: {
        training: { required: 3, counted: 3, failed: 0, distinct_inputs: 3 },
        shadow: { required: 1, counted: 1, failed: 0, distinct_inputs: 1 },
        canary: { required: 1, counted: 0, failed: 0, distinct_inputs: 0 },
      },
      missing: ["1 more canary run with inputs not observed before (0 of 1)"],
      clean_runs: 4,
      failure_rate_bound: 1 - 0.05 ** (1 / 4),
      learned: [
        {
          node: "sort",
          answer: "a",
          prompts: [digest("p")],
          varied: false,
          model: { provider: "provider", name: "model" },
        },
      ],
      qualification: null,
      signals: { failures: 0, successes: 0 },
      demotion: null,
      void: [],
    });
    expect(store.read(KEY)?.observations).toHaveLength(4);
  });

  it("names the qualification that stands, and the demotion that ended one", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc");
    qualified(store, "q1");
    expect(status(store)).toMatchObject({
      verdict: "pass",
      missing: [],
      qualification: { id: "q1", qualified_ms: 9 },
      demotion: null,
    });
    store.demote(KEY, { cause: "host", reason: "rounding changed", run: null, demoted_ms: 7 });
    expect(status(store)).toMatchObject({
      verdict: "fail",
      qualification: null,
      demotion: { qualification: "q1", cause: "host", reason: "rounding changed", demoted_ms: 7 },
    });
  });

  it.each([
    ["plan", { plan: digest("other plan") }],
    ["verifier", { verifier: digest("other verifier") }],
    ["environment", { environment: digest("other environment") }],
    ["semantics", { semantics: 2 }],
  ] as const)("a changed %s voids everything, and is named (B069)", (part, change) => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "tttsc");
    qualified(store, "q1");
    const key = { ...KEY, ...change };
    const said = status(store, key);
    expect(said).toMatchObject({
      verdict: "no_evidence",
      qualification: null,
      learned: [],
      phases: { training: { counted: 0 } },
      void: [{ changed: [part], was: { qualification: "q1", observations: 5 } }],
    });
    expect(said.missing[0]).toContain(
      "the evidence of task task-a (5 observed runs and a qualification) does not apply here: ",
    );
    expect(said.missing[0]).toContain(`${part} was ${String(KEY[part]).slice(0, 19)}`);
    expect(qualified(store, "q2", LEAST_REQUIREMENT, key)).toMatchObject({ ok: false });
    expect(store.stands("q1")).toBe(true);
  });

  it("names the parts of the environment that changed", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "t");
    const key = { ...KEY, plan: digest("p2"), environment: digest("e2") };
    const environment = {
      ...ENVIRONMENT,
      tools: "9".repeat(64),
      host_configuration: "8".repeat(64),
    };
    const said = status(store, key, { environment });
    expect(said.void[0]).toMatchObject({
      changed: ["plan", "environment"],
      changed_environment: ["tools", "host_configuration"],
    });
    expect(said.missing[0]).toContain("environment (tools, host_configuration) was ");
  });

  it("tells the nearest relatives first, and of a procedure with evidence of its own no reason", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "t");
    climb(store, "t", { plan: digest("p2"), verifier: digest("v2") });
    climb(store, "t", { plan: digest("p3") });
    const said = status(store);
    expect(said.void.map((one) => one.changed)).toEqual([["plan"], ["plan", "verifier"]]);
    expect(said.missing[0]).toBe("2 more training runs with inputs not observed before (1 of 3)");
  });

  it("evidence of another task is no relative", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "t", { task: "another", plan: digest("p2") });
    expect(status(store).void).toEqual([]);
  });
});

describe("looking up", () => {
  it("finds by exact digests and by exact task; a similar task is suggested, never selected", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    climb(store, "t");
    expect(lookUp(store, KEY)).toMatchObject({
      procedures: [{ task: "task-a" }],
      suggestion: null,
    });
    expect(lookUp(store, { ...KEY, plan: digest("x") })).toEqual({
      procedures: [],
      suggestion: null,
    });
    expect(lookUp(store, { task: "task-a" }).procedures).toHaveLength(1);
    for (const task of ["task-b", "Task-a", "task-a "]) {
      expect(lookUp(store, { task })).toEqual({ procedures: [], suggestion: "task-a" });
    }
    expect(lookUp(store, { task: "something else" })).toEqual({
      procedures: [],
      suggestion: null,
    });
  });
});
