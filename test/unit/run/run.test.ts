import { describe, expect, it } from "vitest";
import { EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";
import { evidenceOf, type Run } from "../../../src/run/index.ts";
import { compiled, ENVIRONMENT, recipeOf, started } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;

const DOUBLE = compiled(
  recipeOf({ n: "integer" }, [
    {
      id: "r",
      step: { kind: "pure", value: { op: "add", left: { input: "n" }, right: { input: "n" } } },
    },
  ]),
);
const ASK = compiled(
  recipeOf({}, [{ id: "m", output: "text", step: { kind: "model", prompt: "?" } }]),
);

describe("the life of a run", () => {
  it("is ready, then ends; advancing an ended run says so again and changes nothing", () => {
    const { run, events } = started(DOUBLE, { n: 2 });
    expect(run.state).toBe("ready");
    expect(run.result).toBeUndefined();
    expect(run.advancePure({ environment })).toBe("verified");
    const report = run.report;
    expect(run.advancePure({ environment })).toBe("verified");
    expect(run.advancePure({ environment: EMPTY_ENVIRONMENT })).toBe("verified");
    expect(run.report).toEqual(report);
    expect(events).toHaveLength(1);
  });

  it("runs the same through the asynchronous call", async () => {
    const { run } = started(DOUBLE, { n: 2 });
    expect(await run.advanceAsync(null, { environment })).toBe("verified");
    const asking = started(ASK, {}).run;
    await asking.advanceAsync(null, { environment });
    await expect(
      asking.advanceAsync(null, { environment, model: { answer: 1 } }),
    ).rejects.toMatchObject({ code: "invalid_model_answer" });
    expect(await asking.advanceAsync(null, { environment, model: { answer: "x" } })).toBe(
      "verified",
    );
  });

  it("cancelled stays cancelled, whatever arrives late (B039)", () => {
    const { run, events } = started(ASK, {});
    run.advancePure({ environment });
    expect(run.cancel()).toBe("cancelled");
    const report = run.report;
    expect(report).toMatchObject({ reason: "user_cancelled", independently_verified: false });
    expect(() => run.advancePure({ environment, model: { answer: "late" } })).toThrow(
      expect.objectContaining({ code: "not_pending" }),
    );
    expect(run.cancel()).toBe("cancelled");
    expect(run.report).toEqual(report);
    expect(events.map((event) => event.type)).toEqual(["started", "stopped"]);
  });

  it("cancelling before the first step evaluates nothing, and cancelling after the end changes nothing", () => {
    const early = started(DOUBLE, { n: 2 });
    expect(early.run.cancel()).toBe("cancelled");
    expect(early.run.report.trace[0]?.outcome).toBe("not_reached");
    expect(early.events.map((event) => event.type)).toEqual(["started", "stopped"]);
    const late = started(DOUBLE, { n: 2 }).run;
    late.advancePure({ environment });
    expect(late.cancel()).toBe("verified");
  });

  it("a closed run cannot be moved; what it has to say can be read", () => {
    const { run } = started(DOUBLE, { n: 2 });
    run.advancePure({ environment });
    run.close();
    run.close();
    expect(run.result).toBe("4");
    expect(run.report.state).toBe("verified");
    expect(() => run.advancePure({ environment })).toThrow(
      expect.objectContaining({ code: "run_closed" }),
    );
    expect(() => run.cancel()).toThrow(expect.objectContaining({ code: "run_closed" }));
  });

  it("an environment that differs at the start starts nothing; later it ends the run; what differs is named (B070)", () => {
    expect(() => started(DOUBLE, { n: 1 }, { environment: EMPTY_ENVIRONMENT })).toThrow(
      expect.objectContaining({ code: "environment_changed" }),
    );
    for (const field of ["policy", "tools", "credentials", "evidence", "host_configuration"]) {
      const { run } = started(ASK, {});
      run.advancePure({ environment });
      const changed = { ...ENVIRONMENT, [field]: "f".repeat(64) };
      expect(run.advancePure({ environment: changed, model: { answer: "x" } })).toBe("denied");
      expect(run.report).toMatchObject({ reason: "environment_changed", model_calls: 0 });
      const message = `the environment differs from the recipe's: ${field}`;
      expect(run.report.failure).toMatchObject({ message });
      expect(() => started(ASK, {}, { environment: changed })).toThrow(
        expect.objectContaining({ message, data: { parts: [field] } }),
      );
    }
  });

  it("cannot be moved from inside a call that is moving it", () => {
    const tried: unknown[] = [];
    const { run } = started(
      ASK,
      {},
      {
        record: () => {
          try {
            run.cancel();
          } catch (error) {
            tried.push(error);
          }
        },
      },
    );
    expect(run.advancePure({ environment })).toBe("awaiting_model");
    expect(tried).toEqual([expect.objectContaining({ code: "run_busy" })]);
  });

  it("an event that cannot be recorded has not happened", () => {
    let full = false;
    const { run } = started(
      ASK,
      {},
      {
        record: () => {
          if (full) throw new Error("disk full");
        },
      },
    );
    run.advancePure({ environment });
    full = true;
    expect(() => run.advancePure({ environment, model: { answer: "x" } })).toThrow("disk full");
    expect(run.state).toBe("awaiting_model");
    full = false;
    expect(run.advancePure({ environment, model: { answer: "x" } })).toBe("verified");
  });
});

describe("what is refused at the start", () => {
  it("an unbound recipe", () => {
    const recipe = recipeOf({}, [{ id: "r", step: { kind: "pure", value: 1 } }], {
      environment: undefined,
    }) as { environment?: unknown };
    delete recipe.environment;
    expect(() => started(compiled(recipe), {})).toThrow(
      expect.objectContaining({ code: "unbound_plan" }),
    );
  });

  it("a recipe that reaches outside, without a host; a checkpoint, without a journal", () => {
    const read = recipeOf({}, [
      { id: "r", output: "json", step: { kind: "read", tool: "files.read", arguments: "a" } },
    ]);
    expect(() => started(compiled(read), {}).run.advancePure({ environment })).toThrow(
      expect.objectContaining({ code: "host_required", data: { node: "r" } }),
    );
    const checkpoint = recipeOf({}, [{ id: "c", step: { kind: "checkpoint", value: 1 } }]);
    expect(() => started(compiled(checkpoint), {}).run.advancePure({ environment })).toThrow(
      expect.objectContaining({ code: "journal_required", data: { node: "c" } }),
    );
  });
});

describe("evidence", () => {
  it("comes from runs only: nothing that looks like one is taken", () => {
    const { run } = started(DOUBLE, { n: 2 });
    run.advancePure({ environment });
    const claims: readonly unknown[] = [
      null,
      undefined,
      "run",
      {},
      { state: "verified", report: run.report, result: "4" },
      Object.create(run),
      Object.create(Object.getPrototypeOf(run)),
      new Proxy(run, {}),
      Object.create(Object.getPrototypeOf(run), { state: { value: "verified" } }),
    ];
    for (const claim of claims) {
      expect(() => evidenceOf(claim as Run)).toThrow(
        expect.objectContaining({ code: "not_a_run" }),
      );
    }
    expect(evidenceOf(run).state).toBe("verified");
  });

  it("runs cannot be constructed or altered from outside", () => {
    const { run } = started(DOUBLE, { n: 2 });
    const Constructor = run.constructor as new (...parts: unknown[]) => Run;
    expect(() => new Constructor(Symbol("run"), {})).toThrow(
      expect.objectContaining({ code: "not_constructible" }),
    );
    expect(() => Object.assign(run, { state: "verified" })).toThrow(TypeError);
    expect(() => Object.defineProperty(run, "result", { value: "9" })).toThrow(TypeError);
    expect(run.state).toBe("ready");
    expect(run.result).toBeUndefined();
  });

  it("equal inputs have one digest, however they were written", () => {
    const digest = (n: unknown) => evidenceOf(started(DOUBLE, { n }).run).inputs;
    expect(digest(12)).toBe(digest("12"));
    expect(digest(12)).not.toBe(digest(13));
  });

  it("every end but verified is no evidence of success (B106)", () => {
    const rejected = started(
      compiled(recipeOf({}, [{ id: "r", step: { kind: "pure", value: true } }]), false),
      {},
    ).run;
    rejected.advancePure({ environment });
    const exhausted = started(ASK, {}, { limits: { max_steps: 0 } }).run;
    exhausted.advancePure({ environment });
    const denied = started(ASK, {}).run;
    denied.advancePure({ environment: EMPTY_ENVIRONMENT });
    const cancelled = started(ASK, {}).run;
    cancelled.cancel();
    const open = started(ASK, {}).run;
    open.advancePure({ environment });
    const seen = [rejected, exhausted, denied, cancelled, open].map((run) => {
      const { state, reason, independentlyVerified, result } = evidenceOf(run);
      return { state, reason, independentlyVerified, result };
    });
    const none = { independentlyVerified: false, result: null };
    expect(seen).toEqual([
      { state: "rejected", reason: "verifier_rejected", ...none },
      { state: "exhausted", reason: "max_steps", ...none },
      { state: "denied", reason: "environment_changed", ...none },
      { state: "cancelled", reason: "user_cancelled", ...none },
      { state: "awaiting_model", reason: null, ...none },
    ]);
  });

  it("keeps model answers in stored form and prompts as commitments only", () => {
    const { run } = started(ASK, {});
    run.advancePure({ environment });
    run.advancePure({ environment, model: { answer: "yes" } });
    const { models } = evidenceOf(run);
    expect(models).toEqual([
      {
        node: "m",
        index: null,
        prompt: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        answer: "yes",
        model: { provider: "test", name: "scripted" },
        source: "supplied",
      },
    ]);
  });
});
