import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canonicalText } from "../../src/base/canonical.ts";
import { readJson } from "../../src/base/json.ts";
import { err, ok, type Result } from "../../src/base/result.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  type MemoryLimits,
  type ProcedureKey,
  type Signal,
  type StandingQualification,
} from "../../src/model/memory.ts";
import type {
  NewDemotion,
  NewObservation,
  ObservationChange,
  ProcedureStore,
} from "../../src/ports/procedures.ts";
import { memoryProcedures } from "../../src/store/memory/procedures.ts";
import { createProcedures } from "../../src/store/sqlite/procedures.ts";
import {
  digest,
  ENVIRONMENT,
  exchange,
  KEY,
  keyOfWord,
  NAME,
  observation,
  plainRecord,
} from "../support/memory-evidence.ts";

/** Every adapter of the port, each making a fresh store; `directory` is there for those that need one. */
const ADAPTERS: readonly {
  readonly name: string;
  make(directory: string, limits: MemoryLimits): ProcedureStore;
}[] = [
  { name: "in process", make: (_directory, limits) => memoryProcedures(limits) },
  { name: "sqlite", make: (directory, limits) => createProcedures(join(directory, "m"), limits) },
];

const NEVER = () => {
  throw new Error("must not be called");
};

const DEMOTION: NewDemotion = { cause: "host", reason: "because", run: null, demoted_ms: 7 };

function qualification(id: string): StandingQualification {
  return { id, learned: [], clean_runs: 5, qualified_ms: 9 };
}

function signal(word: string, more: Partial<Signal> = {}): Signal {
  return { run: word, failed: false, reason: "agreed", models: [], signalled_ms: 3, ...more };
}

