/** Quantities and prices as findings tell them: without zeros that say nothing, by two routes. */
import {
  concat,
  divide,
  type E,
  endsWith,
  equal,
  filter,
  flatten,
  item,
  join,
  length,
  lets,
  lower,
  map,
  modulo,
  notEqual,
  orElse,
  slice,
  split,
  subtract,
  toText,
  when,
} from "./expressions.ts";

/** Without digits behind the point where there are none but zeros. */
export const plain = (q: E, scale: number): E =>
  when(equal(modulo(q, 10 ** scale), 0), toText(divide(q, 10 ** scale)), toText(q, scale));
export const orderLine = (l: string): E => orElse(item(`${l}/order_line`), item(`${l}/id`));
export const per = (l: string): E => orElse(item(`${l}/price_per`), 1);
export const money = (q: E): E =>
  when(equal(modulo(q, 10 ** 7), 0), toText(divide(q, 10 ** 7), 2), toText(q, 9));
export const priced = (l: string): E =>
  when(
    equal(per(l), 1),
    money(item(`${l}/unit_price`)),
    concat(money(item(`${l}/unit_price`)), " for ", toText(per(l))),
  );
export const squeezed = (t: E): E => join(split(lower(t), " "), "");

// The same for the verifier, by looking at texts.

export const shown = (q: E, scale: number): E =>
  lets(
    [["digits", toText(q, scale)]],
    when(
      endsWith(item("digits"), `.${"0".repeat(scale)}`),
      slice(item("digits"), 0, subtract(length(item("digits")), scale + 1)),
      item("digits"),
    ),
  );
const cutZeros = (q: E): E =>
  lets(
    [["digits", toText(q, 9)]],
    when(
      endsWith(item("digits"), "0000000"),
      slice(item("digits"), 0, subtract(length(item("digits")), 7)),
      item("digits"),
    ),
  );
export const shownPrice = (l: string): E =>
  join(
    flatten([
      [cutZeros(item(`${l}/unit_price`))],
      map(
        filter(flatten([item(`${l}/price_per`)]), "per", notEqual(item("per"), 1)),
        "per",
        toText(item("per")),
      ),
    ]),
    " for ",
  );
