import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EvaluationFailure, fits, writeValue } from "../../src/expression/index.ts";
import { check, plain, typeOf, valuesOf } from "../support/expressions.ts";
import { PROGRAM_INPUTS, type Program, programs } from "../support/random-programs.ts";
import { interpret } from "../support/reference-interpreter.ts";
import { jsonOf, jsonText, ReferenceFailure, readAs } from "../support/reference-values.ts";

const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 500);

interface Outcome {
  readonly value?: string;
  readonly code?: string;
  readonly fuel?: number;
}

function around({ inputs }: Program, fuel?: number) {
  const given = Object.fromEntries(
    Object.entries(PROGRAM_INPUTS).map(([name, type]) => [name, [type, inputs[name]] as const]),
  );
  return { inputs: given, ...(fuel !== undefined && { limits: { fuel } }) };
}

function byEngine(program: Program, fuel?: number): Outcome {
  const { compiled, problems } = check(program.expression, around(program, fuel));
  if (compiled === undefined) throw new Error(`does not check: ${JSON.stringify(problems[0])}`);
  try {
    const value = compiled.evaluate({ inputs: valuesOf(around(program).inputs), nodes: [] });
    return { value: jsonText(plain(writeValue(compiled.type, value))) };
  } catch (error) {
    if (error instanceof EvaluationFailure) return { code: error.code };
    throw error;
  }
}

function byReference(program: Program): Outcome {
  const inputs = new Map(
    Object.entries(PROGRAM_INPUTS).map(([name, type]) => [
      name,
      readAs(type, program.inputs[name]),
    ]),
  );
  try {
    const { value, fuel } = interpret(program.expression, inputs);
    return { value: jsonText(jsonOf(value)), fuel };
  } catch (error) {
    if (error instanceof ReferenceFailure) return { code: error.code };
    throw error;
  }
}

describe("random well-typed programs", () => {
  test("give the value, or fail with the code, that the reference interpreter says", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(programs, (program) => {
        const { fuel: _, ...expected } = byReference(program);
        expect(byEngine(program)).toEqual(expected);
        const kind = expected.code ?? "value";
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }),
      { numRuns: RUNS },
    );
    // The programs must be worth running: most end with a value, and failures of several kinds occur.
    expect((seen.get("value") ?? 0) / RUNS).toBeGreaterThan(0.5);
    expect(seen.size).toBeGreaterThan(3);
  });

  test("use the fuel that counting evaluated operators says, and little more", () => {
    fc.assert(
      fc.property(programs, (program) => {
        const { value, fuel = 0 } = byReference(program);
        fc.pre(value !== undefined);
        // Beyond the operators it pays for the size of large values, which is not much here.
        expect(byEngine(program, 2 * fuel + 200)).toEqual({ value });
        expect(byEngine(program, fuel - 1)).toEqual({ code: "out_of_fuel" });
      }),
      { numRuns: RUNS / 2 },
    );
  });

  test("have the type that they were made for, or a narrower one", () => {
    fc.assert(
      fc.property(programs, (program) => {
        const { compiled } = check(program.expression, around(program));
        expect(compiled && fits(compiled.type, typeOf(program.type))).toBe(true);
      }),
      { numRuns: RUNS / 4 },
    );
  });
});
