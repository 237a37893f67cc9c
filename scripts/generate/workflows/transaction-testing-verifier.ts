/** The same findings by another route: one ledger of quantities by order line, and pairs of texts that must be equal. */
import {
  add,
  all,
  and,
  any,
  concat,
  contains,
  context,
  count,
  distinct,
  type E,
  equal,
  filter,
  first,
  flatten,
  get,
  greater,
  groupBy,
  has,
  item,
  join,
  lessOrEqual,
  lets,
  lower,
  map,
  not,
  notEqual,
  or,
  orElse,
  record,
  split,
  subtract,
  sum,
  toText,
  when,
} from "./expressions.ts";
import { judgedBillLines } from "./transaction-testing-lines.ts";
import { shown } from "./transaction-testing-texts.ts";
import { NO_BILL, NO_ORDER, types } from "./transaction-testing-types.ts";
import { type Judged, workflowVerifier } from "./verifier.ts";

const expected = ({ row, source, place }: Judged): E => {
  const t = `${source}/found/json`;
  const pair = (asked: E, kind: string, left: E, right: E): E =>
    record({ when: asked, kind, line: null, left, right });
  const evidence = item(`${source}/asked/record`);
  const total = (what: string): E =>
    sum(
      filter(item("g/items"), "post", equal(item("post/what"), what)),
      "post",
      item("post/quantity"),
    );
  return lets(
    [
      [
        "papers",
        record({
          bills: flatten([item(`${t}/bill`)]),
          orders: flatten([item(`${t}/order`)]),
          receipts: filter(item(`${t}/deliveries`), "g", equal(item("g/kind"), "receipt")),
        }),
      ],
      [
        "of",
        record({
          bill: orElse(first(item("papers/bills")), NO_BILL),
          order: orElse(first(item("papers/orders")), NO_ORDER),
          invoiced: any(item("papers/bills"), "b", equal(item("b/kind"), "invoice")),
          matched: and(
            equal(count(item("papers/bills")), 1),
            equal(count(item("papers/orders")), 1),
          ),
          moved: flatten(
            map(
              when(
                equal(item("papers/receipts"), []),
                item(`${t}/deliveries`),
                item("papers/receipts"),
              ),
              "g",
              item("g/lines"),
            ),
          ),
        }),
      ],
      [
        "book",
        record({
          same_money: contains(
            map(item("papers/orders"), "o", item("o/currency")),
            item("of/bill/currency"),
          ),
          amounts: flatten(map(item("of/bill/lines"), "l", item("l/amount"))),
          // Quantities of all papers, by the order line that they are of.
          lines: filter(
            groupBy(
              flatten([
                map(
                  item("of/order/lines"),
                  "o",
                  record({ line: item("o/id"), what: "ordered", quantity: item("o/quantity") }),
                ),
                map(
                  item("of/bill/lines"),
                  "l",
                  record({
                    line: orElse(item("l/order_line"), item("l/id")),
                    what: "billed",
                    quantity: sum([item("l/quantity"), orElse(item("l/billed_before"), 0)]),
                  }),
                ),
                map(
                  item("of/moved"),
                  "l",
                  record({
                    line: item("l/order_line"),
                    what: "received",
                    quantity: item("l/quantity"),
                  }),
                ),
              ]),
              "post",
              item("post/line"),
            ),
            "g",
            any(item("g/items"), "post", equal(item("post/what"), "ordered")),
          ),
        }),
      ],
      [
        "pairs",
        flatten([
          [
            pair(
              true,
              "bill_present",
              when(equal(item("papers/bills"), []), "", "present"),
              "present",
            ),
            pair(
              true,
              "order_present",
              when(equal(item("papers/orders"), []), "", "present"),
              "present",
            ),
            pair(
              item("of/matched"),
              "order_reference",
              orElse(item("of/bill/order"), ""),
              item("of/order/id"),
            ),
            pair(
              item("of/matched"),
              "currency",
              item("of/bill/currency"),
              item("of/order/currency"),
            ),
            pair(
              and(item("of/matched"), item("book/same_money"), item("of/invoiced")),
              "net_amount",
              toText(sum([item("of/bill/net"), orElse(item("of/bill/net_before"), 0)])),
              toText(item("of/order/net")),
            ),
            pair(
              greater(count(item("papers/bills")), 0),
              "order_accepted",
              when(
                all(flatten([item(`${t}/response`)]), "r", item("r/accepted")),
                "accepted",
                "rejected",
              ),
              "accepted",
            ),
            pair(
              item("of/invoiced"),
              "delivery_evidence",
              when(equal(item("of/moved"), []), "", "present"),
              "present",
            ),
            pair(
              greater(count(item("papers/bills")), 0),
              "payable",
              toText(item("of/bill/payable")),
              toText(
                subtract(
                  sum([
                    item("of/bill/net"),
                    orElse(item("of/bill/charges"), 0),
                    orElse(item("of/bill/tax"), 0),
                    orElse(item("of/bill/rounding"), 0),
                  ]),
                  sum([orElse(item("of/bill/allowances"), 0), orElse(item("of/bill/prepaid"), 0)]),
                ),
              ),
            ),
            pair(
              and(
                greater(count(item("book/amounts")), 0),
                equal(count(item("book/amounts")), count(item("of/bill/lines"))),
              ),
              "sum_of_lines",
              toText(sum(item("book/amounts"))),
              toText(item("of/bill/net")),
            ),
          ],
          flatten(
            map(
              when(and(item("of/matched"), item("of/invoiced")), item("book/lines"), []),
              "g",
              lets(
                [
                  [
                    "q",
                    record({
                      billed: total("billed"),
                      received: total("received"),
                      ordered: total("ordered"),
                    }),
                  ],
                ],
                [
                  record({
                    when: notEqual(item("q/billed"), item("q/ordered")),
                    kind: "quantity",
                    line: item("g/key"),
                    left: shown(item("q/billed"), 6),
                    right: shown(item("q/ordered"), 6),
                  }),
                  record({
                    when: not(
                      or(
                        equal(item("of/moved"), []),
                        lessOrEqual(item("q/billed"), item("q/received")),
                      ),
                    ),
                    kind: "received",
                    line: item("g/key"),
                    left: shown(item("q/billed"), 6),
                    right: shown(item("q/received"), 6),
                  }),
                ],
              ),
            ),
          ),
          judgedBillLines,
        ]),
      ],
    ],
    and(
      equal(
        record({
          engagement: item(`${row}/engagement`),
          evidence: item(`${row}/evidence`),
          transaction: item(`${row}/transaction`),
          supplier: item(`${row}/supplier`),
        }),
        record({
          engagement: context("inputs/engagement"),
          evidence: place,
          transaction: evidence,
          supplier: item(`${t}/supplier`),
        }),
      ),
      equal(flatten([item(`${row}/bill`)]), map(item("papers/bills"), "b", item("b/number"))),
      // Of all that have this key the first stands in the row, the others in its list.
      equal(
        map(
          filter(item("all/keyed"), "k", equal(item("k/key"), item(`${row}/key`))),
          "k",
          item("k/id"),
        ),
        flatten([[evidence], item(`${row}/also`)]),
      ),
      equal(
        item(`${row}/findings`),
        flatten([
          map(
            filter(
              item("pairs"),
              "p",
              and(item("p/when"), notEqual(item("p/left"), item("p/right"))),
            ),
            "p",
            record({
              kind: item("p/kind"),
              line: item("p/line"),
              left: item("p/left"),
              right: item("p/right"),
              evidence,
            }),
          ),
          map(
            item(`${row}/also`),
            "a",
            record({
              kind: "billed_twice",
              line: null,
              left: item("a"),
              right: "once",
              evidence: item("a"),
            }),
          ),
        ]),
      ),
    ),
  );
};

