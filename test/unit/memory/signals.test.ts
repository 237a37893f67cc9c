import { describe, expect, it } from "vitest";
import { observe } from "../../../src/memory/observe.ts";
import { qualify } from "../../../src/memory/qualify.ts";
import { signalOfHost, signalOfRun } from "../../../src/memory/signal.ts";
import { afterSignal, NO_SIGNALS, quarantines } from "../../../src/memory/signals.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  LEAST_REQUIREMENT,
  PHASES,
  type SignalCounts,
} from "../../../src/model/memory.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { memoryProcedures } from "../../../src/store/memory/procedures.ts";
import { evidence, exchange, KEY } from "../../support/memory-evidence.ts";

/** `x`: a failure, `.`: a success. */
function after(story: string): SignalCounts {
  return [...story].reduce(
    (counts, letter) => afterSignal(counts, letter === "x"),
    NO_SIGNALS as SignalCounts,
  );
}

describe("the sequential test", () => {
  it.each([
    ["one failure is not enough", "x", false],
    ["two at once are", "xx", true],
    ["two with 16 successes between are", `x${".".repeat(16)}x`, true],
    ["two with 17 successes between are not", `x${".".repeat(17)}x`, false],
    ["a good record buys no patience", `${".".repeat(5000)}xx`, true],
    ["nor does a long one between", `x${".".repeat(500)}x`, false],
  ])("%s", (_name, story, expected) => {
    expect(quarantines(after(story))).toBe(expected);
  });

  it("starts anew once the evidence is back at its start", () => {
    expect(after("...")).toEqual({ failures: 0, successes: 0 });
    expect(after(`x${".".repeat(24)}`)).toEqual({ failures: 1, successes: 24 });
    expect(after(`x${".".repeat(25)}`)).toEqual({ failures: 0, successes: 0 });
  });
});

const sorted = (answer: string) => ({ models: [exchange("sort", "p", answer)] });

function qualified(): ProcedureStore {
  const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
  for (const [index, phase] of [0, 0, 0, 1, 2].entries()) {
    observe(store, evidence(`${index}`, sorted("a")), {
      phase: PHASES[phase] ?? "training",
      requirement: LEAST_REQUIREMENT,
      nowMs: 1,
    });
  }
  qualify(store, KEY, { requirement: LEAST_REQUIREMENT, nowMs: 2, newId: () => "q" });
  return store;
}

describe("a guided run of a qualified procedure", () => {
  it("that agrees speaks for it", () => {
    const store = qualified();
    expect(signalOfRun(store, evidence("g", sorted("a")), 3)).toEqual({
      ok: true,
      value: { failed: false, counts: NO_SIGNALS, demoted: false },
    });
  });

  it("that differs speaks against it; two close together demote, with the reason", () => {
    const store = qualified();
    expect(signalOfRun(store, evidence("g1", sorted("b")), 3)).toEqual({
      ok: true,
      value: { failed: true, counts: { failures: 1, successes: 0 }, demoted: false },
    });
    expect(store.stands("q")).toBe(true);
    expect(signalOfRun(store, evidence("g2", sorted("a")), 3)).toMatchObject({
      value: { failed: false, demoted: false },
    });
    expect(signalOfRun(store, evidence("g3", sorted("c")), 4)).toMatchObject({
      value: { failed: true, demoted: true },
    });
    expect(store.stands("q")).toBe(false);
    expect(store.read(KEY)).toMatchObject({
      demotions: [
        {
          cause: "signals",
          reason: "2 failures among 3 signals, the last: a guided run differed at sort",
          run: "run-g3",
          demoted_ms: 4,
        },
      ],
      counts: NO_SIGNALS,
    });
  });

  it.each(["verify_failed", "verifier_rejected"] as const)(
    "that ended %s speaks against it",
    (reason) => {
      const store = qualified();
      const run = evidence("g", { state: "rejected", reason, independentlyVerified: false });
      expect(signalOfRun(store, run, 3)).toMatchObject({ value: { failed: true } });
      expect(store.read(KEY)?.signals).toMatchObject([{ models: [] }]);
    },
  );

  it.each([
    ["cancelled", "user_cancelled"],
    ["rejected", "precondition_failed"],
    ["exhausted", "max_steps"],
    ["awaiting_model", null],
  ] as const)("that is %s (%s) says nothing", (state, reason) => {
    const run = evidence("g", { state, reason, independentlyVerified: false });
    expect(signalOfRun(qualified(), run, 3)).toMatchObject({
      error: { code: "run_says_nothing" },
    });
  });

  it("counts once, and not at all when it was observed as evidence", () => {
    const store = qualified();
    signalOfRun(store, evidence("g", sorted("a")), 3);
    for (const word of ["g", "0"]) {
      expect(signalOfRun(store, evidence(word, sorted("a")), 3)).toMatchObject({
        error: { code: "run_already_observed" },
      });
    }
    expect(
      observe(store, evidence("g", sorted("a")), {
        phase: "canary",
        requirement: LEAST_REQUIREMENT,
        nowMs: 1,
      }),
    ).toMatchObject({ error: { code: "run_already_observed" } });
  });

  it("that was compiled says nothing", () => {
    expect(signalOfRun(qualified(), evidence("g", { mode: "compiled" }), 3)).toMatchObject({
      error: { code: "compiled_run" },
    });
  });

  it("says nothing where nothing stands", () => {
    const store = memoryProcedures(DEFAULT_MEMORY_LIMITS);
    expect(signalOfRun(store, evidence("g"), 3)).toMatchObject({
      error: { code: "not_qualified" },
    });
  });

  it("that contradicted an answer keeps it from being learned again", () => {
    const store = qualified();
    signalOfRun(store, evidence("g1", sorted("b")), 3);
    signalOfRun(store, evidence("g2", sorted("b")), 3);
    for (const [index, phase] of [0, 0, 0, 1, 2].entries()) {
      observe(store, evidence(`again ${index}`, sorted("a")), {
        phase: PHASES[phase] ?? "training",
        requirement: LEAST_REQUIREMENT,
        nowMs: 5,
      });
    }
    const again = qualify(store, KEY, {
      requirement: LEAST_REQUIREMENT,
      nowMs: 6,
      newId: () => "q2",
    });
    expect(again).toMatchObject({ ok: true, value: { id: "q2", learned: [] } });
  });
});

describe("what the host reports", () => {
  it("feeds the same test", () => {
    const store = qualified();
    const report = { failed: true, reason: "a guard refused" };
    expect(signalOfHost(store, KEY, report, 3)).toMatchObject({ value: { demoted: false } });
    expect(signalOfHost(store, KEY, report, 4)).toMatchObject({ value: { demoted: true } });
    expect(store.read(KEY)?.demotions).toMatchObject([{ cause: "signals", run: null }]);
    expect(signalOfHost(store, KEY, report, 5)).toMatchObject({
      error: { code: "not_qualified" },
    });
  });
});
