/** Lines of a bill, each against its order line and in itself. */
import {
  absolute,
  add,
  and,
  contains,
  divide,
  type E,
  equal,
  filter,
  flatten,
  get,
  has,
  item,
  less,
  lets,
  lookup,
  map,
  multiply,
  not,
  notEqual,
  or,
  orElse,
  power,
  record,
  subtract,
  toText,
  when,
} from "./expressions.ts";
import { orderLine, per, priced, shownPrice } from "./transaction-testing-texts.ts";

/** The finding of a transaction, where the condition holds. */
export const finding = (condition: E, kind: string, left: E, right: E, line: E = null): E =>
  when(condition, record({ kind, line, left, right, evidence: item("one/evidence/id") }));

export const ofBillLines: E = flatten(
  map(
    item("one/bill/lines"),
    "l",
    lets(
      [
        [
          "o",
          when(
            item("one/ordered"),
            lookup(item("one/order/lines"), "o", equal(item("o/id"), orderLine("l"))),
          ),
        ],
        [
          "amount",
          divide(
            multiply(item("l/quantity"), item("l/unit_price")),
            multiply(10 ** 13, per("l")),
            "half_up",
          ),
        ],
      ],
      flatten([
        finding(
          and(item("one/ordered"), not(has(item("o")))),
          "line_order",
          orderLine("l"),
          "a line of the order",
          item("l/id"),
        ),
        when(
          and(has(item("o")), equal(item("one/bill/currency"), item("one/order/currency"))),
          lets(
            [["own", get(item("o"))]],
            finding(
              notEqual(
                multiply(item("l/unit_price"), per("own")),
                multiply(item("own/unit_price"), per("l")),
              ),
              "unit_price",
              priced("l"),
              priced("own"),
              item("l/id"),
            ),
          ),
        ),
        finding(
          notEqual(orElse(item("l/amount"), item("amount")), item("amount")),
          "line_amount",
          toText(orElse(item("l/amount"), 0)),
          toText(item("amount")),
          item("l/id"),
        ),
      ]),
    ),
  ),
);

/** By another route: as differences that must be nothing, rounded by whole halves. */
export const judgedBillLines: E = flatten(
  map(
    item("of/bill/lines"),
    "l",
    lets(
      [
        [
          "figures",
          record({
            to: orElse(item("l/order_line"), item("l/id")),
            exact: multiply(item("l/quantity"), item("l/unit_price")),
            unit: multiply(orElse(item("l/price_per"), 1), power(10, 13)),
          }),
        ],
        // Half away from zero, by whole halves.
        [
          "size",
          divide(
            add(multiply(2, absolute(item("figures/exact"))), item("figures/unit")),
            multiply(2, item("figures/unit")),
            "floor",
          ),
        ],
        ["amount", when(less(item("figures/exact"), 0), subtract(0, item("size")), item("size"))],
      ],
      flatten([
        when(
          or(
            equal(item("papers/orders"), []),
            contains(map(item("of/order/lines"), "o", item("o/id")), item("figures/to")),
          ),
          [],
          [
            record({
              when: true,
              kind: "line_order",
              line: item("l/id"),
              left: item("figures/to"),
              right: "a line of the order",
            }),
          ],
        ),
        map(
          filter(item("of/order/lines"), "o", equal(item("o/id"), item("figures/to"))),
          "o",
          record({
            when: and(
              item("book/same_money"),
              notEqual(
                0,
                subtract(
                  multiply(item("l/unit_price"), orElse(item("o/price_per"), 1)),
                  multiply(item("o/unit_price"), orElse(item("l/price_per"), 1)),
                ),
              ),
            ),
            kind: "unit_price",
            line: item("l/id"),
            left: shownPrice("l"),
            right: shownPrice("o"),
          }),
        ),
        map(
          flatten([item("l/amount")]),
          "a",
          record({
            when: notEqual(item("a"), item("amount")),
            kind: "line_amount",
            line: item("l/id"),
            left: toText(item("a")),
            right: toText(item("amount")),
          }),
        ),
      ]),
    ),
  ),
);
