import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ok } from "../../src/base/result.ts";
import type { MemoryLimits, ProcedureKey } from "../../src/model/memory.ts";
import type { ProcedureStore } from "../../src/ports/procedures.ts";
import { memoryProcedures } from "../../src/store/memory/procedures.ts";
import { createProcedures, openProcedures } from "../../src/store/sqlite/procedures.ts";
import { exchange, keyOfWord, NAME, observation, plainRecord } from "../support/memory-evidence.ts";

/** One thing done to a store; `n` numbers it, so that runs and ids differ. */
type Act = (store: ProcedureStore, n: number) => unknown;

const KEYS = ["a", "b", "c", "d", "e"].map(keyOfWord);
const key = fc.constantFrom(...(KEYS as [ProcedureKey, ...ProcedureKey[]]));
const DEMOTION = { cause: "host", reason: "r", run: null, demoted_ms: 1 } as const;
const NO_COUNTS = { failures: 0, successes: 0 };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(key, fc.integer({ min: 0, max: 900 }), fc.boolean()).map(
      ([of, size, ends]): Act =>
        (store, n) => {
          const { source: _source, ...model } = exchange("n", "p", "x".repeat(size));
          const given = observation(`${n}`, { models: [model] });
          const demotion = ends && n % 5 === 0 ? DEMOTION : null;
          return store.observe(of, NAME, () => ok({ observation: given, demotion }));
        },
    ),
  },
  key.map(
    (of): Act =>
      (store, n) =>
        store.qualify(of, () => ({
          qualification: { id: `q${n}`, learned: [], clean_runs: n, qualified_ms: n },
          answer: n,
        })),
  ),
  key.map(
    (of): Act =>
      (store) =>
        store.demote(of, DEMOTION),
  ),
  key.map(
    (of): Act =>
      (store) =>
        store.forget(of),
  ),
  fc.tuple(key, fc.boolean()).map(
    ([of, failed]): Act =>
      (store, n) =>
        store.signal(of, () =>
          ok({
            signal: { run: `s${n}`, failed, reason: "r", models: [], signalled_ms: n },
            counts: NO_COUNTS,
            demotion: failed && n % 3 === 0 ? DEMOTION : null,
          }),
        ),
  ),
);

function everything(store: ProcedureStore): unknown {
  return {
    list: store.list(100),
    task: store.findTask(NAME.task, 3),
    records: KEYS.map((one) => plainRecord(store.read(one))),
  };
}

function counted(store: ProcedureStore): MemoryLimits {
  let rows = 0;
  let bytes = 0;
  for (const one of KEYS) {
    const record = store.read(one);
    rows += record?.observations.length ?? 0;
    for (const each of record?.observations ?? []) {
      bytes += String(each.models[0]?.answer ?? "").length;
    }
  }
  return { rows, bytes };
}

it("both stores do the same, whatever is done; what stands is never dropped and limits hold", () => {
  const root = mkdtempSync(join(tmpdir(), "rote-stores-"));
  const limits = { rows: 8, bytes: 6000 };
  let round = 0;
  try {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40, size: "max" }), (story) => {
        round += 1;
        const directory = join(root, String(round));
        const plain = memoryProcedures(limits);
        let durable = createProcedures(directory, limits);
        try {
          for (const [n, each] of story.entries()) {
            const standing = plain.list(100).filter((one) => one.qualification !== null);
            const expected = each(plain, n);
            expect(each(durable, n)).toEqual(expected);
            expect(everything(durable)).toEqual(everything(plain));
            const rows = counted(plain);
            expect(rows.rows).toBeLessThanOrEqual(limits.rows);
            expect(rows.bytes).toBeLessThanOrEqual(limits.bytes);
            const evicted = (expected as { value?: { evicted?: number } } | undefined)?.value
              ?.evicted;
            if (evicted !== undefined && evicted > 0) {
              for (const one of standing) expect(plain.find(one)).toBeDefined();
            }
          }
          durable.close();
          durable = openProcedures(directory, limits);
          expect(everything(durable)).toEqual(everything(plain));
        } finally {
          durable.close();
          rmSync(directory, { recursive: true, force: true });
        }
      }),
      { numRuns: 40 },
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
