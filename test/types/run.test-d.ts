import { expectTypeOf, test } from "vitest";
import {
  type JsonValue,
  type PendingModel,
  Procedure,
  type Run,
  type RunReport,
  type RunStateName,
  type StopReason,
} from "../../src/index.ts";

declare const run: Run;

test("a run is read, never written", () => {
  expectTypeOf(run.advancePure).returns.toEqualTypeOf<RunStateName>();
  expectTypeOf(run.advanceAsync).returns.toEqualTypeOf<Promise<RunStateName>>();
  expectTypeOf(run.pendingModel).toEqualTypeOf<PendingModel | null>();
  expectTypeOf(run.pending).toEqualTypeOf<readonly PendingModel[]>();
  expectTypeOf(run.result).toEqualTypeOf<JsonValue | undefined>();
  expectTypeOf(run.report).toEqualTypeOf<RunReport>();
  // @ts-expect-error the state follows from events
  run.state = "verified";
  // @ts-expect-error so does the trace
  run.report.trace[0].outcome = "done";
});

test("a procedure needs a verifier, a start needs an environment", () => {
  // @ts-expect-error verifier missing
  new Procedure({});
  // @ts-expect-error environment missing
  new Procedure({}, { verifier: true }).start({}, {});
  expectTypeOf(new Procedure({}, { verifier: true }).start).returns.toEqualTypeOf<Run>();
});

test("tokens are a number or unknown, and a stop reason is one of a closed list", () => {
  expectTypeOf<RunReport["tokens"]["input"]>().toEqualTypeOf<number | "unknown">();
  expectTypeOf<"success">().not.toExtend<StopReason>();
});
