import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { err, ok } from "../../src/base/result.ts";
import type { ProcedureStore } from "../../src/ports/procedures.ts";
import { digest, exchange, KEY, keyOfWord, observation } from "../support/memory-evidence.ts";
import {
  ADAPTERS,
  add,
  DEMOTION,
  NEVER,
  qualification,
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
      add(store, KEY, observation("a"));
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
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q1");
      expect(store.qualify(KEY, () => ({ qualification: null, answer: "kept" }))).toBe("kept");
      expect(store.stands("q1")).toBe(true);
    });

    it("another id takes the place of the one that stood, and the signal counts go on", () => {
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q1");
      const counts = { failures: 1, successes: 2 };
      store.signal(KEY, () => ok({ signal: signal("s"), counts, demotion: null }));
      store.qualify(KEY, () => ({
        qualification: { ...qualification("q1"), clean_runs: 6 },
        answer: null,
      }));
      expect(store.read(KEY)).toMatchObject({ counts, standing: { clean_runs: 6 } });
      qualifyWith(store, KEY, "q2");
      expect(store.stands("q1")).toBe(false);
      expect(store.stands("q2")).toBe(true);
      expect(store.read(KEY)?.counts).toEqual(counts);
      store.demote(KEY, DEMOTION);
      qualifyWith(store, KEY, "q3");
      expect(store.read(KEY)?.counts).toEqual({ failures: 0, successes: 0 });
    });

    it("nothing can be qualified about which nothing is known", () => {
      qualifyWith(store, KEY, "q1");
      expect(store.stands("q1")).toBe(false);
      expect(store.read(KEY)).toBeUndefined();
    });
  });

  describe("demoting", () => {
    it("a demotion ends what stands and remembers why, and up to which observation", () => {
      add(store, KEY, observation("a"));
      add(store, keyOfWord("b"), observation("other"));
      add(store, KEY, observation("b"));
      qualifyWith(store, KEY, "q1");
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
      add(store, KEY, observation("a"));
      expect(store.demote(KEY, DEMOTION)).toBe(false);
      qualifyWith(store, KEY, "q1");
      expect(store.demote(KEY, DEMOTION)).toBe(true);
      expect(store.demote(KEY, DEMOTION)).toBe(false);
      expect(store.read(KEY)?.demotions).toHaveLength(1);
    });

    it("an observation may demote in its own transaction, itself behind the barrier", () => {
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q1");
      add(store, KEY, observation("b"), { ...DEMOTION, cause: "phase_failed" });
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
      add(store, KEY, observation("a"));
      expect(store.signal(KEY, NEVER)).toBeUndefined();
    });

    it("a signal is kept with the counts, and may demote in the same transaction", () => {
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q1");
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
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q1");
      expect(store.signal(KEY, () => err("no"))).toEqual({ ok: false, error: "no" });
      expect(store.read(KEY)?.signals).toEqual([]);
    });

    it("of signals of one verdict the latest hundred are kept, of the other verdict all", () => {
      add(store, KEY, observation("a"));
      qualifyWith(store, KEY, "q1");
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
});
