/** The same by another route: tiers by counting those that are passed, approvals by their least date. */

import { types } from "./control-testing-types.ts";
import {
  and,
  any,
  contains,
  context,
  count,
  type E,
  equal,
  filter,
  flatten,
  fold,
  greater,
  has,
  item,
  join,
  lessOrEqual,
  lets,
  map,
  minimum,
  not,
  orElse,
  record,
  slice,
  toText,
  when,
} from "./expressions.ts";
import { type Judged, workflowVerifier } from "./verifier.ts";

const expected = ({ row, source, place }: Judged): E => {
  const p = `${source}/found/json`;
  return lets(
    [
      // Tiers follow one another: the payment is in the one behind all whose upper limit it exceeds.
      [
        "passed",
        count(
          item("seen/document/json/limits/tiers"),
          "t",
          and(has(item("t/up_to")), greater(item(`${p}/amount`), orElse(item("t/up_to"), 0))),
        ),
      ],
      ["same", equal(item("seen/document/json/limits/currency"), item(`${p}/currency`))],
      [
        "needs",
        when(
          item("same"),
          flatten(
            map(
              slice(item("seen/document/json/limits/tiers"), item("passed"), 1),
              "t",
              item("t/required"),
            ),
          ),
          [],
        ),
      ],
      [
        "usable",
        filter(
          item(`${p}/approvals`),
          "a",
          not(
            any(
              flatten([item("a/by")]),
              "person",
              contains(flatten([item(`${p}/requested_by`)]), item("person")),
            ),
          ),
        ),
      ],
      [
        "answers",
        map(
          item("needs"),
          "need",
          lets(
            [
              ["mine", filter(item("usable"), "a", equal(item("a/requirement"), item("need")))],
              [
                "any_given",
                filter(item(`${p}/approvals`), "a", equal(item("a/requirement"), item("need"))),
              ],
              ["earliest", earliestOf("mine")],
              ["earliest_any", earliestOf("any_given")],
              [
                "chosen",
                slice(
                  filter(item("mine"), "a", equal(toText(item("a/recorded")), item("earliest"))),
                  0,
                  1,
                ),
              ],
            ],
            record({
              ok: map(
                filter(item("chosen"), "a", lessOrEqual(item("a/recorded"), item(`${p}/date`))),
                "a",
                record({ requirement: item("need"), evidence: item("a/evidence") }),
              ),
              failure: flatten([
                map(
                  filter(item("chosen"), "a", greater(item("a/recorded"), item(`${p}/date`))),
                  "a",
                  finding(
                    "late_approval",
                    item("need"),
                    toText(item("a/recorded")),
                    toText(item(`${p}/date`)),
                    item("a/evidence"),
                  ),
                ),
                when(
                  equal(item("chosen"), []),
                  map(
                    slice(
                      filter(
                        item("any_given"),
                        "a",
                        equal(toText(item("a/recorded")), item("earliest_any")),
                      ),
                      0,
                      1,
                    ),
                    "a",
                    finding(
                      "self_approval",
                      item("need"),
                      orElse(item("a/by"), ""),
                      "somebody else",
                      item("a/evidence"),
                    ),
                  ),
                  [],
                ),
                when(
                  equal(item("any_given"), []),
                  [
                    finding(
                      "missing_approval",
                      item("need"),
                      "",
                      "present",
                      item(`${source}/asked/record`),
                    ),
                  ],
                  [],
                ),
              ]),
            }),
          ),
        ),
      ],
    ],
    equal(
      item(row),
      record({
        key: join(["control", item(`${p}/id`)], " / "),
        engagement: context("inputs/engagement"),
        evidence: place,
        payment: item(`${source}/asked/record`),
        date: item(`${p}/date`),
        amount: item(`${p}/amount`),
        currency: item(`${p}/currency`),
        tier: when(
          item("same"),
          join(
            map(
              slice(item("seen/document/json/limits/tiers"), item("passed"), 1),
              "t",
              item("t/tier"),
            ),
            ", ",
          ),
        ),
        evidenced: flatten(map(item("answers"), "a", item("a/ok"))),
        findings: flatten([
          when(
            item("same"),
            [],
            [
              record({
                kind: "currency",
                requirement: null,
                left: item(`${p}/currency`),
                right: item("seen/document/json/limits/currency"),
                evidence: item(`${source}/asked/record`),
              }),
            ],
          ),
          flatten(map(item("answers"), "a", item("a/failure"))),
        ]),
      }),
    ),
  );
};

/** The least date on which an approval of a list was recorded. */
function earliestOf(approvals: string): E {
  const least = minimum(item("best"), toText(item("a/recorded")));
  return fold(item(approvals), "a", "best", "9999-12-31", least, "text");
}

function finding(kind: string, requirement: E, left: E, right: E, evidence: E): E {
  return record({ kind, requirement, left, right, evidence });
}

export const verifier = workflowVerifier({
  id: "control-testing-counting",
  work: "control-testing",
  types,
  engagement: { limits: "limits" },
  of: "payment",
  amount: (payment) => item(`${payment}/amount`),
  expected,
  coverage: [equal(map(item("did/rows"), "one", item("one/evidence/id")), item("all/ids"))],
});
