/**
 * What the verifiers of the workflows demand in common: the document and the sample by another route, the evidence that
 * the sample wants, and the workpaper before and after.
 */
import type { JsonValue } from "../../../src/base/json.ts";
import {
  all,
  and,
  contains,
  context,
  count,
  decode,
  digest,
  distinct,
  type E,
  equal,
  fieldsOf,
  filter,
  fold,
  get,
  has,
  item,
  lessOrEqual,
  lets,
  listOf,
  lookup,
  map,
  maximum,
  minimum,
  not,
  notEqual,
  or,
  orElse,
  record,
  subtract,
  sum,
  toJson,
  when,
} from "./expressions.ts";
import { ENTRIES, ENTRY, engagementOf, MEMBER, PLACE, readOf } from "./reading.ts";

type Types = { readonly [name: string]: E };
type Named = readonly [string, E];

/** Where the row stands that is judged, and the read of its evidence with the place that it must name. */
export interface Judged {
  readonly row: string;
  readonly source: string;
  readonly place: E;
}

/** What the verifier of a workflow has of its own. */
export interface JudgingParts {
  readonly id: string;
  /** Id of the workflow. */
  readonly work: string;
  readonly types: Types;
  readonly engagement: Types;
  readonly of: string;
  /** Whether a row is what its evidence gives. */
  readonly expected: (judged: Judged) => E;
  /** What makes sure that all that was sampled is in the rows. */
  readonly coverage: readonly E[];
  /** The amount of a record of evidence, which the engagement names it by. */
  readonly amount: (evidence: string) => E;
  /** Keys of all evidence, where rows can share one. */
  readonly keyed?: E;
}