export const verifier = workflowVerifier({
  id: "transaction-testing-ledger",
  work: "transaction-testing",
  types,
  engagement: {},
  of: "transaction",
  // Nothing where there is no bill.
  amount: (transaction) => sum(flatten([item(`${transaction}/bill`)]), "b", item("b/payable")),
  expected,
  keyed: map(
    item("seen/evidence"),
    "one",
    record({
      id: item("one/asked/record"),
      key: when(
        has(item("one/found/json/bill")),
        concat(
          toText(get(item("one/found/json/bill"), "/kind")),
          " / ",
          join(split(lower(item("one/found/json/supplier")), " ")),
          " / ",
          join(split(lower(get(item("one/found/json/bill"), "/number")), " ")),
        ),
        concat(
          "no bill / ",
          join(split(lower(item("one/found/json/supplier")), " ")),
          " / ",
          item("one/found/json/id"),
        ),
      ),
    }),
  ),
  coverage: [
    equal(
      map(item("did/rows"), "one", item("one/evidence/id")),
      map(distinct(item("all/keyed"), "k", item("k/key")), "k", item("k/id")),
    ),
    equal(
      add(count(item("did/rows")), sum(item("did/rows"), "one", count(item("one/also")))),
      count(item("all/ids")),
    ),
  ],
});
