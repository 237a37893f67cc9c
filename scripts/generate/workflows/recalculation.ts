/** Straight-line depreciation, and its verifier that never divides. */
import {
  add,
  all,
  and,
  concat,
  context,
  divide,
  type E,
  equal,
  fieldsOf,
  filter,
  get,
  greater,
  greaterOrEqual,
  has,
  input,
  item,
  join,
  less,
  lessOrEqual,
  lets,
  listOf,
  map,
  modulo,
  multiply,
  node,
  not,
  notEqual,
  oneOf,
  optional,
  or,
  power,
  record,
  subtract,
  toText,
  when,
} from "./expressions.ts";
import { workflowRecipe } from "./recipe.ts";
import { type Judged, workflowVerifier } from "./verifier.ts";

const types = {
  asset: fieldsOf({
    id: "text",
    name: "text",
    currency: "text",
    cost: "integer",
    salvage: "integer",
    life: "integer",
    period: "integer",
    booked: "integer",
  }),
  schedule: fieldsOf({
    base: "integer",
    regular: "integer",
    residue: "integer",
    expected: "integer",
  }),
  finding: fieldsOf({
    kind: oneOf("amount", "not_depreciable"),
    left: "text",
    right: "text",
    evidence: "text",
  }),
  row: fieldsOf({
    key: "text",
    engagement: "text",
    evidence: "place",
    asset: "text",
    currency: "text",
    cost: "integer",
    salvage: "integer",
    life: "integer",
    period: "integer",
    booked: "integer",
    schedule: optional("schedule"),
    findings: listOf("finding"),
  }),
};
const depreciable = (a: string): E =>
  and(
    greaterOrEqual(item(`${a}/salvage`), 0),
    lessOrEqual(item(`${a}/salvage`), item(`${a}/cost`)),
    greaterOrEqual(item(`${a}/life`), 1),
    greaterOrEqual(item(`${a}/period`), 1),
  );
const keyOf = (a: string): E =>
  concat("recalculation / ", item(`${a}/id`), " / ", toText(item(`${a}/period`)));

const tested = [
  {
    id: "recalculated",
    step: {
      kind: "pure",
      value: map(
        node("pairs"),
        "pair",
        record({
          of: item("pair/of"),
          evidence: item("pair/evidence"),
          schedule: lets(
            [["asset", item("pair/of")]],
            when(
              depreciable("asset"),
              lets(
                [
                  ["base", subtract(item("asset/cost"), item("asset/salvage"))],
                  ["regular", divide(item("base"), item("asset/life"), "floor")],
                  ["residue", modulo(item("base"), item("asset/life"))],
                ],
                record({
                  base: item("base"),
                  regular: item("regular"),
                  residue: item("residue"),
                  expected: when(
                    less(item("asset/period"), item("asset/life")),
                    item("regular"),
                    when(
                      equal(item("asset/period"), item("asset/life")),
                      add(item("regular"), item("residue")),
                      0,
                    ),
                  ),
                }),
              ),
            ),
          ),
        }),
      ),
    },
  },
  {
    id: "floor_division",
    step: {
      kind: "verify",
      condition: all(
        node("recalculated"),
        "one",
        when(
          has(item("one/schedule")),
          lets(
            [["s", get(item("one/schedule"))]],
            and(
              lessOrEqual(multiply(item("s/regular"), item("one/of/life")), item("s/base")),
              less(item("s/base"), multiply(add(item("s/regular"), 1), item("one/of/life"))),
              equal(
                add(multiply(item("s/regular"), item("one/of/life")), item("s/residue")),
                item("s/base"),
              ),
            ),
          ),
          true,
        ),
        false,
      ),
      value: node("recalculated"),
      message:
        "regular x life <= cost - salvage < (regular + 1) x life must hold, and the residue must be the rest",
    },
  },
  {
    id: "tested",
    output: listOf("row"),
    step: {
      kind: "pure",
      value: map(
        node("floor_division"),
        "one",
        record({
          key: keyOf("one/of"),
          engagement: input("engagement"),
          evidence: item("one/evidence"),
          asset: item("one/of/id"),
          currency: item("one/of/currency"),
          cost: item("one/of/cost"),
          salvage: item("one/of/salvage"),
          life: item("one/of/life"),
          period: item("one/of/period"),
          booked: item("one/of/booked"),
          schedule: item("one/schedule"),
          findings: when(
            has(item("one/schedule")),
            lets(
              [["expected", get(item("one/schedule"), "/expected")]],
              when(
                equal(item("one/of/booked"), item("expected")),
                [],
                [
                  record({
                    kind: "amount",
                    left: toText(item("one/of/booked")),
                    right: toText(item("expected")),
                    evidence: item("one/evidence/id"),
                  }),
                ],
              ),
            ),
            [
              record({
                kind: "not_depreciable",
                left: concat(
                  "cost ",
                  toText(item("one/of/cost")),
                  ", salvage ",
                  toText(item("one/of/salvage")),
                  ", life ",
                  toText(item("one/of/life")),
                  ", period ",
                  toText(item("one/of/period")),
                ),
                right: "0 <= salvage <= cost, life and period from 1",
                evidence: item("one/evidence/id"),
              }),
            ],
          ),
        }),
      ),
    },
  },
];

