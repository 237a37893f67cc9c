import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ok } from "../../src/base/result.ts";
import type { ProcedureKey } from "../../src/model/memory.ts";
import type { ProcedureStore } from "../../src/ports/procedures.ts";
import { exchange, keyOfWord, observation } from "../support/memory-evidence.ts";
import { ADAPTERS, add, DEMOTION, qualifyWith, signal, storesOf } from "./procedure-stores.ts";

describe.each(ADAPTERS)("procedure store $name", (adapter) => {
  const stores = storesOf(adapter);
  let store: ProcedureStore;
  beforeEach(() => {
    store = stores.fresh();
  });
  afterEach(() => stores.remove());

  describe("limits", () => {
    const [A, B, C, D] = ["a", "b", "c", "d"].map(keyOfWord) as [
      ProcedureKey,
      ProcedureKey,
      ProcedureKey,
      ProcedureKey,
    ];

    const known = () => [A, B, C, D].filter((key) => store.find(key) !== undefined);

    it("room is made by dropping whole procedures, the least recently observed first", () => {
      store = stores.fresh({ rows: 4 });
      add(store, A, observation("1"));
      add(store, B, observation("2"));
      add(store, B, observation("3"));
      add(store, A, observation("4"));
      expect(add(store, C, observation("5"))).toMatchObject({ ok: true, value: { evicted: 1 } });
      expect(known()).toEqual([A, C]);
      expect(add(store, D, observation("6"))).toMatchObject({ ok: true, value: { evicted: 0 } });
      expect(known()).toEqual([A, C, D]);
    });

    it("evidence of a qualification that stands is never dropped; once demoted it may be", () => {
      store = stores.fresh({ rows: 2 });
      add(store, A, observation("1"));
      qualifyWith(store, A, "q");
      add(store, B, observation("2"));
      add(store, C, observation("3"));
      expect(known()).toEqual([A, C]);
      store.demote(A, DEMOTION);
      add(store, D, observation("4"));
      expect(known()).toEqual([C, D]);
    });

    it("where nothing may be dropped the observation is refused, and nothing was dropped", () => {
      store = stores.fresh({ rows: 3 });
      add(store, A, observation("1"));
      add(store, A, observation("2"));
      qualifyWith(store, A, "q");
      add(store, B, observation("3"));
      expect(add(store, B, observation("4"))).toEqual({ ok: false, error: "memory_full" });
      expect(store.read(B)?.observations).toHaveLength(1);
      expect(add(store, C, observation("5"))).toMatchObject({ ok: true, value: { evicted: 1 } });
      expect(known()).toEqual([A, C]);
    });

    it("a demotion that would have come with the refused observation does not happen either", () => {
      store = stores.fresh({ rows: 1 });
      add(store, A, observation("1"));
      qualifyWith(store, A, "q");
      expect(add(store, A, observation("2"), DEMOTION)).toEqual({
        ok: false,
        error: "memory_full",
      });
      expect(store.stands("q")).toBe(true);
    });

    it("bytes count as rows do, and one observation that is too large drops nobody", () => {
      const large = (word: string, length: number) =>
        observation(word, {
          models: [exchange("n", "p", "x".repeat(length))].map(({ source: _s, ...rest }) => rest),
        });
      store = stores.fresh({ bytes: 5000 });
      add(store, A, large("1", 1500));
      add(store, B, large("2", 1500));
      expect(add(store, C, large("3", 6000))).toEqual({ ok: false, error: "memory_full" });
      expect(known()).toEqual([A, B]);
      expect(add(store, C, large("4", 2000))).toMatchObject({ ok: true, value: { evicted: 1 } });
      expect(known()).toEqual([B, C]);
    });

    it("what was forgotten makes room", () => {
      store = stores.fresh({ rows: 1 });
      add(store, A, observation("1"));
      qualifyWith(store, A, "q");
      expect(add(store, B, observation("2"))).toEqual({ ok: false, error: "memory_full" });
      store.forget(A);
      expect(add(store, B, observation("2"))).toMatchObject({ ok: true, value: { evicted: 0 } });
    });

    it("signals take room, and are taken even when there is none", () => {
      store = stores.fresh({ rows: 2 });
      add(store, A, observation("1"));
      qualifyWith(store, A, "q");
      const counts = { failures: 0, successes: 0 };
      for (const word of ["s1", "s2"]) {
        store.signal(A, () => ok({ signal: signal(word), counts, demotion: null }));
      }
      expect(store.read(A)?.signals).toHaveLength(2);
      expect(add(store, B, observation("2"))).toEqual({ ok: false, error: "memory_full" });
    });
  });
});
