import { describe, expectTypeOf, test } from "vitest";
import type {
  Environment,
  JsonValue,
  PendingModel,
  Plan,
  QualifiedProcedure,
  Run,
  RunReport,
  RunStateName,
} from "../../src/index.ts";
import { type Phase, Procedure, ProcedureMemory, type StopReason } from "../../src/index.ts";

declare const procedure: Procedure;
declare const run: Run;
declare const memory: ProcedureMemory;
declare const environment: Environment;

describe("procedures", () => {
  test("a recipe may be anything, since it is checked; a verifier must be named", () => {
    expectTypeOf<ConstructorParameters<typeof Procedure>[0]>().toEqualTypeOf<unknown>();
    // @ts-expect-error a procedure without a verifier could verify nothing
    new Procedure({}, {});
    // @ts-expect-error nor without options
    new Procedure({});
  });

  test("a run starts with JSON inputs and a whole environment", () => {
    expectTypeOf(procedure.start({ quantity: "6" }, { environment })).toEqualTypeOf<Run>();
    // @ts-expect-error big integers are written as text in JSON
    procedure.start({ quantity: 6n }, { environment });
    // @ts-expect-error an environment has five parts
    procedure.start({}, { environment: { policy: "" } });
    // @ts-expect-error a start without an environment is refused
    procedure.start({}, {});
  });

  test("what was compiled cannot be written to", () => {
    expectTypeOf(procedure.plan).toEqualTypeOf<Plan>();
    // @ts-expect-error plans are frozen
    procedure.plan.id = "another";
    // @ts-expect-error lists of nodes too
    procedure.plan.nodes.push();
  });
});

describe("runs", () => {
  test("what looks like a run is none", () => {
    expectTypeOf<{ state: "verified"; result: "7200" }>().not.toExtend<Run>();
  });

  test("an advance answers with a state, and a result is JSON or not there", () => {
    expectTypeOf(run.advancePure({ environment })).toEqualTypeOf<RunStateName>();
    expectTypeOf(run.advanceAsync(null, { environment })).resolves.toEqualTypeOf<RunStateName>();
    expectTypeOf(run.result).toEqualTypeOf<JsonValue | undefined>();
    expectTypeOf(run.pendingModel).toEqualTypeOf<PendingModel | null>();
    expectTypeOf(run.report).toEqualTypeOf<RunReport>();
    expectTypeOf(run.report.reason).toEqualTypeOf<StopReason | null>();
  });

  test("unknown tokens are a word, never a number that was made up", () => {
    expectTypeOf(run.report.tokens.input).toEqualTypeOf<number | "unknown">();
  });
});

describe("procedure memory", () => {
  test("it takes a run, not a claim about one", () => {
    expectTypeOf(memory.observe).parameter(0).toEqualTypeOf<Run>();
    // @ts-expect-error a report is a claim
    void memory.observe(run.report, { phase: "training" });
    // @ts-expect-error phases are a closed list
    void memory.observe(run, { phase: "production" });
    expectTypeOf<Phase>().toEqualTypeOf<"training" | "shadow" | "canary">();
  });

  test("qualifying gives a procedure that starts runs", () => {
    expectTypeOf(
      memory.qualify(procedure, { environment }),
    ).resolves.toEqualTypeOf<QualifiedProcedure>();
    expectTypeOf<QualifiedProcedure["start"]>().returns.toEqualTypeOf<Run>();
  });

  test("a memory is opened or created, never constructed", () => {
    // @ts-expect-error the constructor is private
    new ProcedureMemory();
    expectTypeOf(ProcedureMemory.open).returns.resolves.toEqualTypeOf<ProcedureMemory>();
  });
});