describe.each(ADAPTERS)("procedure store $name", ({ make }) => {
  let directory: string;
  let store: ProcedureStore;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "rote-contract-"));
    store = make(directory, DEFAULT_MEMORY_LIMITS);
  });

  afterEach(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function limited(limits: Partial<MemoryLimits>): ProcedureStore {
    store.close();
    store = make(join(directory, "limited"), { ...DEFAULT_MEMORY_LIMITS, ...limits });
    return store;
  }

  function add(
    key: ProcedureKey,
    given: NewObservation,
    demotion: NewDemotion | null = null,
  ): Result<unknown, unknown> {
    const name = { ...NAME, task: key === KEY ? NAME.task : `task ${key.plan}` };
    return store.observe(key, name, () => ok({ observation: given, demotion }));
  }

  function qualifyWith(key: ProcedureKey, id: string): void {
    store.qualify(key, () => ({ qualification: qualification(id), answer: null }));
  }

  describe("observing", () => {
    it("nothing is known of a key before its first observation", () => {
      expect(store.read(KEY)).toBeUndefined();
      expect(store.find(KEY)).toBeUndefined();
      expect(store.findTask(NAME.task, 10)).toEqual([]);
      expect(store.list(10)).toEqual([]);
      expect(store.tasks(10)).toEqual([]);
    });

    it("an observation is read back as it was given, with the next sequence number", () => {
      const first = observation("a", {
        phase: "shadow",
        clean: false,
        receipts: [digest("receipt 1"), digest("receipt 2")],
        models: [exchange("classify", "prompt", { label: "ok", score: 0.1 }, { index: 2 })].map(
          ({ source: _source, ...rest }) => rest,
        ),
        mismatches: [{ node: "classify", index: 2, kind: "model" }],
      });
      const second = observation("b", { result: null });
      expect(add(KEY, first)).toEqual({ ok: true, value: { seq: 1n, evicted: 0 } });
      expect(add(KEY, second)).toEqual({ ok: true, value: { seq: 2n, evicted: 0 } });
      expect(plainRecord(store.read(KEY))).toEqual({
        task: NAME.task,
        observations: [
          { ...first, seq: 1n },
          { ...second, seq: 2n },
        ],
        signals: [],
        demotions: [],
        standing: null,
        counts: { failures: 0, successes: 0 },
      });
    });

    it("model answers keep their canonical text, whatever their keys and numbers (B072)", () => {
      const texts = [
        '{"__proto__":{"admin":true},"constructor":1,"toJSON":2}',
        '{"amount":"9007199254740993","rate":0.1,"tiny":5e-324,"zero":0}',
        '["\\u0000","é","e\\u0301","\\ud83d\\ude00","\\ufb33"]',
        `${"[".repeat(60)}${"]".repeat(60)}`,
        '""',
        "null",
      ];
      for (const [index, text] of texts.entries()) {
        const answer = readJson(text, { numbers: "finite" });
        if (!answer.ok) throw new Error(answer.error.message);
        const { source: _source, ...model } = exchange("node", "prompt", answer.value);
        add(KEY, observation(`${index}`, { models: [model] }));
      }
      const kept = store.read(KEY)?.observations.map((one) => one.models[0]?.answer ?? null) ?? [];
      expect(kept.map((answer) => canonicalText(answer))).toEqual(
        texts.map((text) => canonicalText(JSON.parse(text))),
      );
      expect(Object.getPrototypeOf(kept[0])).toBeNull();
    });

    it("the judge sees the record as it stands, and a refusal leaves nothing behind", () => {
      add(KEY, observation("a"));
      const seen: unknown[] = [];
      const refused = store.observe(KEY, NAME, (record) => {
        seen.push(record?.observations.map((one) => one.run));
        return err("no");
      });
      expect(refused).toEqual({ ok: false, error: "no" });
      expect(seen).toEqual([["run-a"]]);
      expect(store.observe(keyOfWord("b"), NAME, () => err("no"))).toEqual({
        ok: false,
        error: "no",
      });
      expect(store.list(10)).toHaveLength(1);
      expect(store.read(KEY)?.observations).toHaveLength(1);
    });

    it("a judge that throws leaves nothing behind, and the store goes on", () => {
      expect(() => store.observe(KEY, NAME, NEVER)).toThrow("must not be called");
      expect(store.read(KEY)).toBeUndefined();
      expect(add(KEY, observation("a"))).toMatchObject({ ok: true });
    });

    it("a judge that returns a promise is refused before anything is written (B114)", async () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q");
      const steps: string[] = [];
      const late = async () => {
        await Promise.resolve();
        steps.push("late");
        return ok({ observation: observation("b"), demotion: DEMOTION });
      };
      const asJudge = late as unknown as () => Result<ObservationChange, never>;
      expect(() => store.observe(KEY, NAME, asJudge)).toThrow(TypeError);
      expect(() => store.qualify(KEY, late as unknown as () => never)).toThrow(TypeError);
      expect(() => store.signal(KEY, late as unknown as () => never)).toThrow(TypeError);
      await Promise.resolve();
      await Promise.resolve();
      expect(steps).toEqual(["late", "late", "late"]);
      expect(store.read(KEY)).toMatchObject({
        observations: [{ run: "run-a" }],
        signals: [],
        demotions: [],
        standing: { id: "q" },
      });
    });

    it("a value without canonical form is refused and nothing is written", () => {
      const bad = observation("a", { run: "run-a", models: [badExchange()] });
      expect(() => add(KEY, bad)).toThrow(expect.objectContaining({ code: "not_canonical" }));
      expect(store.read(KEY)).toBeUndefined();
    });

    it("what is handed out and what was handed in are copies", () => {
      const answer = { list: [1] };
      const { source: _source, ...model } = exchange("node", "prompt", answer);
      add(KEY, observation("a", { models: [model] }));
      answer.list.push(2);
      const read = store.read(KEY)?.observations[0]?.models[0]?.answer as { list: number[] };
      read.list.push(3);
      expect(store.read(KEY)?.observations[0]?.models[0]?.answer).toEqual({ list: [1] });
    });
  });

  describe("looking up", () => {
    const B = keyOfWord("b");

    it("an exact key finds one procedure; one different digest or version finds none", () => {
      add(KEY, observation("a"));
      expect(store.find(KEY)).toEqual({
        task: NAME.task,
        ...KEY,
        environment_parts: ENVIRONMENT,
        observations: 1,
        qualification: null,
      });
      for (const other of [
        { ...KEY, plan: digest("x") },
        { ...KEY, verifier: digest("x") },
        { ...KEY, environment: digest("x") },
        { ...KEY, semantics: 2 },
      ]) {
        expect(store.find(other)).toBeUndefined();
        expect(store.read(other)).toBeUndefined();
      }
    });

    it("members of a key that are not its own are ignored", () => {
      add(KEY, observation("a"));
      const wide = { ...KEY, task: "x", observations: 3 };
      expect(store.find(wide)?.task).toBe(NAME.task);
    });

    it("procedures of a task come most recently observed first, up to a limit", () => {
      const name = { ...NAME, task: "same" };
      for (const [key, word] of [
        [KEY, "1"],
        [B, "2"],
        [KEY, "3"],
      ] as const) {
        store.observe(key, name, () => ok({ observation: observation(word), demotion: null }));
      }
      expect(store.findTask("same", 10).map((one) => one.plan)).toEqual([KEY.plan, B.plan]);
      expect(store.findTask("same", 1).map((one) => one.plan)).toEqual([KEY.plan]);
      expect(store.findTask("sam", 10)).toEqual([]);
      expect(store.list(10).map((one) => one.plan)).toEqual([KEY.plan, B.plan]);
      expect(store.list(1)).toHaveLength(1);
      expect(store.list(0)).toEqual([]);
      expect(store.findTask("same", 0)).toEqual([]);
      expect(store.tasks(10)).toEqual(["same"]);
    });
  });

  describe("qualifying", () => {
    const learned = [
      {
        node: "n",
        answer: { a: 1 },
        prompts: [digest("p")],
        varied: false,
        model: { provider: "p", name: "m" },
      },
    ];

    it("a qualification stands from the moment it is put, with what was learned", () => {
      add(KEY, observation("a"));
      const answer = store.qualify(KEY, (record) => ({
        qualification: { ...qualification("q1"), learned },
        answer: record?.observations.length,
      }));
      expect(answer).toBe(1);
      expect(store.stands("q1")).toBe(true);
      expect(store.stands("q2")).toBe(false);
      expect(store.find(KEY)?.qualification).toBe("q1");
      expect(store.read(KEY)?.standing).toEqual({ ...qualification("q1"), learned });
    });

    it("null leaves everything as it is", () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q1");
      expect(store.qualify(KEY, () => ({ qualification: null, answer: "kept" }))).toBe("kept");
      expect(store.stands("q1")).toBe(true);
    });

    it("another id takes the place of the one that stood, and the signal counts go on", () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q1");
      const counts = { failures: 1, successes: 2 };
      store.signal(KEY, () => ok({ signal: signal("s"), counts, demotion: null }));
      store.qualify(KEY, () => ({
        qualification: { ...qualification("q1"), clean_runs: 6 },
        answer: null,
      }));
      expect(store.read(KEY)).toMatchObject({ counts, standing: { clean_runs: 6 } });
      qualifyWith(KEY, "q2");
      expect(store.stands("q1")).toBe(false);
      expect(store.stands("q2")).toBe(true);
      expect(store.read(KEY)?.counts).toEqual(counts);
      store.demote(KEY, DEMOTION);
      qualifyWith(KEY, "q3");
      expect(store.read(KEY)?.counts).toEqual({ failures: 0, successes: 0 });
    });

    it("nothing can be qualified about which nothing is known", () => {
      qualifyWith(KEY, "q1");
      expect(store.stands("q1")).toBe(false);
      expect(store.read(KEY)).toBeUndefined();
    });
  });

  describe("demoting", () => {
    it("a demotion ends what stands and remembers why, and up to which observation", () => {
      add(KEY, observation("a"));
      add(keyOfWord("b"), observation("other"));
      add(KEY, observation("b"));
      qualifyWith(KEY, "q1");
      expect(store.demote(KEY, { ...DEMOTION, cause: "signals", run: "run-9" })).toBe(true);
      expect(store.stands("q1")).toBe(false);
      expect(store.read(KEY)).toMatchObject({
        standing: null,
        demotions: [
          {
            qualification: "q1",
            cause: "signals",
            reason: "because",
            run: "run-9",
            demoted_ms: 7,
            barrier: 3n,
          },
        ],
      });
    });

    it("there is nothing to demote when nothing stands", () => {
      expect(store.demote(KEY, DEMOTION)).toBe(false);
      add(KEY, observation("a"));
      expect(store.demote(KEY, DEMOTION)).toBe(false);
      qualifyWith(KEY, "q1");
      expect(store.demote(KEY, DEMOTION)).toBe(true);
      expect(store.demote(KEY, DEMOTION)).toBe(false);
      expect(store.read(KEY)?.demotions).toHaveLength(1);
    });

    it("an observation may demote in its own transaction, itself behind the barrier", () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q1");
      add(KEY, observation("b"), { ...DEMOTION, cause: "phase_failed" });
      expect(store.read(KEY)).toMatchObject({
        standing: null,
        observations: [{ seq: 1n }, { seq: 2n }],
        demotions: [{ cause: "phase_failed", barrier: 2n }],
      });
    });
  });

  describe("signalling", () => {
    it("no signal is asked for while nothing stands", () => {
      expect(store.signal(KEY, NEVER)).toBeUndefined();
      add(KEY, observation("a"));
      expect(store.signal(KEY, NEVER)).toBeUndefined();
    });

    it("a signal is kept with the counts, and may demote in the same transaction", () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q1");
      const { source: _source, ...model } = exchange("n", "p", 1);
      const first = signal("s1", { failed: true, reason: "differed", models: [model] });
      const counts = { failures: 1, successes: 0 };
      expect(store.signal(KEY, () => ok({ signal: first, counts, demotion: null }))).toMatchObject({
        ok: true,
      });
      expect(store.read(KEY)).toMatchObject({ signals: [first], counts });
      const second = signal("s2", { run: null });
      store.signal(KEY, () => ok({ signal: second, counts, demotion: DEMOTION }));
      expect(store.read(KEY)).toMatchObject({
        signals: [first, second],
        standing: null,
        demotions: [{ qualification: "q1" }],
        counts: { failures: 0, successes: 0 },
      });
    });

    it("a refused signal leaves nothing behind", () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q1");
      expect(store.signal(KEY, () => err("no"))).toEqual({ ok: false, error: "no" });
      expect(store.read(KEY)?.signals).toEqual([]);
    });

    it("of signals of one verdict the latest hundred are kept, of the other verdict all", () => {
      add(KEY, observation("a"));
      qualifyWith(KEY, "q1");
      const counts = { failures: 0, successes: 0 };
      const one = (word: string, failed: boolean) =>
        store.signal(KEY, () => ok({ signal: signal(word, { failed }), counts, demotion: null }));
      one("against", true);
      for (let index = 0; index < 102; index += 1) one(`s${index}`, false);
      const kept = store.read(KEY)?.signals.map((each) => each.run) ?? [];
      expect(kept).toHaveLength(101);
      expect(kept.slice(0, 2)).toEqual(["against", "s2"]);
      expect(kept.at(-1)).toBe("s101");
    });
  });

  describe("forgetting", () => {
    it("everything under the key is dropped and told, and nothing else", () => {
      add(KEY, observation("a"));
      add(KEY, observation("b"));
      add(keyOfWord("b"), observation("a"));
      qualifyWith(KEY, "q1");
      store.demote(KEY, DEMOTION);
      qualifyWith(KEY, "q2");
      const counts = { failures: 0, successes: 0 };
      store.signal(KEY, () => ok({ signal: signal("s"), counts, demotion: null }));
      expect(store.forget(KEY)).toEqual({
        observations: 2,
        signals: 1,
        demotions: 1,
        qualified: true,
      });
      expect(store.stands("q2")).toBe(false);
      expect(store.read(KEY)).toBeUndefined();
      expect(store.list(10)).toHaveLength(1);
      expect(store.forget(KEY)).toBeUndefined();
    });

    it("sequence numbers are not used again", () => {
      add(KEY, observation("a"));
      store.forget(KEY);
      expect(add(KEY, observation("a"))).toEqual({ ok: true, value: { seq: 2n, evicted: 0 } });
    });
  });

  describe("limits", () => {
    const [A, B, C, D] = ["a", "b", "c", "d"].map(keyOfWord) as [
      ProcedureKey,
      ProcedureKey,
      ProcedureKey,
      ProcedureKey,
    ];

    const known = () => [A, B, C, D].filter((key) => store.find(key) !== undefined);

    it("room is made by dropping whole procedures, the least recently observed first", () => {
      limited({ rows: 4 });
      add(A, observation("1"));
      add(B, observation("2"));
      add(B, observation("3"));
      add(A, observation("4"));
      expect(add(C, observation("5"))).toMatchObject({ ok: true, value: { evicted: 1 } });
      expect(known()).toEqual([A, C]);
      expect(add(D, observation("6"))).toMatchObject({ ok: true, value: { evicted: 0 } });
      expect(known()).toEqual([A, C, D]);
    });

    it("evidence of a qualification that stands is never dropped; once demoted it may be", () => {
      limited({ rows: 2 });
      add(A, observation("1"));
      qualifyWith(A, "q");
      add(B, observation("2"));
      add(C, observation("3"));
      expect(known()).toEqual([A, C]);
      store.demote(A, DEMOTION);
      add(D, observation("4"));
      expect(known()).toEqual([C, D]);
    });

    it("where nothing may be dropped the observation is refused, and nothing was dropped", () => {
      limited({ rows: 3 });
      add(A, observation("1"));
      add(A, observation("2"));
      qualifyWith(A, "q");
      add(B, observation("3"));
      expect(add(B, observation("4"))).toEqual({ ok: false, error: "memory_full" });
      expect(store.read(B)?.observations).toHaveLength(1);
      expect(add(C, observation("5"))).toMatchObject({ ok: true, value: { evicted: 1 } });
      expect(known()).toEqual([A, C]);
    });

    it("a demotion that would have come with the refused observation does not happen either", () => {
      limited({ rows: 1 });
      add(A, observation("1"));
      qualifyWith(A, "q");
      expect(add(A, observation("2"), DEMOTION)).toEqual({ ok: false, error: "memory_full" });
      expect(store.stands("q")).toBe(true);
    });

    it("bytes count as rows do, and one observation that is too large drops nobody", () => {
      const large = (word: string, length: number) =>
        observation(word, {
          models: [exchange("n", "p", "x".repeat(length))].map(({ source: _s, ...rest }) => rest),
        });
      limited({ bytes: 5000 });
      add(A, large("1", 1500));
      add(B, large("2", 1500));
      expect(add(C, large("3", 6000))).toEqual({ ok: false, error: "memory_full" });
      expect(known()).toEqual([A, B]);
      expect(add(C, large("4", 2000))).toMatchObject({ ok: true, value: { evicted: 1 } });
      expect(known()).toEqual([B, C]);
    });

    it("what was forgotten makes room", () => {
      limited({ rows: 1 });
      add(A, observation("1"));
      qualifyWith(A, "q");
      expect(add(B, observation("2"))).toEqual({ ok: false, error: "memory_full" });
      store.forget(A);
      expect(add(B, observation("2"))).toMatchObject({ ok: true, value: { evicted: 0 } });
    });

    it("signals take room, and are taken even when there is none", () => {
      limited({ rows: 2 });
      add(A, observation("1"));
      qualifyWith(A, "q");
      const counts = { failures: 0, successes: 0 };
      for (const word of ["s1", "s2"]) {
        store.signal(A, () => ok({ signal: signal(word), counts, demotion: null }));
      }
      expect(store.read(A)?.signals).toHaveLength(2);
      expect(add(B, observation("2"))).toEqual({ ok: false, error: "memory_full" });
    });
  });

  it("a closed store refuses every call by one code", () => {
    store.close();
    store.close();
    const closed = expect.objectContaining({ code: "memory_closed" });
    const calls: readonly (() => unknown)[] = [
      () => store.read(KEY),
      () => store.find(KEY),
      () => store.findTask("t", 1),
      () => store.list(1),
      () => store.tasks(1),
      () => store.stands("q"),
      () => store.observe(KEY, NAME, NEVER),
      () => store.qualify(KEY, NEVER),
      () => store.signal(KEY, NEVER),
      () => store.demote(KEY, DEMOTION),
      () => store.forget(KEY),
    ];
    for (const call of calls) expect(call).toThrow(closed);
  });
});

function badExchange() {
  const { source: _source, ...rest } = exchange("n", "p", Number.NaN);
  return rest;
}
