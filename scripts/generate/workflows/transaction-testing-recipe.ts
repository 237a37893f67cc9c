/** Bill, order and delivery compared, check by check. */
import {
  add,
  all,
  and,
  any,
  concat,
  count,
  distinct,
  type E,
  equal,
  filter,
  first,
  flatten,
  get,
  greater,
  greaterOrEqual,
  groupBy,
  has,
  input,
  item,
  lessOrEqual,
  lets,
  listOf,
  map,
  merge,
  node,
  not,
  notEqual,
  orElse,
  record,
  slice,
  subtract,
  sum,
  toText,
  when,
  zip,
} from "./expressions.ts";
import { workflowRecipe } from "./recipe.ts";
import { finding, ofBillLines } from "./transaction-testing-lines.ts";
import { orderLine, per, plain, squeezed } from "./transaction-testing-texts.ts";
import { NO_BILL, NO_ORDER, types } from "./transaction-testing-types.ts";

const tested = [
  {
    id: "opened",
    step: {
      kind: "pure",
      value: map(
        node("pairs"),
        "pair",
        record({
          evidence: item("pair/evidence"),
          id: item("pair/of/id"),
          supplier: item("pair/of/supplier"),
          billed: has(item("pair/of/bill")),
          bill: orElse(item("pair/of/bill"), NO_BILL),
          ordered: has(item("pair/of/order")),
          order: orElse(item("pair/of/order"), NO_ORDER),
          rejected: when(
            has(item("pair/of/response")),
            not(get(item("pair/of/response"), "/accepted")),
            false,
          ),
          delivered: when(
            any(item("pair/of/deliveries"), "del", equal(item("del/kind"), "receipt")),
            flatten(
              map(
                filter(item("pair/of/deliveries"), "del", equal(item("del/kind"), "receipt")),
                "del",
                item("del/lines"),
              ),
            ),
            flatten(map(item("pair/of/deliveries"), "del", item("del/lines"))),
          ),
          key: when(
            has(item("pair/of/bill")),
            concat(
              get(item("pair/of/bill"), "/kind"),
              " / ",
              squeezed(item("pair/of/supplier")),
              " / ",
              squeezed(get(item("pair/of/bill"), "/number")),
            ),
            concat("no bill / ", squeezed(item("pair/of/supplier")), " / ", item("pair/of/id")),
          ),
        }),
      ),
    },
  },
  {
    id: "of_the_whole",
    step: {
      kind: "pure",
      value: map(
        node("opened"),
        "one",
        lets(
          [
            ["invoice", and(item("one/billed"), equal(item("one/bill/kind"), "invoice"))],
            ["both", and(item("one/billed"), item("one/ordered"))],
            ["net", add(item("one/bill/net"), orElse(item("one/bill/net_before"), 0))],
            [
              "payable",
              add(
                add(
                  subtract(
                    subtract(
                      add(
                        subtract(item("one/bill/net"), orElse(item("one/bill/allowances"), 0)),
                        orElse(item("one/bill/charges"), 0),
                      ),
                      orElse(item("one/bill/prepaid"), 0),
                    ),
                    0,
                  ),
                  orElse(item("one/bill/tax"), 0),
                ),
                orElse(item("one/bill/rounding"), 0),
              ),
            ],
            ["lines", sum(item("one/bill/lines"), "l", orElse(item("l/amount"), 0))],
          ],
          flatten([
            finding(not(item("one/billed")), "bill_present", "", "present"),
            finding(not(item("one/ordered")), "order_present", "", "present"),
            finding(
              and(item("both"), notEqual(orElse(item("one/bill/order"), ""), item("one/order/id"))),
              "order_reference",
              orElse(item("one/bill/order"), ""),
              item("one/order/id"),
            ),
            finding(
              and(item("both"), notEqual(item("one/bill/currency"), item("one/order/currency"))),
              "currency",
              item("one/bill/currency"),
              item("one/order/currency"),
            ),
            finding(
              and(
                item("both"),
                item("invoice"),
                equal(item("one/bill/currency"), item("one/order/currency")),
                notEqual(item("net"), item("one/order/net")),
              ),
              "net_amount",
              toText(item("net")),
              toText(item("one/order/net")),
            ),
            finding(
              and(item("one/billed"), item("one/rejected")),
              "order_accepted",
              "rejected",
              "accepted",
            ),
            finding(
              and(item("invoice"), equal(count(item("one/delivered")), 0)),
              "delivery_evidence",
              "",
              "present",
            ),
            finding(
              and(item("one/billed"), notEqual(item("one/bill/payable"), item("payable"))),
              "payable",
              toText(item("one/bill/payable")),
              toText(item("payable")),
            ),
            finding(
              and(
                item("one/billed"),
                all(item("one/bill/lines"), "l", has(item("l/amount")), false),
                notEqual(item("lines"), item("one/bill/net")),
              ),
              "sum_of_lines",
              toText(item("lines")),
              toText(item("one/bill/net")),
            ),
          ]),
        ),
      ),
    },
  },
  {
    id: "of_order_lines",
    step: {
      kind: "pure",
      value: map(
        node("opened"),
        "one",
        when(
          and(item("one/billed"), item("one/ordered"), equal(item("one/bill/kind"), "invoice")),
          flatten(
            map(
              item("one/order/lines"),
              "o",
              lets(
                [
                  [
                    "billed",
                    sum(
                      filter(item("one/bill/lines"), "l", equal(orderLine("l"), item("o/id"))),
                      "l",
                      add(item("l/quantity"), orElse(item("l/billed_before"), 0)),
                    ),
                  ],
                  [
                    "received",
                    sum(
                      filter(item("one/delivered"), "l", equal(item("l/order_line"), item("o/id"))),
                      "l",
                      item("l/quantity"),
                    ),
                  ],
                ],
                flatten([
                  finding(
                    notEqual(item("billed"), item("o/quantity")),
                    "quantity",
                    plain(item("billed"), 6),
                    plain(item("o/quantity"), 6),
                    item("o/id"),
                  ),
                  finding(
                    and(
                      greater(count(item("one/delivered")), 0),
                      greater(item("billed"), item("received")),
                    ),
                    "received",
                    plain(item("billed"), 6),
                    plain(item("received"), 6),
                    item("o/id"),
                  ),
                ]),
              ),
            ),
          ),
          [],
        ),
      ),
    },
  },
  {
    id: "of_bill_lines",
    step: {
      kind: "pure",
      value: map(node("opened"), "one", ofBillLines),
    },
  },
  {
    id: "single",
    step: {
      kind: "pure",
      value: map(
        zip(
          zip(node("opened"), node("of_the_whole")),
          zip(node("of_order_lines"), node("of_bill_lines")),
        ),
        "pair",
        record({
          key: item("pair/left/left/key"),
          engagement: input("engagement"),
          evidence: item("pair/left/left/evidence"),
          transaction: item("pair/left/left/id"),
          supplier: item("pair/left/left/supplier"),
          bill: when(item("pair/left/left/billed"), item("pair/left/left/bill/number")),
          also: [],
          findings: flatten([
            item("pair/left/right"),
            item("pair/right/left"),
            item("pair/right/right"),
          ]),
        }),
      ),
    },
    output: listOf("row"),
  },
  {
    id: "tested",
    output: listOf("row"),
    step: {
      kind: "pure",
      value: map(
        groupBy(node("single"), "row", item("row/key")),
        "same",
        lets(
          [["others", slice(item("same/items"), 1)]],
          merge(
            get(first(item("same/items"))),
            record({
              also: map(item("others"), "row", item("row/transaction")),
              findings: flatten([
                get(first(item("same/items")), "/findings"),
                map(
                  item("others"),
                  "row",
                  record({
                    kind: "billed_twice",
                    left: item("row/transaction"),
                    right: "once",
                    evidence: item("row/evidence/id"),
                  }),
                ),
              ]),
            }),
          ),
        ),
      ),
    },
  },
];