export function workflowVerifier(parts: JudgingParts): JsonValue {
  const { id, work, types, engagement, of, expected, coverage, amount, keyed } = parts;
  const allTypes = {
    member: MEMBER,
    engagement: engagementOf(listOf("member"), engagement),
    engagement_read: readOf("engagement"),
    asked: fieldsOf({ source: "text", record: "text", sha256: "text" }),
    keyed: fieldsOf({ key: "text" }),
    place: PLACE,
    ...types,
    item_read: readOf(of),
    entry: ENTRY,
    entries: ENTRIES,
    written: fieldsOf({ key: "text", position: "integer" }),
    appended: fieldsOf({ key: "text", content: "row" }),
  };
  const opsOf = (at: string, tool: string, category: string): E =>
    filter(
      context("operations"),
      "op",
      and(
        equal(item("op/node"), at),
        equal(item("op/tool"), tool),
        equal(item("op/category"), category),
      ),
    );
  const common: readonly Named[] = [
    [
      "opened",
      get(
        lookup(
          context("operations"),
          "op",
          and(
            equal(item("op/node"), "engagement"),
            equal(item("op/tool"), "engagement.read"),
            equal(item("op/category"), "read"),
            equal(item("op/outcome"), "done"),
          ),
        ),
      ),
    ],
    [
      "seen",
      record({
        asked: decode(item("opened/arguments"), "asked"),
        document: decode(get(item("opened/result")), "engagement_read"),
        evidence: map(
          opsOf("evidence", "evidence.read", "read"),
          "op",
          record({
            outcome: item("op/outcome"),
            asked: decode(item("op/arguments"), "asked"),
            found: decode(get(item("op/result")), "item_read"),
          }),
        ),
      }),
    ],
    [
      "all",
      record({
        ids: map(item("seen/evidence"), "one", item("one/asked/record")),
        ...(keyed === undefined ? {} : { keyed }),
        ranks: map(
          item("seen/document/json/population"),
          "member",
          record({
            id: item("member/id"),
            amount: item("member/amount"),
            always: and(
              has(item("seen/document/json/sample/all_from")),
              lessOrEqual(
                orElse(item("seen/document/json/sample/all_from"), 0),
                item("member/amount"),
              ),
            ),
            rank: digest(
              record({ id: item("member/id"), seed: item("seen/document/json/sample/seed") }),
            ),
          }),
        ),
      }),
    ],
    // The highest rank that was drawn: everything up to it must be in the sample, nothing behind it.
    [
      "line",
      fold(
        filter(
          item("all/ranks"),
          "one",
          and(not(item("one/always")), contains(item("all/ids"), item("one/id"))),
        ),
        "one",
        "highest",
        "",
        maximum(item("highest"), item("one/rank")),
        "text",
      ),
    ],
  ];
  const eng = "seen/document/json";
  const members = filter(
    item("all/ranks"),
    "one",
    or(item("one/always"), lessOrEqual(item("one/rank"), item("line"))),
  );
  const sound = and(
    equal(
      item("seen/asked"),
      record({
        source: context("inputs/engagement"),
        record: "",
        sha256: context("inputs/sha256"),
      }),
    ),
    equal(item("seen/document/source"), context("inputs/engagement")),
    equal(item("seen/document/sha256"), context("inputs/sha256")),
    equal(item(`${eng}/id`), context("inputs/engagement")),
    equal(item(`${eng}/work`), work),
    equal(map(members, "one", item("one/id")), item("all/ids")),
    // Large ones are always drawn: by the amounts that the evidence has.
    equal(
      map(members, "one", item("one/amount")),
      map(item("seen/evidence"), "one", amount("one/found/json")),
    ),
    equal(
      count(
        item("all/ranks"),
        "one",
        and(not(item("one/always")), lessOrEqual(item("one/rank"), item("line"))),
      ),
      minimum(
        maximum(item(`${eng}/sample/size`), 0),
        count(item("all/ranks"), "one", not(item("one/always"))),
      ),
    ),
    all(
      item("seen/evidence"),
      "one",
      and(
        equal(item("one/outcome"), "done"),
        equal(item("one/asked/source"), item(`${eng}/evidence/source`)),
        equal(item("one/asked/sha256"), item(`${eng}/evidence/sha256`)),
        equal(item("one/found/source"), item(`${eng}/evidence/source`)),
        equal(item("one/found/sha256"), item(`${eng}/evidence/sha256`)),
        equal(item("one/found/json/id"), item("one/asked/record")),
      ),
      false,
    ),
  );
  const place = (name: string): E =>
    record({
      id: item(`${name}/asked/record`),
      source: item(`${name}/found/source`),
      sha256: item(`${name}/found/sha256`),
      from: item(`${name}/found/from`),
      count: item(`${name}/found/count`),
    });
  const sourceOf = (row: string): E =>
    get(
      lookup(
        item("seen/evidence"),
        "look",
        equal(item("look/asked/record"), item(`${row}/evidence/id`)),
      ),
    );
  const readsOf = (at: string, key: E): E =>
    filter(
      opsOf(at, "workpaper.read", "read"),
      "asked_for",
      equal(decode(item("asked_for/arguments"), "keyed"), record({ key })),
    );
  const entriesOf = (op: string): E =>
    get(decode(get(item(`${op}/result`)), "entries"), "/entries");
  return {
    version: 1,
    id,
    types: allTypes,
    before_effect: lets(
      [
        ...common,
        [
          "now",
          record({
            key: get(context("proposed/key")),
            entry: decode(context("proposed/arguments"), "appended"),
          }),
        ],
        ["source", sourceOf("now/entry/content")],
      ],
      and(
        sound,
        equal(context("proposed/node"), "append"),
        equal(context("proposed/tool"), "workpaper.append"),
        equal(item("now/key"), toJson(item("now/entry/key"))),
        equal(item("now/entry/key"), item("now/entry/content/key")),
        // The workpaper was read, had no entry of this key, and nothing has been written under it since.
        equal(map(readsOf("before", item("now/entry/key")), "op", item("op/outcome")), ["refused"]),
        all(
          filter(context("operations"), "op", equal(item("op/category"), "effect")),
          "earlier",
          and(
            equal(item("earlier/node"), "append"),
            equal(item("earlier/tool"), "workpaper.append"),
            equal(item("earlier/outcome"), "done"),
            notEqual(get(item("earlier/key")), item("now/key")),
          ),
          true,
        ),
        expected({ row: "now/entry/content", source: "source", place: place("source") }),
      ),
    ),
    result: lets(
      [
        ...common,
        [
          "did",
          record({
            rows: map(context("result/rows"), "one", item("one/row")),
            appends: opsOf("append", "workpaper.append", "effect"),
          }),
        ],
      ],
      and(
        sound,
        equal(context("result/engagement"), context("inputs/engagement")),
        equal(context("result/sha256"), context("inputs/sha256")),
        equal(context("result/population"), count(item("all/ranks"))),
        equal(
          context("result/exceptions"),
          subtract(
            count(item("did/rows")),
            count(item("did/rows"), "one", equal(count(item("one/findings")), 0)),
          ),
        ),
        ...coverage,
        equal(count(distinct(item("did/rows"), "one", item("one/key"))), count(item("did/rows"))),
        // What was opened, the evidence, two readings of the workpaper and what was written: nothing else was done.
        equal(
          count(context("operations")),
          sum([
            1,
            count(item("all/ids")),
            count(item("did/rows")),
            count(item("did/rows")),
            count(item("did/appends")),
          ]),
        ),
        equal(
          count(item("did/appends")),
          count(context("result/rows"), "one", equal(item("one/status"), "written")),
        ),
        all(
          context("result/rows"),
          "one",
          lets(
            [
              [
                "row_of",
                record({
                  source: sourceOf("one/row"),
                  first_read: get(lookup(readsOf("before", item("one/row/key")), "read", true)),
                  second_read: get(lookup(readsOf("after", item("one/row/key")), "read", true)),
                  written: filter(
                    item("did/appends"),
                    "op",
                    equal(get(item("op/key")), toJson(item("one/row/key"))),
                  ),
                }),
              ],
              ["found", get(lookup(entriesOf("row_of/second_read"), "entry", true))],
            ],
            and(
              expected({ row: "one/row", source: "row_of/source", place: place("row_of/source") }),
              equal(item("row_of/second_read/outcome"), "done"),
              equal(item("found/key"), item("one/row/key")),
              equal(item("found/position"), item("one/position")),
              equal(item("found/operation"), item("one/operation")),
              when(
                equal(item("one/status"), "written"),
                and(
                  equal(item("row_of/first_read/outcome"), "refused"),
                  equal(item("found/content"), toJson(item("one/row"))),
                  equal(
                    map(
                      item("row_of/written"),
                      "op",
                      record({
                        outcome: item("op/outcome"),
                        entry: decode(item("op/arguments"), "appended"),
                        at: decode(get(item("op/result")), "written"),
                      }),
                    ),
                    [
                      record({
                        outcome: "done",
                        entry: record({ key: item("one/row/key"), content: item("one/row") }),
                        at: record({ key: item("one/row/key"), position: item("one/position") }),
                      }),
                    ],
                  ),
                ),
                and(
                  equal(item("row_of/first_read/outcome"), "done"),
                  equal(item("row_of/written"), []),
                  equal(entriesOf("row_of/first_read"), entriesOf("row_of/second_read")),
                ),
              ),
            ),
          ),
          false,
        ),
      ),
    ),
  };
}
