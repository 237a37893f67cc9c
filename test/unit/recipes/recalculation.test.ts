/** The recalculation of depreciation as a whole workflow: exact, floored, and against figures of others. */
import { afterAll, describe, expect, it } from "vitest";
import { canonicalText } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { directories } from "../../support/directories.ts";
import { jsonLines, readRecipe } from "../../support/recipes.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";
import {
  approveAll,
  boundTo,
  entriesIn,
  hostIn,
  prepareWith,
  type Row,
} from "../../support/workflows.ts";
import { engagementOf, type Listed, rowsOf } from "./adapters/workflows.ts";

const made = directories();
afterAll(made.remove);

interface Asset {
  readonly cost: string;
  readonly salvage: string;
  readonly life: string;
  readonly period: string;
  readonly booked: string;
}

function assetOf({ cost, salvage, life, period, booked }: Asset, index: number): Listed {
  const id = `A-${index}`;
  const record = { id, name: "asset", currency: "EUR", cost, salvage, life, period, booked };
  return { record, amount: cost };
}

const recalculated = (assets: readonly Asset[]): Promise<readonly Row[]> =>
  rowsOf(made.fresh(), "recalculation", assets.map(assetOf));

interface Schedule {
  readonly base: string;
  readonly regular: string;
  readonly residue: string;
  readonly expected: string;
}

const asset = (change: Partial<Asset> = {}): Asset => ({
  cost: "100000",
  salvage: "10000",
  life: "7",
  period: "1",
  booked: "12857",
  ...change,
});

describe("straight-line depreciation in minor units", () => {
  it("takes the floor in each period, the residue in the last, and nothing after it (B125)", async () => {
    const periods = ["1", "2", "6", "7", "8"];
    const rows = await recalculated(periods.map((period) => asset({ period, booked: "12857" })));
    const expected = rows.map(({ schedule }) => (schedule as Schedule).expected);
    expect(expected).toEqual(["12857", "12857", "12857", "12858", "0"]);
    expect(6n * 12857n + 12858n).toBe(90000n);
    expect(rows.map(({ findings }) => findings)).toEqual([
      [],
      [],
      [],
      [{ kind: "amount", left: "12857", right: "12858", evidence: "A-3" }],
      [{ kind: "amount", left: "12857", right: "0", evidence: "A-4" }],
    ]);
  });

  it("is exact for nothing, less than one unit, one period, and amounts of fifty digits (B125)", async () => {
    const threes = "3".repeat(49);
    const assets = [
      asset({ salvage: "100000", booked: "0" }),
      asset({ cost: "3", salvage: "0", booked: "0" }),
      asset({ cost: "3", salvage: "0", booked: "3", period: "7" }),
      asset({ life: "1", booked: "90000" }),
      asset({ cost: `1${"0".repeat(49)}1`, salvage: "0", life: "3", booked: `${threes}4` }),
    ];
    const rows = await recalculated(assets);
    const expected = rows.map(({ schedule }) => (schedule as Schedule).expected);
    expect(expected).toEqual(["0", "0", "3", "90000", `${threes}3`]);
    const findings = rows.flatMap((row) => row.findings);
    expect(findings).toMatchObject([{ left: `${threes}4`, right: `${threes}3`, evidence: "A-4" }]);
  });

  it("cannot depreciate over no life, above cost or below nothing: findings, not errors (B125)", async () => {
    const wrong: readonly Partial<Asset>[] = [
      { life: "0" },
      { salvage: "100001" },
      { salvage: "-1" },
      { period: "0" },
    ];
    const rows = await recalculated(wrong.map(asset));
    for (const [index, row] of rows.entries()) {
      expect(row["schedule"]).toBeUndefined();
      expect(row.findings).toMatchObject([{ kind: "not_depreciable", evidence: `A-${index}` }]);
    }
  });

  it("shows regular, residue and base with which floor division can be checked by hand", async () => {
    const assets = [1, 2, 3, 5, 8, 13, 21].map((life) => asset({ life: String(life) }));
    for (const [index, row] of (await recalculated(assets)).entries()) {
      const { base, regular, residue } = row["schedule"] as Schedule;
      const life = BigInt(assets[index]?.life ?? 0);
      expect(BigInt(regular) * life + BigInt(residue)).toBe(BigInt(base));
      expect(BigInt(residue) >= 0n && BigInt(residue) < life).toBe(true);
    }
  });
});