export const recipe = workflowRecipe({
  id: "transaction-testing",
  title: "Sampled transactions: bill, order and delivery compared, written into the workpaper",
  description:
    "Reads a sample of transactions out of a private file and compares what was billed with what was ordered and delivered: references, currency, amounts, quantities, prices, arithmetic, acceptance and delivery evidence. A difference is a finding that keeps the id of its evidence, and the run is verified. Amounts are minor units, in the currency of the documents, prices have two of them; nothing is converted and there is no tolerance. A bill is known by its kind, supplier and number, without spaces and capitals; one that the workpaper has already is not tested into it again. Each row is appended once, after an approval of its own.",
  types,
  engagement: {},
  of: "transaction",
  pairs: {
    amount: get(item("pair/right/json/bill"), "/payable", 0),
    conditions: [
      lessOrEqual(count(linesOf(item("pair/right/json/bill"))), 1000),
      all(linesOf(item("pair/right/json/bill")), "l", greaterOrEqual(per("l"), 1)),
      all(linesOf(item("pair/right/json/order")), "l", greaterOrEqual(per("l"), 1)),
      equal(
        count(distinct(linesOf(item("pair/right/json/order")), "l", item("l/id"))),
        count(linesOf(item("pair/right/json/order"))),
      ),
    ],
    message:
      "each transaction must be the one that was asked for, with the payable amount that the engagement names, its order lines must differ, and prices must be for one or more",
  },
  tested,
  rows: {
    conditions: [
      equal(sum(node("tested"), "row", add(1, count(item("row/also")))), count(node("sample"))),
    ],
    message: "each sampled transaction must be in one row, and a key has at most 200 letters",
  },
});
/** Of a paper that may not be there. */
function linesOf(paper: E): E {
  return get(paper, "/lines", []);
}
