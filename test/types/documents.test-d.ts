import { describe, expectTypeOf, test } from "vitest";
import {
  compile,
  type Diagnostic,
  type DiagnosticCode,
  type ErrorCode,
  type Expression,
  expressions,
  type JsonValue,
  type Plan,
  type Result,
  RoteError,
} from "../../src/index.ts";

describe("compiling", () => {
  test("gives a plan or every diagnostic, and has to be asked which", () => {
    const compiled = compile("{}");
    expectTypeOf(compiled).toEqualTypeOf<Result<Plan, readonly Diagnostic[]>>();
    // @ts-expect-error not before `ok` was looked at
    compiled.value;
    if (compiled.ok) expectTypeOf(compiled.value).toEqualTypeOf<Plan>();
    else expectTypeOf(compiled.error[0]?.code).toEqualTypeOf<DiagnosticCode | undefined>();
  });
});

describe("errors", () => {
  test("carry a code and JSON data", () => {
    const error = new RoteError("bad_input", "wrong");
    expectTypeOf(error.data).toEqualTypeOf<{ readonly [key: string]: JsonValue }>();
    expectTypeOf<"bad_input">().toExtend<ErrorCode>();
    expectTypeOf<"no_such_code">().not.toExtend<ErrorCode>();
  });
});

describe("builders", () => {
  test("make expressions that can stand in a recipe as they are", () => {
    const total = expressions.multiply(expressions.input("quantity"), expressions.input("price"));
    expectTypeOf(total).toExtend<Expression>();
    expectTypeOf(total).toExtend<JsonValue>();
    // @ts-expect-error a member of an operator is an expression
    expressions.multiply(() => 1, 2);
  });
});
