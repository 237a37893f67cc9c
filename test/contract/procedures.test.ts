import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canonicalText } from "../../src/base/canonical.ts";
import { readJson } from "../../src/base/json.ts";
import { err, ok, type Result } from "../../src/base/result.ts";
import type { ObservationChange, ProcedureStore } from "../../src/ports/procedures.ts";
import {
  digest,
  exchange,
  KEY,
  keyOfWord,
  NAME,
  observation,
  plainRecord,
} from "../support/memory-evidence.ts";
import { ENVIRONMENT } from "../support/pure-procedure.ts";
import {
  ADAPTERS,
  add,
  DEMOTION,
  NEVER,
  qualifyWith,
  signal,
  storesOf,
} from "./procedure-stores.ts";

describe.each(ADAPTERS)("procedure store $name", (adapter) => {
  const stores = storesOf(adapter);
  let store: ProcedureStore;
  beforeEach(() => {
    store = stores.fresh();
  });
  afterEach(() => stores.remove());

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
      expect(add(store, KEY, first)).toEqual({ ok: true, value: { seq: 1n, evicted: 0 } });
      expect(add(store, KEY, second)).toEqual({ ok: true, value: { seq: 2n, evicted: 0 } });
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
        add(store, KEY, observation(`${index}`, { models: [model] }));
      }
      const kept = store.read(KEY)?.observations.map((one) => one.models[0]?.answer ?? null) ?? [];
      expect(kept.map((answer) => canonicalText(answer))).toEqual(
        texts.map((text) => canonicalText(JSON.parse(text))),
      );
      expect(Object.getPrototypeOf(kept[0])).toBeNull();
    });

    it("the judge sees the record as it stands, and a refusal leaves nothing behind", () => {
      add(store, KEY, observation("a"));
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
      expect(add(store, KEY, observation("a"))).toMatchObject({ ok: true });
    });

    it("a judge that returns a promise is refused before anything is written (B114)", async () => {
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q");
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
      expect(() => add(store, KEY, bad)).toThrow(
        expect.objectContaining({ code: "not_canonical" }),
      );
      expect(store.read(KEY)).toBeUndefined();
    });

    it("what is handed out and what was handed in are copies", () => {
      const answer = { list: [1] };
      const { source: _source, ...model } = exchange("node", "prompt", answer);
      add(store, KEY, observation("a", { models: [model] }));
      answer.list.push(2);
      const read = store.read(KEY)?.observations[0]?.models[0]?.answer as { list: number[] };
      read.list.push(3);
      expect(store.read(KEY)?.observations[0]?.models[0]?.answer).toEqual({ list: [1] });
    });
  });

  describe("looking up", () => {
    const B = keyOfWord("b");

    it("an exact key finds one procedure; one different digest or version finds none", () => {
      add(store, KEY, observation("a"));
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
      add(store, KEY, observation("a"));
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

  describe("forgetting", () => {
    it("everything under the key is dropped and told, and nothing else", () => {
      add(store, KEY, observation("a"));
      add(store, KEY, observation("b"));
      add(store, keyOfWord("b"), observation("a"));
      qualifyWith(store, KEY, "q1");
      store.demote(KEY, DEMOTION);
      qualifyWith(store, KEY, "q2");
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
      add(store, KEY, observation("a"));
      store.forget(KEY);
      expect(add(store, KEY, observation("a"))).toEqual({
        ok: true,
        value: { seq: 2n, evicted: 0 },
      });
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
