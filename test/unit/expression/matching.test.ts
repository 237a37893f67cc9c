import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failed, result } from "../../support/expressions.ts";

/** The same operand, written so that no short way applies to it. */
const wrapped = (operand: unknown) => ({ op: "let", name: "w", value: operand, in: { item: "w" } });
const equal = (left: unknown, right: unknown) => ({ op: "equal", left, right });
const field = (input: string, name: string) => ({ input: `${input}/${name}` });

const party = { record: { a: "integer", b: "text", c: "boolean" } };
const parties = fc.record({
  a: fc.constantFrom(1, 2, "9007199254740993"),
  b: fc.constantFrom("", "x", "y", "x".repeat(300)),
  c: fc.boolean(),
});

describe("short ways to compare fields say what the long way says", () => {
  test("between two inputs, one field or several", () => {
    fc.assert(
      fc.property(
        parties,
        parties,
        fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 }),
        (left, right, names) => {
          const around = { inputs: { left: [party, left], right: [party, right] } } as const;
          const and = (side: (operand: unknown) => unknown) => ({
            op: "and",
            values: names.map((name) => equal(side(field("left", name)), field("right", name))),
          });
          const expected = names.every(
            (name) => left[name as keyof typeof left] === right[name as keyof typeof right],
          );
          expect(
            result(
              and((operand) => operand),
              around,
            ),
          ).toBe(expected);
          expect(result(and(wrapped), around)).toBe(expected);
        },
      ),
    );
  });

  test("between an element and something fixed, in every list operator", () => {
    fc.assert(
      fc.property(fc.array(parties, { maxLength: 5 }), (rows) => {
        const around = { inputs: { rows: [{ list: party }, rows] } } as const;
        const where = (operand: unknown) => equal(operand, "x");
        const each = (op: string, body: unknown) => ({
          op,
          list: { input: "rows" },
          where: body,
          ...(op === "all" && { empty: true }),
        });
        for (const op of ["filter", "count", "all", "any"]) {
          const short = result(each(op, where({ item: "item/b" })), around);
          expect(short).toEqual(result(each(op, where(wrapped({ item: "item/b" }))), around));
          const reversed = equal("x", { item: "item/b" });
          expect(short).toEqual(result(each(op, reversed), around));
        }
        const sum = (value: unknown) => ({ op: "sum", list: { input: "rows" }, value });
        expect(result(sum({ item: "item/a" }), around)).toBe(
          result(sum(wrapped({ item: "item/a" })), around),
        );
      }),
    );
  });

  test("an element of a list around is not taken for the element itself", () => {
    const expression = {
      op: "map",
      list: [1, 2],
      as: "outer",
      value: {
        op: "let",
        name: "pair",
        value: { op: "record", fields: { n: { item: "outer" } } },
        in: {
          op: "sum",
          list: [10, 20],
          as: "inner",
          value: { item: "pair/n" },
        },
      },
    };
    expect(result(expression)).toEqual(["2", "4"]);
    const filtered = {
      op: "let",
      name: "pair",
      value: { op: "record", fields: { n: 1 } },
      in: { op: "filter", list: [10, 20], as: "inner", where: equal({ item: "pair/n" }, 1) },
    };
    expect(result(filtered)).toEqual(["10", "20"]);
  });

  test("absent fields are never equal to what is there, by any way", () => {
    const type = { record: { a: { optional: "integer" } } };
    const around = (a: unknown) => ({
      inputs: {
        left: [type, { a }] as const,
        right: [{ record: { a: "integer" } }, { a: 0 }] as const,
      },
    });
    for (const given of [null, 0]) {
      const short = equal(field("left", "a"), field("right", "a"));
      const long = equal(wrapped(field("left", "a")), field("right", "a"));
      expect(result(short, around(given))).toBe(given === 0);
      expect(result(long, around(given))).toBe(given === 0);
      expect(result(equal(field("left", "a"), 0), around(given))).toBe(given === 0);
    }
  });

  test("each comparison is paid for when it is reached", () => {
    const given = { a: 1, b: "x", c: true };
    const other = { a: 1, b: "y", c: true };
    const around = (fuel: number, right: object) => ({
      inputs: { left: [party, given] as const, right: [party, right] as const },
      limits: { fuel },
    });
    const three = {
      op: "and",
      values: ["a", "b", "c"].map((name) => equal(field("left", name), field("right", name))),
    };
    expect(result(three, around(10, given))).toBe(true);
    expect(failed(three, around(9, given)).code).toBe("out_of_fuel");
    expect(failed(three, around(9, given)).pointer).toBe("/values/2");
    expect(result(three, around(7, other))).toBe(false);
    expect(failed(three, around(6, other)).pointer).toBe("/values/1");
    const long = { a: 1, b: "x".repeat(1_024), c: true };
    const same = {
      inputs: { left: [party, long] as const, right: [party, long] as const },
    };
    expect(result(three, { ...same, limits: { fuel: 14 } })).toBe(true);
    expect(failed(three, { ...same, limits: { fuel: 13 } }).code).toBe("out_of_fuel");
  });
});
