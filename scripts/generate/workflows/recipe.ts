/**
 * The shape that the workflows have in common: an engagement document, its sample, evidence, findings as rows, and each
 * row written once between two readings of the workpaper.
 */
import type { JsonValue } from "../../../src/base/json.ts";
import {
  all,
  and,
  count,
  digest,
  distinct,
  type E,
  equal,
  fieldsOf,
  filter,
  first,
  flatten,
  get,
  greater,
  greaterOrEqual,
  has,
  input,
  item,
  last,
  length,
  lessOrEqual,
  listOf,
  map,
  node,
  not,
  or,
  orElse,
  record,
  slice,
  sortBy,
  toJson,
  when,
  zip,
} from "./expressions.ts";
import { ENTRIES, ENTRY, engagementOf, MEMBER, PLACE, readOf } from "./reading.ts";

type Types = { readonly [name: string]: E };

/** What a workflow has of its own. */
export interface WorkflowParts {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Among them `row`: what is written, with `key`, `evidence` and `findings`. */
  readonly types: Types;
  /** Further members of the engagement document. */
  readonly engagement: Types;
  /** Type of a record of evidence. */
  readonly of: string;
  /** What must hold of each item in the sample (`pair/left`) and what was read for it (`pair/right`). */
  readonly pairs: {
    readonly amount: E;
    readonly conditions: readonly E[];
    readonly message: string;
  };
  /** Nodes from `pairs` to `tested`, the rows. */
  readonly tested: readonly JsonValue[];
  /** What must hold of all rows. */
  readonly rows: { readonly conditions: readonly E[]; readonly message: string };
}

