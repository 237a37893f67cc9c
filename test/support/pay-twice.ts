/** A recipe with a read and two effects behind one approval. */

/** Pays two amounts after one approval of both. */
export const PAY_TWICE = {
  version: 1,
  id: "pay-twice",
  inputs: { account: "text" },
  terminal: "done",
  nodes: [
    {
      id: "balance",
      output: { record: { amount: "integer" } },
      step: {
        kind: "read",
        tool: "bank.balance",
        arguments: { op: "record", fields: { account: { input: "account" } } },
      },
    },
    {
      id: "enough",
      step: {
        kind: "verify",
        condition: { op: "greater", left: { node: "balance/amount" }, right: 100 },
        value: { node: "balance/amount" },
      },
    },
    { id: "fence", after: ["enough"], step: { kind: "approval", effects: ["first", "second"] } },
    payment("first", "50", ["fence"]),
    payment("second", "30", ["fence", "first"]),
    {
      id: "done",
      after: ["second"],
      step: {
        kind: "pure",
        value: { op: "concat", values: [{ node: "first" }, "+", { node: "second" }] },
      },
    },
  ],
};

function payment(id: string, amount: string, after: readonly string[]) {
  const literal = { op: "literal", value: amount, type: "integer" };
  const fields = { account: { input: "account" }, amount: literal, currency: "EUR" };
  return {
    id,
    after,
    output: "text",
    step: {
      kind: "effect",
      tool: "bank.pay",
      key: { op: "concat", values: [{ input: "account" }, `-${id}`] },
      arguments: { op: "record", fields },
    },
  };
}

export const PAY_TWICE_VERIFIER = { version: 1, id: "v", before_effect: true, result: true };