/** A recipe that says it floors, and rounds up. */
function roundingUp(): string {
  const text = canonicalText(readRecipe("recalculation"));
  const changed = text.replace(
    '"op":"divide","right":{"item":"asset/life"},"rounding":"floor"',
    '"op":"divide","right":{"item":"asset/life"},"rounding":"ceiling"',
  );
  expect(changed).not.toBe(text);
  return changed;
}

async function outcomeOf(recipe: string) {
  const listed = [asset({ booked: "12858" })].map(assetOf);
  const folder = made.fresh();
  const [inputs = {}] = prepareWith(folder, {
    evidence: listed.map(({ record }) => record),
    engagements: [engagementOf("own", "recalculation", listed)],
  });
  const at = await hostIn(folder);
  const bound = boundTo(at.host, "recalculation", { recipe: JSON.parse(recipe) as JsonValue });
  const run = bound.procedure.start(inputs, { environment: bound.environment });
  await approveAll(run, at.host);
  const { reason, failure } = run.report;
  const entries = await entriesIn(at);
  await at.close();
  return { reason, node: failure?.node, code: failure?.code, entries };
}

describe("the invariant of floor division", () => {
  it("is checked by the recipe: one that rounds up is rejected before anything is proposed", async () => {
    expect(await outcomeOf(roundingUp())).toMatchObject({
      reason: "verify_failed",
      node: "floor_division",
      entries: [],
    });
  });

  it("is checked independently: where the recipe's own check is taken out, its verifier lets nothing be written", async () => {
    const recipe = JSON.parse(roundingUp()) as {
      readonly nodes: { readonly id: string; readonly step: { condition?: JsonValue } }[];
    };
    for (const { id, step } of recipe.nodes) {
      if (id === "floor_division") step.condition = { op: "literal", value: true, type: "boolean" };
    }
    expect(await outcomeOf(JSON.stringify(recipe))).toMatchObject({
      reason: "verifier_rejected",
      code: "before_effect_refused",
      entries: [],
    });
  });
});

const vectors = "data/depreciation-vectors/straight-line.jsonl";
const present = sharedPresent(vectors);

describe.skipIf(!present)(
  `figures of a spreadsheet${present ? "" : " (skipped: shared data absent)"}`,
  () => {
    it("agree with what is recalculated, floored; booked one unit higher each is a finding", async () => {
      const published = jsonLines(sharedPath(vectors)) as unknown as readonly {
        readonly [member: string]: string | undefined;
      }[];
      const whole = published.filter((row) => row["expected_minor_floor"] !== undefined);
      expect(whole.length).toBeGreaterThanOrEqual(8);
      const assets = whole.flatMap((row) => {
        const right = BigInt(row["expected_minor_floor"] ?? 0);
        const common = {
          cost: String(row["cost_minor"]),
          salvage: String(row["salvage_minor"]),
          life: String(BigInt(String(row["life"] ?? row["periods"]).replace(/\.0$/, ""))),
          period: "1",
        };
        return [right, right + 1n].map((booked) => ({ ...common, booked: String(booked) }));
      });
      const rows = await recalculated(assets);
      for (const [index, row] of rows.entries()) {
        const right = whole[Math.floor(index / 2)]?.["expected_minor_floor"];
        const findings = index % 2 === 0 ? [] : [{ kind: "amount", right, evidence: `A-${index}` }];
        expect(row.findings).toMatchObject(findings);
      }
    });
  },
);