export const recipe = workflowRecipe({
  id: "recalculation",
  title:
    "Straight-line depreciation of sampled assets, recalculated and written into the workpaper",
  description:
    "Reads a sample of assets out of a private file, recalculates what the period takes and compares it with what was booked. All amounts are minor units. Rule: floor division. Every period takes the floor of (cost - salvage) / life, the last one takes the residue as well, later ones take nothing. A difference is a finding. Each row is appended once, after an approval of its own.",
  types,
  engagement: {},
  of: "asset",
  pairs: {
    amount: item("pair/right/json/cost"),
    conditions: [
      less(item("pair/right/json/cost"), power(10, 60)),
      less(item("pair/right/json/life"), 100000),
    ],
    message:
      "each asset must be the one that was asked for, with the cost that the engagement names, and of a size that can be recalculated",
  },
  tested,
  rows: {
    conditions: [],
    message: "an asset is tested once for a period, and its key has at most 200 letters",
  },
});

const expected = ({ row, source, place }: Judged): E => {
  const a = `${source}/found/json`;
  return and(
    equal(item(`${row}/key`), keyOf(a)),
    equal(item(`${row}/engagement`), context("inputs/engagement")),
    equal(item(`${row}/evidence`), place),
    equal(
      record({
        id: item(`${row}/asset`),
        cost: item(`${row}/cost`),
        salvage: item(`${row}/salvage`),
        life: item(`${row}/life`),
        period: item(`${row}/period`),
        booked: item(`${row}/booked`),
        currency: item(`${row}/currency`),
      }),
      record({
        id: item(`${a}/id`),
        cost: item(`${a}/cost`),
        salvage: item(`${a}/salvage`),
        life: item(`${a}/life`),
        period: item(`${a}/period`),
        booked: item(`${a}/booked`),
        currency: item(`${a}/currency`),
      }),
    ),
    when(
      or(
        less(item(`${a}/salvage`), 0),
        greater(item(`${a}/salvage`), item(`${a}/cost`)),
        less(item(`${a}/life`), 1),
        less(item(`${a}/period`), 1),
      ),
      and(
        not(has(item(`${row}/schedule`))),
        equal(item(`${row}/findings`), [
          record({
            kind: "not_depreciable",
            left: join([
              "cost ",
              toText(item(`${a}/cost`)),
              ", salvage ",
              toText(item(`${a}/salvage`)),
              ", life ",
              toText(item(`${a}/life`)),
              ", period ",
              toText(item(`${a}/period`)),
            ]),
            right: "0 <= salvage <= cost, life and period from 1",
            evidence: item(`${source}/asked/record`),
          }),
        ]),
      ),
      and(
        has(item(`${row}/schedule`)),
        lets(
          [["s", get(item(`${row}/schedule`))]],
          and(
            equal(add(item("s/base"), item(`${a}/salvage`)), item(`${a}/cost`)),
            equal(
              add(multiply(item("s/regular"), item(`${a}/life`)), item("s/residue")),
              item("s/base"),
            ),
            greaterOrEqual(item("s/residue"), 0),
            less(item("s/residue"), item(`${a}/life`)),
            // What is taken up to the period, less what is taken up to the one before.
            equal(
              item("s/expected"),
              subtract(
                booked(a, "s", item(`${a}/period`)),
                booked(a, "s", subtract(item(`${a}/period`), 1)),
              ),
            ),
            equal(
              item(`${row}/findings`),
              filter(
                [
                  record({
                    kind: "amount",
                    left: toText(item(`${a}/booked`)),
                    right: toText(item("s/expected")),
                    evidence: item(`${source}/asked/record`),
                  }),
                ],
                "difference",
                notEqual(item("difference/left"), item("difference/right")),
              ),
            ),
          ),
        ),
      ),
    ),
  );
};
/** Everything taken up to a period: the whole base from the last one on. */
function booked(a: string, s: string, period: E): E {
  return when(
    greaterOrEqual(period, item(`${a}/life`)),
    item(`${s}/base`),
    multiply(item(`${s}/regular`), period),
  );
}

export const verifier = workflowVerifier({
  id: "recalculation-bounds",
  work: "recalculation",
  types,
  engagement: {},
  of: "asset",
  amount: (asset) => item(`${asset}/cost`),
  expected,
  coverage: [equal(map(item("did/rows"), "one", item("one/evidence/id")), item("all/ids"))],
});