export function workflowRecipe(parts: WorkflowParts): JsonValue {
  const { id, title, description, types, engagement, of, pairs, tested, rows } = parts;
  return {
    version: 1,
    id,
    title,
    description,
    types: {
      chosen: MEMBER,
      engagement: engagementOf(listOf("chosen"), engagement),
      place: PLACE,
      entry: ENTRY,
      entries: ENTRIES,
      ...types,
    },
    inputs: { engagement: "text", sha256: "text" },
    terminal: "result",
    nodes: [
      {
        id: "engagement",
        output: readOf("engagement"),
        step: {
          kind: "read",
          tool: "engagement.read",
          arguments: record({ source: input("engagement"), record: "", sha256: input("sha256") }),
        },
      },
      {
        id: "authorised",
        step: {
          kind: "verify",
          condition: and(
            equal(node("engagement/source"), input("engagement")),
            equal(node("engagement/sha256"), input("sha256")),
            equal(node("engagement/json/id"), input("engagement")),
            equal(node("engagement/json/work"), id),
            greaterOrEqual(node("engagement/json/sample/size"), 0),
            greaterOrEqual(count(node("engagement/json/population")), 1),
            lessOrEqual(count(node("engagement/json/population")), 2000),
            equal(
              count(distinct(node("engagement/json/population"), "one", item("one/id"))),
              count(node("engagement/json/population")),
            ),
          ),
          value: node("engagement/json"),
          message: `the engagement document must be the one that was asked for, be for ${id}, and name 1 to 2000 different items`,
        },
      },
      {
        id: "ranked",
        step: {
          kind: "pure",
          value: map(
            node("authorised/population"),
            "one",
            record({
              id: item("one/id"),
              amount: item("one/amount"),
              always: when(
                has(node("authorised/sample/all_from")),
                greaterOrEqual(item("one/amount"), orElse(node("authorised/sample/all_from"), 0)),
                false,
              ),
              rank: digest(record({ seed: node("authorised/sample/seed"), id: item("one/id") })),
            }),
          ),
        },
      },
      {
        id: "last_rank",
        step: {
          kind: "pure",
          value: rankOf(
            last(
              slice(
                sortBy(
                  filter(node("ranked"), "one", not(item("one/always"))),
                  "one",
                  item("one/rank"),
                ),
                0,
                node("authorised/sample/size"),
              ),
            ),
          ),
        },
      },
      {
        id: "drawn",
        step: {
          kind: "pure",
          value: map(
            filter(
              node("ranked"),
              "one",
              or(item("one/always"), lessOrEqual(item("one/rank"), node("last_rank"))),
            ),
            "one",
            record({ id: item("one/id"), amount: item("one/amount") }),
          ),
        },
      },
      {
        id: "sample",
        step: {
          kind: "verify",
          condition: and(
            greaterOrEqual(count(node("drawn")), 1),
            lessOrEqual(count(node("drawn")), 100),
          ),
          value: node("drawn"),
          message: "a sample has 1 to 100 items",
        },
      },
      {
        id: "evidence",
        output: listOf(readOf(of)),
        each: { list: node("sample"), as: "chosen", limit: 100 },
        step: {
          kind: "read",
          tool: "evidence.read",
          arguments: record({
            source: node("authorised/evidence/source"),
            record: item("chosen/id"),
            sha256: node("authorised/evidence/sha256"),
          }),
        },
      },
      {
        id: "pairs",
        step: {
          kind: "verify",
          condition: and(
            all(
              zip(node("sample"), node("evidence")),
              "pair",
              and(
                equal(item("pair/left/id"), item("pair/right/json/id")),
                equal(item("pair/left/amount"), pairs.amount),
                equal(item("pair/right/source"), node("authorised/evidence/source")),
                equal(item("pair/right/sha256"), node("authorised/evidence/sha256")),
                ...pairs.conditions,
              ),
              false,
            ),
          ),
          value: map(
            zip(node("sample"), node("evidence")),
            "pair",
            record({
              of: item("pair/right/json"),
              evidence: record({
                id: item("pair/left/id"),
                source: item("pair/right/source"),
                sha256: item("pair/right/sha256"),
                from: item("pair/right/from"),
                count: item("pair/right/count"),
              }),
            }),
          ),
          message: pairs.message,
        },
      },
      ...tested,
      {
        id: "rows",
        output: listOf("row"),
        step: {
          kind: "verify",
          condition: and(
            equal(count(distinct(node("tested"), "row", item("row/key"))), count(node("tested"))),
            all(node("tested"), "row", lessOrEqual(length(item("row/key")), 200), false),
            ...rows.conditions,
          ),
          value: node("tested"),
          message: rows.message,
        },
      },
      {
        id: "before",
        output: listOf("entries"),
        each: { list: node("rows"), as: "row", limit: 100 },
        step: {
          kind: "read",
          tool: "workpaper.read",
          arguments: record({ key: item("row/key") }),
          absent_on: ["entry_absent"],
        },
      },
      {
        id: "new",
        step: {
          kind: "pure",
          value: flatten(
            map(
              zip(node("rows"), node("before")),
              "pair",
              when(not(has(item("pair/right"))), item("pair/left")),
            ),
          ),
        },
      },
      { id: "approved", after: ["new", "rows"], step: { kind: "approval", effects: ["append"] } },
      {
        id: "append",
        after: ["new", "rows", "approved"],
        output: listOf(fieldsOf({ key: "text", position: "integer" })),
        each: { list: node("new"), as: "row", limit: 100 },
        step: {
          kind: "effect",
          tool: "workpaper.append",
          arguments: record({ key: item("row/key"), content: item("row") }),
          key: item("row/key"),
        },
      },
      {
        id: "after",
        after: ["append", "rows"],
        output: listOf("entries"),
        each: { list: node("rows"), as: "row", limit: 100 },
        step: { kind: "read", tool: "workpaper.read", arguments: record({ key: item("row/key") }) },
      },
      {
        id: "recorded",
        step: {
          kind: "pure",
          value: map(
            zip(zip(node("rows"), node("before")), node("after")),
            "pair",
            record({
              status: when(has(item("pair/left/right")), "already_tested", "written"),
              position: get(first(item("pair/right/entries")), "/position"),
              operation: get(first(item("pair/right/entries")), "/operation"),
              row: item("pair/left/left"),
            }),
          ),
        },
      },
      {
        id: "result",
        step: {
          kind: "verify",
          condition: and(
            all(
              zip(node("recorded"), node("after")),
              "pair",
              and(
                equal(count(item("pair/right/entries")), 1),
                all(
                  item("pair/right/entries"),
                  "entry",
                  and(
                    equal(item("entry/key"), item("pair/left/row/key")),
                    or(
                      equal(item("pair/left/status"), "already_tested"),
                      equal(item("entry/content"), toJson(item("pair/left/row"))),
                    ),
                  ),
                  false,
                ),
              ),
              false,
            ),
            equal(
              map(
                filter(node("recorded"), "one", equal(item("one/status"), "written")),
                "one",
                item("one/position"),
              ),
              map(node("append"), "one", item("one/position")),
            ),
          ),
          value: record({
            engagement: input("engagement"),
            sha256: input("sha256"),
            population: count(node("authorised/population")),
            exceptions: count(node("rows"), "row", greater(count(item("row/findings")), 0)),
            rows: node("recorded"),
          }),
          message: "the workpaper must hold each row once, as it was approved",
        },
      },
    ],
  };
}

const rankOf = (drawn: E): E => get(drawn, "/rank", "");
