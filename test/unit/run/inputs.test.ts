import { describe, expect, it } from "vitest";
import { compiled, ENVIRONMENT, recipeOf, started } from "../../support/pure-procedure.ts";

const NEEDS = compiled(
  recipeOf({ quantity: "integer", price: { decimal: 2 }, note: { optional: "text" }, on: "date" }, [
    {
      id: "r",
      step: {
        kind: "pure",
        value: {
          op: "record",
          fields: {
            quantity: { input: "quantity" },
            price: { input: "price" },
            note: { input: "note" },
            on: { input: "on" },
          },
        },
      },
    },
  ]),
);

function problems(inputs: unknown) {
  try {
    started(NEEDS, inputs);
  } catch (error) {
    const { code, data } = error as { code: string; data: { problems: unknown } };
    return { code, problems: data.problems };
  }
  return undefined;
}

describe("inputs", () => {
  it("are read by their types; optional ones may be left out", () => {
    const { run } = started(NEEDS, { quantity: 3, price: 12.5, on: "2026-02-28" });
    run.advancePure({ environment: ENVIRONMENT });
    expect(run.result).toEqual({ quantity: "3", price: "1250", on: "2026-02-28" });
  });

  it("that are wrong are all told at once, each by name and place", () => {
    expect(problems({ quantity: "03", price: 1.234, qantity: 1 })).toEqual({
      code: "bad_input",
      problems: [
        {
          input: "qantity",
          pointer: "",
          code: "unknown_input",
          message: 'unknown; did you mean "quantity"?',
        },
        { input: "on", pointer: "", code: "missing", message: "missing; expected date" },
        expect.objectContaining({ input: "price", code: "decode_failed" }),
        expect.objectContaining({ input: "quantity", code: "decode_failed" }),
      ],
    });
  });

  it.each([
    ["undefined", undefined],
    ["a bigint", 3n],
    ["a float", 1.5],
    ["a date object", new Date(0)],
    ["null", null],
  ])("%s is no integer", (_, quantity) => {
    const found = problems({ quantity, price: 1, on: "2026-02-28" });
    expect(found?.problems).toEqual([expect.objectContaining({ input: "quantity", pointer: "" })]);
  });

  it.each([null, [], "text", new Map(), new (class Inputs {})()])(
    "that are no plain object are refused",
    (inputs) => {
      expect(problems(inputs)).toEqual({
        code: "bad_input",
        problems: [expect.objectContaining({ input: null, code: "bad_shape" })],
      });
    },
  );

  it("are never read through getters or prototypes", () => {
    const found = problems({
      get quantity() {
        throw new Error("was called");
      },
      price: 1,
      on: "2026-02-28",
    });
    expect(found?.problems).toEqual([
      expect.objectContaining({ input: "quantity", message: "a getter is not a value" }),
    ]);
    const named = JSON.parse('{"__proto__": 1, "quantity": 1, "price": 1, "on": "2026-02-28"}');
    expect(problems(named)?.problems).toEqual([
      expect.objectContaining({ input: "__proto__", code: "unknown_input" }),
    ]);
  });

  it("of any number of unknown names are refused with the first hundred of them", () => {
    const named = (most: number) =>
      Object.fromEntries(Array.from({ length: most }, (_, at) => [`unknown${at}`, 1]));
    const found = problems(named(1_000))?.problems;
    expect(found).toHaveLength(101);
    expect(Object(found)[100]).toMatchObject({ input: null, code: "too_many_problems" });
    expect(problems(named(50))?.problems).toHaveLength(53);
  });
});
