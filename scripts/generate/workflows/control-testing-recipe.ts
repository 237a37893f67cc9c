/** Approvals of payments against the tier that each is in. */
import { readFileSync } from "node:fs";
import type { JsonValue } from "../../../src/base/json.ts";
import { types } from "./control-testing-types.ts";
import {
  all,
  and,
  concat,
  count,
  distinct,
  type E,
  equal,
  fieldsOf,
  filter,
  first,
  flatten,
  get,
  greater,
  has,
  input,
  item,
  lessOrEqual,
  lets,
  listOf,
  lookup,
  map,
  node,
  not,
  optional,
  or,
  orElse,
  record,
  sortBy,
  toText,
  when,
} from "./expressions.ts";
import { workflowRecipe } from "./recipe.ts";

/** The check of a table is the one that the control test of a single payment has, over the engagement's table. */
const table = moved(nodesOf("control-test").find(({ id }) => id === "table") ?? null);

function moved(value: JsonValue): JsonValue {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(moved);
  const members = Object.entries(value);
  const [[name, at] = []] = members;
  if (members.length === 1 && name === "input" && at === "limits/tiers") {
    return node("authorised/limits/tiers");
  }
  return Object.fromEntries(members.map(([key, member]) => [key, moved(member)]));
}

function nodesOf(recipe: string): readonly { readonly [member: string]: JsonValue }[] {
  const file = new URL(`../../../recipes/${recipe}/recipe.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).nodes;
}

/** True for an approval by who requested the payment. */
const own = (a: string, p: string): E =>
  and(
    has(item(`${p}/requested_by`)),
    has(item(`${a}/by`)),
    equal(get(item(`${a}/by`)), get(item(`${p}/requested_by`))),
  );

const tested = [
  table,
  {
    id: "placed",
    step: {
      kind: "pure",
      value: map(
        node("pairs"),
        "pair",
        record({
          of: item("pair/of"),
          evidence: item("pair/evidence"),
          tier: when(
            equal(item("pair/of/currency"), node("authorised/limits/currency")),
            lookup(
              node("table"),
              "tier",
              and(
                or(
                  not(has(item("tier/above"))),
                  greater(item("pair/of/amount"), orElse(item("tier/above"), 0)),
                ),
                or(
                  not(has(item("tier/up_to"))),
                  lessOrEqual(item("pair/of/amount"), orElse(item("tier/up_to"), 0)),
                ),
              ),
            ),
          ),
        }),
      ),
    },
    output: listOf(fieldsOf({ of: "payment", evidence: "place", tier: optional("tier") })),
  },
  {
    id: "judged",
    step: {
      kind: "pure",
      value: map(
        node("placed"),
        "one",
        record({
          of: item("one/of"),
          evidence: item("one/evidence"),
          tier: item("one/tier"),
          requirements: map(
            get(item("one/tier"), "/required", []),
            "need",
            lets(
              [
                [
                  "given",
                  sortBy(
                    filter(
                      item("one/of/approvals"),
                      "a",
                      equal(item("a/requirement"), item("need")),
                    ),
                    "a",
                    item("a/recorded"),
                  ),
                ],
                ["others", filter(item("given"), "a", not(own("a", "one/of")))],
              ],
              record({
                need: item("need"),
                good: first(
                  filter(item("others"), "a", lessOrEqual(item("a/recorded"), item("one/of/date"))),
                ),
                late: first(item("others")),
                own: first(item("given")),
              }),
            ),
          ),
        }),
      ),
    },
  },
  {
    id: "tested",
    output: listOf("row"),
    step: {
      kind: "pure",
      value: map(
        node("judged"),
        "one",
        record({
          key: concat("control / ", item("one/of/id")),
          engagement: input("engagement"),
          evidence: item("one/evidence"),
          payment: item("one/of/id"),
          date: item("one/of/date"),
          amount: item("one/of/amount"),
          currency: item("one/of/currency"),
          tier: when(has(item("one/tier")), get(item("one/tier"), "/tier")),
          evidenced: flatten(
            map(
              item("one/requirements"),
              "r",
              when(
                has(item("r/good")),
                record({ requirement: item("r/need"), evidence: get(item("r/good"), "/evidence") }),
              ),
            ),
          ),
          findings: when(
            has(item("one/tier")),
            flatten(
              map(
                item("one/requirements"),
                "r",
                when(
                  not(has(item("r/good"))),
                  when(
                    has(item("r/late")),
                    record({
                      kind: "late_approval",
                      requirement: item("r/need"),
                      left: toText(get(item("r/late"), "/recorded")),
                      right: toText(item("one/of/date")),
                      evidence: get(item("r/late"), "/evidence"),
                    }),
                    when(
                      has(item("r/own")),
                      record({
                        kind: "self_approval",
                        requirement: item("r/need"),
                        left: get(item("r/own"), "/by", ""),
                        right: "somebody else",
                        evidence: get(item("r/own"), "/evidence"),
                      }),
                      record({
                        kind: "missing_approval",
                        requirement: item("r/need"),
                        left: "",
                        right: "present",
                        evidence: item("one/evidence/id"),
                      }),
                    ),
                  ),
                ),
              ),
            ),
            [
              record({
                kind: "currency",
                requirement: null,
                left: item("one/of/currency"),
                right: node("authorised/limits/currency"),
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
  id: "control-testing",
  title: "Approvals of sampled payments against authority limits, written into the workpaper",
  description:
    "Reads a sample of payments with their recorded approvals out of a private file, finds the tier of each in the limit table of the engagement document, and tests whether every approval that the tier needs was given by somebody else than who requested the payment, no later than its day. What is missing, late or by the requester is an operating failure: a finding that keeps the id of the evidence. Money in minor units; limits are inclusive; nothing is converted. Each row is appended once, after an approval of its own.",
  types,
  engagement: { limits: "limits" },
  of: "payment",
  pairs: {
    amount: item("pair/right/json/amount"),
    conditions: [lessOrEqual(count(item("pair/right/json/approvals")), 100)],
    message:
      "each payment must be the one that was asked for, with the amount that the engagement names, and have at most 100 approvals",
  },
  tested,
  rows: {
    conditions: [
      all(
        node("authorised/limits/tiers"),
        "tier",
        and(
          lessOrEqual(count(item("tier/required")), 100),
          equal(count(distinct(item("tier/required"))), count(item("tier/required"))),
        ),
      ),
    ],
    message:
      "a payment is tested once, its key has at most 200 letters, and no tier asks for one approval twice",
  },
});
