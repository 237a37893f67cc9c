import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { ENVIRONMENT as environment } from "../../support/pure-procedure.ts";
import { AS_EXPECTED, climb, guided, KIND, kindProcedure, memories, refusal } from "./memos.ts";

const { place, created, remove } = memories();
afterEach(remove);

describe("what a memory is asked and told", () => {
  it("look-up is exact; a similar task is only suggested", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await memory.observe(guided(procedure, "m"), { phase: "training" });
    const { procedures } = await memory.lookUp({ task: "case" });
    expect(procedures).toMatchObject([{ task: "case", observations: 1, qualification: null }]);
    const [found] = procedures;
    if (found === undefined) throw new Error("not found");
    expect(await memory.lookUp(found)).toEqual({ procedures, suggestion: null });
    expect(await memory.lookUp({ task: "cases" })).toEqual({ procedures: [], suggestion: "case" });
    expect(await memory.list()).toEqual(procedures);
    expect(await memory.list({ limit: 0 })).toEqual([]);
    expect(await refusal(memory.list({ limit: -1 }))).toMatchObject({ code: "bad_limits" });
  });

  it("recall gives what stands and judges nothing", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await climb(memory, procedure);
    expect(await memory.recall(procedure, { environment })).toBeUndefined();
    const qualified = await memory.qualify(procedure, { environment });
    const recalled = await memory.recall(procedure, { environment });
    expect(recalled?.id).toBe(qualified.id);
    expect(recalled?.learned).toEqual(qualified.learned);
  });

  it("a host may ask for more at opening and at each call, never for less", async () => {
    expect(
      await refusal(ProcedureMemory.create(place(), { requirement: { training: 2 } })),
    ).toMatchObject({ code: "bad_requirement" });
    const memory = await created({ requirement: { training: 4 } });
    const procedure = kindProcedure();
    for (const memo of ["1", "2", "3"]) {
      await memory.observe(guided(procedure, memo), { phase: "training" });
    }
    expect(
      await refusal(memory.observe(guided(procedure, "4"), { phase: "shadow" })),
    ).toMatchObject({
      code: "phase_out_of_order",
    });
    expect(
      await refusal(memory.status(procedure, { environment, requirement: { training: 3 } })),
    ).toMatchObject({ code: "bad_requirement" });
    const asked = { environment, requirement: { canary: 2 } };
    expect((await memory.status(procedure, asked)).missing).toEqual([
      "1 more training run with inputs not observed before (3 of 4)",
      "1 more shadow run with inputs not observed before (0 of 1)",
      "2 more canary runs with inputs not observed before (0 of 2)",
    ]);
  });

  it("demoting by hand needs a reason and something that stands", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    expect(await refusal(memory.demote(procedure, { environment, reason: "r" }))).toMatchObject({
      code: "not_qualified",
    });
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    for (const reason of ["", "  ", "x".repeat(501), "\ud800", undefined as unknown as string]) {
      expect(await refusal(memory.demote(procedure, { environment, reason }))).toMatchObject({
        code: "bad_reason",
      });
    }
    expect(qualified.stands()).toBe(true);
    await memory.demote(procedure, { environment, reason: "rounding was changed" });
    expect(qualified.stands()).toBe(false);
  });

  it("what the host reports feeds the same test as signals", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const report = { procedure, environment, failed: true, reason: "a guard refused" };
    expect(await refusal(memory.report(report))).toMatchObject({ code: "not_qualified" });
    await climb(memory, procedure);
    await memory.qualify(procedure, { environment });
    await expect(memory.report(report)).resolves.toMatchObject({ demoted: false });
    await expect(memory.report(report)).resolves.toMatchObject({ demoted: true });
  });

  it("forgetting starts from nothing", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    await expect(memory.forget(procedure, { environment })).resolves.toEqual({
      observations: 5,
      signals: 0,
      demotions: 0,
      qualified: true,
    });
    expect(qualified.stands()).toBe(false);
    await expect(memory.forget(procedure, { environment })).resolves.toBeUndefined();
    await memory.observe(guided(procedure, "a0"), { phase: "training" });
    const [summary] = await memory.list();
    if (summary === undefined) throw new Error("nothing kept");
    await expect(memory.forgetKey(summary)).resolves.toMatchObject({ observations: 1 });
  });

  it("limits have to be whole numbers over 0", async () => {
    for (const limits of [{ rows: 0 }, { bytes: 1.5 }, { rows: Number.POSITIVE_INFINITY }]) {
      expect(await refusal(ProcedureMemory.inProcess({ limits }))).toMatchObject({
        code: "bad_limits",
      });
    }
  });

  it("an unbound recipe can be remembered nowhere", async () => {
    const memory = await created();
    const { environment: _gone, ...unbound } = KIND as { readonly [member: string]: unknown };
    const procedure = new Procedure(unbound, { verifier: AS_EXPECTED });
    for (const call of [
      memory.status(procedure, { environment }),
      memory.qualify(procedure, { environment }),
      memory.forget(procedure, { environment }),
    ]) {
      expect(await refusal(call)).toMatchObject({ code: "unbound_plan" });
    }
  });

  it("after closing every call is refused, and closing again is not", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const run = guided(procedure, "m");
    await memory.close();
    await memory.close();
    for (const call of [
      memory.observe(run, { phase: "training" }),
      memory.qualify(procedure, { environment }),
      memory.status(procedure, { environment }),
      memory.recall(procedure, { environment }),
      memory.list(),
      memory.lookUp({ task: "case" }),
      memory.signal(run),
      memory.demote(procedure, { environment, reason: "r" }),
      memory.forget(procedure, { environment }),
    ]) {
      expect(await refusal(call)).toMatchObject({ code: "memory_closed" });
    }
  });

  it("the native module is loaded when a memory is first opened, and not before", () => {
    const index = JSON.stringify(
      new URL("../../../src/app/procedure-memory.ts", import.meta.url).href,
    );
    const script = `
      const loaded = () => process.report.getReport().sharedObjects.some((one) => one.includes("better_sqlite3"));
      const { ProcedureMemory } = await import(${index});
      const memory = await ProcedureMemory.inProcess();
      await memory.close();
      const before = loaded();
      await (await ProcedureMemory.create(${JSON.stringify(place())})).close();
      console.log(JSON.stringify([before, loaded()]));
    `;
    const child = spawnSync(
      process.execPath,
      ["--import", tsx(), "--input-type=module", "--eval", script],
      { encoding: "utf8" },
    );
    expect(child.stderr).toBe("");
    expect(JSON.parse(child.stdout)).toEqual([false, true]);
  });
});

function tsx(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
}
