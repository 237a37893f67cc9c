import { afterEach, describe, expect, it } from "vitest";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { PHASES } from "../../../src/model/memory.ts";
import type { Random } from "../../../src/ports/random.ts";
import type { Run } from "../../../src/run/index.ts";
import { ENVIRONMENT as environment, MODELS as models } from "../../support/pure-procedure.ts";
import { answered, climb, guided, kindProcedure, memories, offset, refusal } from "./memos.ts";

const { created, remove } = memories();
afterEach(remove);

describe.each(["sqlite", "in process"] as const)("the ladder, %s", (kind) => {
  it("five runs qualify; compiled runs use what was learned, and train nothing (B107)", async () => {
    const memory = kind === "sqlite" ? await created() : await ProcedureMemory.inProcess();
    const procedure = kindProcedure();
    expect(await refusal(memory.qualify(procedure, { environment }))).toMatchObject({
      code: "not_qualified",
      data: {
        outcome: "no_evidence",
        missing: [
          "3 more training runs with inputs not observed before (0 of 3)",
          "1 more shadow run with inputs not observed before (0 of 1)",
          "1 more canary run with inputs not observed before (0 of 1)",
        ],
      },
    });
    await climb(memory, procedure);
    const qualified = await memory.qualify(procedure, { environment });
    expect(qualified).toMatchObject({ clean_runs: 5 });
    expect(qualified.failure_rate_bound).toBeCloseTo(0.4507, 4);
    expect(qualified.learned.map(({ node, answer, varied }) => [node, answer, varied])).toEqual([
      ["kind", "invoice", true],
      ["note", "n", false],
    ]);
    const run = qualified.start(
      { memo: "never seen", expected: "invoice" },
      { environment, models },
    );
    expect(run.mode).toBe("compiled");
    expect(run.advancePure({ environment })).toBe("verified");
    expect(run.result).toBe("invoice");
    expect(run.report).toMatchObject({ learned_model_hits: 2, model_calls: 0 });
    for (const phase of PHASES) {
      expect(await refusal(memory.observe(run, { phase }))).toMatchObject({ code: "compiled_run" });
    }
    expect(await refusal(memory.signal(run))).toMatchObject({ code: "compiled_run" });
    expect((await memory.status(procedure, { environment })).clean_runs).toBe(5);
    await memory.close();
  });

  it("a differing shadow run fails its phase, and the node is asked again in compiled runs", async () => {
    const memory = kind === "sqlite" ? await created() : await ProcedureMemory.inProcess();
    const procedure = kindProcedure();
    for (const memo of ["1", "2", "3"]) {
      await memory.observe(guided(procedure, memo), { phase: "training" });
    }
    await expect(
      memory.observe(guided(procedure, "4", "receipt"), { phase: "shadow" }),
    ).resolves.toMatchObject({
      outcome: "failed",
      agreed: 1,
      mismatches: [{ node: "kind", index: null, kind: "model" }],
    });
    expect(await refusal(memory.qualify(procedure, { environment }))).toMatchObject({
      data: { outcome: "fail" },
    });
    await memory.observe(guided(procedure, "5"), { phase: "shadow" });
    await memory.observe(guided(procedure, "6"), { phase: "canary" });
    const qualified = await memory.qualify(procedure, { environment });
    expect(qualified.learned.map((one) => one.node)).toEqual(["note"]);
    const run = qualified.start({ memo: "7", expected: "letter" }, { environment, models });
    expect(run.advancePure({ environment })).toBe("awaiting_model");
    expect(run.pending.map((one) => one.node)).toEqual(["kind"]);
    await memory.close();
  });
});

describe("a share of qualified starts may run guided", () => {
  async function qualified(): Promise<{
    memory: ProcedureMemory;
    at: (share: number, draw: number) => Run;
  }> {
    const draws: number[] = [];
    const random: Random = {
      bytes: (count) => {
        const bytes = new Uint8Array(count);
        if (count === 4) new DataView(bytes.buffer).setUint32(0, draws.shift() ?? 0);
        else bytes.set(ids.bytes(count));
        return bytes;
      },
    };
    const ids = offset(200);
    const memory = await created({ random });
    const procedure = kindProcedure();
    await climb(memory, procedure);
    const qualifiedProcedure = await memory.qualify(procedure, { environment });
    return {
      memory,
      at: (guidedShare, draw) => {
        draws.push(draw);
        const inputs = { memo: `draw ${draw}`, expected: "invoice" };
        return qualifiedProcedure.start(inputs, { environment, models, guidedShare });
      },
    };
  }

  it("drawn before the first node, and no more often than asked", async () => {
    const { at } = await qualified();
    const modes = (share: number) =>
      [0, 0x3fff_ffff, 0x4000_0000, 0xffff_ffff].map((draw) => at(share, draw).mode);
    expect(modes(0)).toEqual(["compiled", "compiled", "compiled", "compiled"]);
    expect(modes(0.25)).toEqual(["guided", "guided", "compiled", "compiled"]);
    expect(modes(1)).toEqual(["guided", "guided", "guided", "guided"]);
  });

  it.each([-0.1, 1.1, Number.NaN])("a share of %d is refused", async (share) => {
    const { at } = await qualified();
    expect(() => at(share, 0)).toThrow(expect.objectContaining({ code: "bad_share" }));
  });

  it("and speaks as a signal: for it when it agrees, against it when it differs", async () => {
    const { memory, at } = await qualified();
    const agreeing = answered(at(1, 1), "invoice");
    expect(agreeing.state).toBe("verified");
    await expect(memory.signal(agreeing)).resolves.toMatchObject({ failed: false });
    expect(await refusal(memory.signal(agreeing))).toMatchObject({ code: "run_already_observed" });
    for (const [draw, demoted] of [
      [2, false],
      [3, true],
    ] as const) {
      const differing = answered(at(1, draw), "invoice", "another note");
      await expect(memory.signal(differing)).resolves.toMatchObject({ failed: true, demoted });
    }
    for (const share of [0, 1]) {
      expect(() => at(share, 4)).toThrow(expect.objectContaining({ code: "not_qualified" }));
    }
  });
});
