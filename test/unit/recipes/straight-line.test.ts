import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import {
  environment,
  finish,
  type Inputs,
  jsonLines,
  shippedProcedure,
  startOptions,
} from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

const NAME = "recalculation-straight-line";

interface Schedule {
  readonly depreciable: string;
  readonly regular: string;
  readonly rows: readonly {
    readonly period: string;
    readonly amount: string;
    readonly accumulated: string;
  }[];
}

function scheduleOf(inputs: Inputs): Schedule {
  const run = finish(shippedProcedure(NAME).start(inputs, startOptions), NAME);
  expect(run.report.failure).toBeNull();
  return run.result as unknown as Schedule;
}

function amounts(schedule: Schedule): readonly number[] {
  return schedule.rows.map(({ amount }) => Number(amount));
}

function refusalOf(inputs: Inputs): unknown {
  const run = finish(shippedProcedure(NAME).start(inputs, startOptions), NAME);
  expect(run.result).toBeUndefined();
  return [run.state, run.report.reason, run.report.failure?.node];
}

const vectors = "data/depreciation-vectors/straight-line.jsonl";
const present = sharedPresent(vectors);

describe.skipIf(!present)(
  `straight line against Excel's figures${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("every whole-life row is reproduced; five rows qualify it, the others run compiled and verified", async () => {
      const rows = jsonLines(sharedPath(vectors))
        .map((line) => line as { readonly [column: string]: string | boolean })
        .filter((row) => row["integer_life"] === true);
      expect(rows).toHaveLength(10);
      const directory = await mkdtemp(path.join(tmpdir(), "rote-straight-line-"));
      try {
        const memory = await ProcedureMemory.create(path.join(directory, "memory"));
        const procedure = shippedProcedure(NAME);
        const inputsOf = (row: { readonly [column: string]: string | boolean }): Inputs => ({
          cost: row["cost_minor"] ?? null,
          salvage: row["salvage_minor"] ?? null,
          life: row["life"] ?? null,
        });
        const phases = ["training", "training", "training", "shadow", "canary"] as const;
        const results: unknown[] = [];
        for (const [index, phase] of phases.entries()) {
          const run = finish(procedure.start(inputsOf(rows[index] ?? {}), startOptions), NAME);
          results.push((run.result as unknown as Schedule).regular);
          await memory.observe(run, { phase });
        }
        const qualified = await memory.qualify(procedure, { environment });
        for (const row of rows.slice(phases.length)) {
          const run = finish(qualified.start(inputsOf(row), startOptions), NAME);
          expect([run.mode, run.state, run.report.independently_verified]).toEqual([
            "compiled",
            "verified",
            true,
          ]);
          results.push((run.result as unknown as Schedule).regular);
        }
        expect(results).toEqual(rows.map((row) => row["expected_minor_floor"]));
        await memory.close();
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  },
);

describe("a straight-line schedule", () => {
  it("gives the residue to the last period and never a negative row (B125)", () => {
    const schedule = scheduleOf({ cost: 100000, salvage: 10000, life: 7 });
    expect(amounts(schedule)).toEqual([12857, 12857, 12857, 12857, 12857, 12857, 12858]);
    expect(schedule.regular).toBe("12857");
    expect(schedule.rows.at(-1)?.accumulated).toBe("90000");
  });

  it("gives everything to the only period of a life of one (B125)", () => {
    expect(amounts(scheduleOf({ cost: 100000, salvage: 10000, life: 1 }))).toEqual([90000]);
  });

  it("gives zeros where salvage equals cost (B125)", () => {
    expect(amounts(scheduleOf({ cost: 10000, salvage: 10000, life: 4 }))).toEqual([0, 0, 0, 0]);
  });

  it("gives six zeros and a three for cost 3 over 7 periods (B125)", () => {
    expect(amounts(scheduleOf({ cost: 3, salvage: 0, life: 7 }))).toEqual([0, 0, 0, 0, 0, 0, 3]);
  });

  it.each([
    ["a life of 0", { cost: 100, salvage: 0, life: 0 }, "periods"],
    ["a salvage above cost", { cost: 100, salvage: 101, life: 5 }, "depreciable"],
    ["a negative cost", { cost: -5, salvage: -7, life: 5 }, "depreciable"],
    ["a negative salvage", { cost: 5, salvage: -7, life: 5 }, "depreciable"],
  ])("refuses %s (B125)", (_what, inputs, node) => {
    expect(refusalOf(inputs)).toEqual(["rejected", "verify_failed", node]);
  });

  it("spreads what is left over the periods that are left of an asset taken over (B126)", () => {
    const schedule = scheduleOf({
      cost: 250000,
      salvage: 1000,
      life: 24,
      opening: { amount: 10000, periods: 1 },
    });
    expect(amounts(schedule)).toEqual([...Array<number>(22).fill(10391), 10398]);
    expect(amounts(schedule).reduce((sum, amount) => sum + amount, 10000)).toBe(249000);
    expect(schedule.rows[0]?.period).toBe("2");
    expect(schedule.rows.at(-1)).toEqual({ period: "24", amount: "10398", accumulated: "249000" });
  });

  it("refuses more booked than there is to depreciate (B126)", () => {
    const taken = { cost: 250000, salvage: 1000, life: 24 };
    expect(refusalOf({ ...taken, opening: { amount: 249001, periods: 3 } })).toEqual([
      "rejected",
      "verify_failed",
      "remaining",
    ]);
    expect(refusalOf({ ...taken, opening: { amount: 1, periods: 25 } })).toEqual([
      "rejected",
      "verify_failed",
      "periods",
    ]);
  });

  it("has no rows when every period is booked, and then asks that nothing is left (B126)", () => {
    const taken = { cost: 250000, salvage: 1000, life: 24 };
    const schedule = scheduleOf({ ...taken, opening: { amount: 249000, periods: 24 } });
    expect([schedule.rows, schedule.regular]).toEqual([[], "0"]);
    expect(refusalOf({ ...taken, opening: { amount: 248999, periods: 24 } })).toEqual([
      "rejected",
      "verify_failed",
      "remaining",
    ]);
  });

  it("adds up to cost less salvage exactly, whatever the figures", () => {
    const procedure = shippedProcedure(NAME);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.bigInt({ min: 0n, max: 10n ** 30n }),
        fc.integer({ min: 1, max: 60 }),
        (salvage, depreciable, life) => {
          const inputs = {
            cost: String(salvage + depreciable),
            salvage: String(salvage),
            life,
          };
          const run = finish(procedure.start(inputs, startOptions), NAME);
          expect(run.state).toBe("verified");
          const { rows, regular } = run.result as unknown as Schedule;
          expect(rows).toHaveLength(life);
          expect(rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(depreciable);
          expect(rows.slice(0, -1).every(({ amount }) => amount === regular)).toBe(true);
          expect(BigInt(regular)).toBe(depreciable / BigInt(life));
        },
      ),
      { numRuns: 100 },
    );
  });
});
