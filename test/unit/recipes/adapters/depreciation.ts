/** Rows of the depreciation vectors as inputs of the recalculation recipes. */
import type { JsonValue } from "../../../../src/base/json.ts";
import type { Inputs } from "../../../support/recipes.ts";

/** Every member is a text; `integer_life` of the straight-line rows is the exception and is read elsewhere. */
export interface VectorRow {
  readonly [column: string]: string;
}

/** 12.5 is 1250: minor units of a currency with two decimals. */
function minor(amount: string): string {
  const [whole = "", part = ""] = amount.split(".");
  if (part.length > 2) throw new Error(`${amount} has more than two decimals`);
  return String(BigInt(whole + part.padEnd(2, "0")));
}

/** `2/28/1998 12:00:00 AM` is 1998-02-28. */
function isoDate(text: string): string {
  const [month = "", day = "", year = ""] = (text.split(" ")[0] ?? "").split("/");
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

const DAY_COUNTS: { readonly [published: string]: string } = {
  Actual365: "actual_365",
  ActualActual: "actual_actual",
  Europ30_360: "european_30_360",
  UsPsa30_360: "us_30_360",
};

function basis(row: VectorRow): { readonly cost: string; readonly salvage: string } {
  return { cost: minor(row["cost"] ?? ""), salvage: minor(row["salvage"] ?? "") };
}

function columns(row: VectorRow, ...names: readonly string[]): { [name: string]: JsonValue } {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

/** File of vectors, recipe, how a row becomes inputs. */
export const METHODS: readonly {
  readonly file: string;
  readonly recipe: string;
  readonly rows: number;
  readonly inputs: (row: VectorRow) => Inputs;
}[] = [
  {
    file: "sum-of-years.jsonl",
    recipe: "recalculation-sum-of-years",
    rows: 62,
    inputs: (row) => ({ ...basis(row), ...columns(row, "life", "period") }),
  },
  {
    file: "double-declining.jsonl",
    recipe: "recalculation-double-declining",
    rows: 223,
    inputs: (row) => ({ ...basis(row), ...columns(row, "life", "period", "factor") }),
  },
  {
    file: "declining.jsonl",
    recipe: "recalculation-declining",
    rows: 202,
    inputs: (row) => ({ ...basis(row), ...columns(row, "life", "period", "first_year_months") }),
  },
  {
    file: "variable-declining.jsonl",
    recipe: "recalculation-variable-declining",
    rows: 250,
    inputs: (row) => ({
      ...basis(row),
      ...columns(row, "life", "factor"),
      start: row["start_period"] ?? null,
      end: row["end_period"] ?? null,
      straight_line: row["switch"] === "SwitchToStraightLine",
    }),
  },
  {
    file: "prorated-linear.jsonl",
    recipe: "recalculation-prorated-linear",
    rows: 400,
    inputs: (row) => ({
      ...basis(row),
      ...columns(row, "period", "rate"),
      purchase: isoDate(row["purchase_date"] ?? ""),
      first_period_end: isoDate(row["first_period_end"] ?? ""),
      day_count: DAY_COUNTS[row["day_count"] ?? ""] ?? null,
    }),
  },
];
