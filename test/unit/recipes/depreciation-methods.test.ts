import { describe, expect, it } from "vitest";
import { finish, jsonLines, shippedProcedure, startOptions } from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import { METHODS, type VectorRow } from "./adapters/depreciation.ts";

interface Amount {
  readonly numerator: string;
  readonly denominator: string;
  readonly minor: string;
}

const folder = "data/depreciation-vectors";
const present = sharedPresent(folder);

/** A decimal text as a fraction over a power of ten. */
function fraction(text: string): { readonly value: bigint; readonly scale: bigint } {
  const [whole = "", part = ""] = text.split(".");
  return { value: BigInt(whole + part), scale: 10n ** BigInt(part.length) };
}

/**
 * Whether two fractions differ by at most one unit of the 13th significant digit of the second: published figures carry
 * no more digits than that.
 */
function agrees(
  amount: Amount,
  expected: { readonly value: bigint; readonly scale: bigint },
): boolean {
  const denominator = 100n * BigInt(amount.denominator);
  const ours = BigInt(amount.numerator) * expected.scale;
  const theirs = expected.value * denominator;
  const distance = ours > theirs ? ours - theirs : theirs - ours;
  const digits = String(expected.value).length;
  return digits > 13
    ? distance <= denominator * 10n ** BigInt(digits - 13)
    : distance * 10n ** BigInt(13 - digits) <= denominator;
}

describe.skipIf(!present)(
  `Excel's depreciation figures, all rows of all methods${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("five methods besides straight line make 1,137 rows", () => {
      expect(METHODS.map(({ rows }) => rows).reduce((sum, rows) => sum + rows, 0)).toBe(1137);
    });

    it.each(METHODS)(
      "$file: every one of $rows rows is reproduced: exact fraction, floor and verdict",
      ({ file, recipe, rows, inputs }) => {
        const procedure = shippedProcedure(recipe);
        const wrong: unknown[] = [];
        let seen = 0;
        for (const line of jsonLines(sharedPath(`${folder}/${file}`))) {
          const row = line as unknown as VectorRow;
          const run = finish(procedure.start(inputs(row), startOptions), recipe);
          seen += 1;
          if (run.state !== "verified") {
            wrong.push({ row, failure: run.report.failure });
            continue;
          }
          const amount = run.result as unknown as Amount;
          const expected = fraction(row["expected"] ?? "");
          const minor = (100n * expected.value) / expected.scale;
          if (BigInt(amount.minor) === minor && agrees(amount, expected)) continue;
          wrong.push({ row, amount });
        }
        expect(wrong).toEqual([]);
        expect(seen).toBe(rows);
      },
    );
  },
);

describe("what a recalculation refuses", () => {
  const base = { cost: "10000", salvage: "1000", life: "10", period: "3" };

  it.each([
    ["recalculation-sum-of-years", { ...base, salvage: "10001" }, "base"],
    ["recalculation-sum-of-years", { ...base, salvage: "-1" }, "base"],
    ["recalculation-sum-of-years", { ...base, period: "10.1" }, "digit"],
    ["recalculation-sum-of-years", { ...base, period: "0" }, "digit"],
    ["recalculation-double-declining", { ...base, factor: "0" }, "terms"],
    ["recalculation-double-declining", { ...base, factor: "2", period: "11" }, "terms"],
    [
      "recalculation-declining",
      { ...base, cost: "0", salvage: "0", first_year_months: 6 },
      "exponent",
    ],
    ["recalculation-declining", { ...base, first_year_months: 13 }, "exponent"],
  ])("%s with %j is rejected at node %s", (recipe, inputs, node) => {
    const run = shippedProcedure(recipe).start(inputs, startOptions);
    expect(finish(run, recipe).state).toBe("rejected");
    expect(run.report.failure?.node).toBe(node);
    expect(run.result).toBeUndefined();
  });

  it("a life with two decimals is no input of these recipes", () => {
    const procedure = shippedProcedure("recalculation-sum-of-years");
    expect(() => procedure.start({ ...base, life: "12.75" }, startOptions)).toThrow(/life/);
  });
});
