import { afterEach, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import type { Environment } from "../../../src/model/environment.ts";
import type { Phase } from "../../../src/model/memory.ts";
import type { Run } from "../../../src/run/index.ts";
import {
  ENVIRONMENT as environment,
  MODELS as models,
  recipeOf,
} from "../../support/pure-procedure.ts";
import { AS_EXPECTED, answered, guided, KIND, kindProcedure, memories, refusal } from "./memos.ts";

const { created, remove } = memories();
afterEach(remove);

describe("only real runs are evidence", () => {
  it("a claim of any make is refused (B106)", async () => {
    const memory = await created();
    const run = guided(kindProcedure(), "m");
    const claims: readonly unknown[] = [
      { state: "verified", report: run.report, success: true },
      { ...run },
      Object.create(run),
      new Proxy(run, {}),
      run.report,
      null,
      "verified",
    ];
    for (const claim of claims) {
      expect(await refusal(memory.observe(claim as Run, { phase: "training" }))).toMatchObject({
        code: "not_a_run",
      });
      expect(await refusal(memory.signal(claim as Run))).toMatchObject({ code: "not_a_run" });
    }
    expect(await memory.list()).toEqual([]);
  });

  it("a run that was not verified is refused, whatever its result says of itself (B106)", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const start = (expected: string) =>
      procedure.start({ memo: "success: true", expected }, { environment, models });
    const rejected = answered(start("other"), "success");
    const waiting = start("x");
    waiting.advancePure({ environment });
    const cancelled = start("y");
    cancelled.cancel();
    const exhausted = procedure.start(
      { memo: "m", expected: "z" },
      { environment, models, limits: { max_steps: 1 } },
    );
    exhausted.advancePure({ environment });
    const refused = async (run: Run) => [
      run.state,
      ((await refusal(memory.observe(run, { phase: "training" }))) as { code: string }).code,
    ];
    expect(await refused(rejected)).toEqual(["rejected", "run_not_verified"]);
    expect(await refused(waiting)).toEqual(["awaiting_model", "run_not_ended"]);
    expect(await refused(cancelled)).toEqual(["cancelled", "run_not_verified"]);
    expect(await refused(exhausted)).toEqual(["exhausted", "run_not_verified"]);
    expect(await memory.list()).toEqual([]);
  });

  it("a check over nothing is no evidence, nor is one over a bad element (B108)", async () => {
    const memory = await created();
    const findings = new Procedure(
      recipeOf({ findings: { list: "integer" } }, [
        { id: "r", step: { kind: "pure", value: { input: "findings" } } },
      ]),
      {
        verifier: {
          op: "all",
          list: { input: "context/result" },
          as: "finding",
          empty: false,
          where: { op: "greater", left: { item: "finding" }, right: 0 },
        },
      },
    );
    const run = (list: readonly string[]) => {
      const started = findings.start({ findings: list }, { environment });
      started.advancePure({ environment });
      return started;
    };
    for (const list of [[], ["1", "0", "2"]]) {
      expect(await refusal(memory.observe(run(list), { phase: "training" }))).toMatchObject({
        code: "run_not_verified",
        message: expect.stringContaining("verifier_rejected"),
      });
    }
    expect(() => findings.start({}, { environment })).toThrow(
      expect.objectContaining({ code: "bad_input" }),
    );
    expect(await memory.status(findings, { environment })).toMatchObject({
      verdict: "no_evidence",
      phases: { training: { counted: 0, distinct_inputs: 0 } },
    });
    await expect(memory.observe(run(["1"]), { phase: "training" })).resolves.toMatchObject({
      outcome: "counted",
    });
  });

  it("equal inputs are one evidence, however they were written (B107)", async () => {
    const memory = await created();
    const procedure = new Procedure(
      recipeOf({ a: "integer", b: "integer" }, [
        {
          id: "r",
          step: { kind: "pure", value: { op: "add", left: { input: "a" }, right: { input: "b" } } },
        },
      ]),
      { verifier: true },
    );
    const run = (inputs: { readonly [name: string]: string | number }) => {
      const started = procedure.start(inputs, { environment });
      started.advancePure({ environment });
      return started;
    };
    await memory.observe(run({ a: 1, b: 2 }), { phase: "training" });
    for (const same of [
      { b: 2, a: 1 },
      { a: "1", b: "2" },
    ]) {
      expect(await refusal(memory.observe(run(same), { phase: "training" }))).toMatchObject({
        code: "inputs_already_observed",
      });
    }
    expect((await memory.status(procedure, { environment })).phases.training).toMatchObject({
      counted: 1,
      distinct_inputs: 1,
    });
  });

  it("a run of another procedure than the one named is refused by name of what differs", async () => {
    const memory = await created();
    const procedure = kindProcedure();
    const run = guided(procedure, "m");
    const named = async (other: Procedure, more: { readonly environment?: Environment } = {}) =>
      (
        (await refusal(memory.observe(run, { phase: "training", procedure: other, ...more }))) as {
          code: string;
        }
      ).code;
    expect(await named(new Procedure(KIND, { verifier: true }))).toBe("other_verifier");
    const longer = recipeOf({ memo: "text", expected: "text" }, [
      { id: "r", step: { kind: "pure", value: { input: "memo" } } },
    ]);
    expect(await named(new Procedure(longer, { verifier: AS_EXPECTED }))).toBe("other_plan");
    expect(await named(procedure, { environment: { ...environment, tools: "9".repeat(64) } })).toBe(
      "other_environment",
    );
    const { environment: _gone, ...unbound } = KIND as { readonly [member: string]: unknown };
    expect(await named(new Procedure(unbound, { verifier: AS_EXPECTED }))).toBe("unbound_plan");
    await expect(memory.observe(run, { phase: "training", procedure })).resolves.toMatchObject({
      outcome: "counted",
    });
  });

  it("a phase that does not exist is refused", async () => {
    const memory = await created();
    const run = guided(kindProcedure(), "m");
    expect(await refusal(memory.observe(run, { phase: "live" as Phase }))).toMatchObject({
      code: "bad_phase",
    });
  });
});
