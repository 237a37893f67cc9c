import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, describe, expect, it } from "vitest";
import type { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import type { QualifiedProcedure } from "../../../src/memory/index.ts";
import { PHASES } from "../../../src/model/memory.ts";
import type { Run } from "../../../src/run/index.ts";
import { FILE } from "../../../src/store/sqlite/schema.ts";
import { ENVIRONMENT as environment, MODELS as models } from "../../support/pure-procedure.ts";
import { climb, guided, kindProcedure, memories, offset, refusal } from "./memos.ts";

const { place, created, opened, remove } = memories();
afterEach(remove);

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
    const writer = new Sqlite(join(place(), FILE));
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
      const writer = new Sqlite(join(place(), FILE));
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
