/** Papers of a transaction, and what stands for one that is not there. */
import { fieldsOf, listOf, oneOf, optional, record } from "./expressions.ts";

const Q = { decimal: 6 },
  P = { decimal: 9 };
const KINDS = [
  "bill_present",
  "order_present",
  "order_reference",
  "currency",
  "net_amount",
  "order_accepted",
  "delivery_evidence",
  "payable",
  "sum_of_lines",
  "quantity",
  "received",
  "line_order",
  "unit_price",
  "line_amount",
  "billed_twice",
];
export const types = {
  ordered_line: fieldsOf({
    id: "text",
    quantity: Q,
    unit_price: P,
    price_per: optional("integer"),
  }),
  order: fieldsOf({ id: "text", currency: "text", net: "integer", lines: listOf("ordered_line") }),
  delivery: fieldsOf({
    id: "text",
    kind: oneOf("despatch", "receipt"),
    lines: listOf(fieldsOf({ order_line: "text", quantity: Q })),
  }),
  bill_line: fieldsOf({
    id: "text",
    order_line: optional("text"),
    quantity: Q,
    unit_price: P,
    price_per: optional("integer"),
    amount: optional("integer"),
    billed_before: optional(Q),
  }),
  bill: fieldsOf({
    kind: oneOf("invoice", "credit_note"),
    number: "text",
    order: optional("text"),
    currency: "text",
    net: "integer",
    net_before: optional("integer"),
    allowances: optional("integer"),
    charges: optional("integer"),
    tax: optional("integer"),
    prepaid: optional("integer"),
    rounding: optional("integer"),
    payable: "integer",
    lines: listOf("bill_line"),
  }),
  transaction: fieldsOf({
    id: "text",
    supplier: "text",
    order: optional("order"),
    response: optional(fieldsOf({ id: "text", accepted: "boolean" })),
    deliveries: listOf("delivery"),
    bill: optional("bill"),
  }),
  finding: fieldsOf({
    kind: oneOf(...KINDS),
    line: optional("text"),
    left: "text",
    right: "text",
    evidence: "text",
  }),
  row: fieldsOf({
    key: "text",
    engagement: "text",
    evidence: "place",
    transaction: "text",
    supplier: "text",
    bill: optional("text"),
    also: listOf("text"),
    findings: listOf("finding"),
  }),
};
export const NO_BILL = record({
  kind: "invoice",
  number: "",
  currency: "",
  net: 0,
  payable: 0,
  lines: [],
});
export const NO_ORDER = record({ id: "", currency: "", net: 0, lines: [] });
