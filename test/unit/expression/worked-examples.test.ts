import { describe, expect, test } from "vitest";
import { failed, result } from "../../support/expressions.ts";

describe("straight line over n periods", () => {
  const schedule = {
    op: "map",
    list: { op: "range", from: 1, count: { input: "life" } },
    as: "period",
    value: {
      op: "record",
      fields: {
        period: { item: "period" },
        amount: {
          op: "if",
          condition: { op: "less", left: { item: "period" }, right: { input: "life" } },
          then: { node: "regular" },
          else: {
            op: "subtract",
            left: { node: "base" },
            right: {
              op: "multiply",
              left: { node: "regular" },
              right: { op: "subtract", left: { input: "life" }, right: 1 },
            },
          },
        },
      },
    },
  };
  const around = {
    inputs: { life: ["integer", 3] },
    nodes: { base: ["integer", 1000], regular: ["integer", 333] },
  } as const;

  test("the last period takes the residue", () => {
    expect(result(schedule, around)).toEqual([
      { period: "1", amount: "333" },
      { period: "2", amount: "333" },
      { period: "3", amount: "334" },
    ]);
  });

  test("a verifier checks a row without dividing", () => {
    const rule = {
      op: "all",
      list: { input: "context/result" },
      as: "row",
      empty: false,
      where: {
        op: "let",
        name: "base",
        value: { op: "subtract", left: { input: "context/inputs/cost" }, right: 0 },
        in: {
          op: "let",
          name: "low",
          value: {
            op: "multiply",
            left: { item: "row/amount" },
            right: { input: "context/inputs/life" },
          },
          in: {
            op: "and",
            values: [
              { op: "less_or_equal", left: { item: "low" }, right: { item: "base" } },
              {
                op: "less",
                left: { item: "base" },
                right: {
                  op: "add",
                  left: { item: "low" },
                  right: { input: "context/inputs/life" },
                },
              },
            ],
          },
        },
      },
    };
    const context = {
      record: {
        inputs: { record: { cost: "integer", life: "integer" } },
        result: { list: { record: { period: "integer", amount: "integer" } } },
      },
    };
    const given = (amount: number) => ({
      inputs: {
        context: [
          context,
          { inputs: { cost: 1000, life: 3 }, result: [{ period: 1, amount }] },
        ] as const,
      },
    });
    expect(result(rule, given(333))).toBe(true);
    expect(result(rule, given(334))).toBe(false);
    expect(result(rule, given(332))).toBe(false);
  });
});

describe("split payments", () => {
  const expression = {
    op: "flatten",
    list: {
      op: "map",
      as: "day",
      list: {
        op: "group_by",
        list: { input: "payments" },
        as: "p",
        key: {
          op: "record",
          fields: { merchant: { item: "p/merchant" }, date: { item: "p/date" } },
        },
      },
      value: {
        op: "let",
        name: "total",
        value: { op: "sum", list: { item: "day/items" }, as: "p", value: { item: "p/amount" } },
        in: {
          op: "if",
          condition: {
            op: "and",
            values: [
              { op: "greater", left: { item: "total" }, right: { input: "limit" } },
              {
                op: "all",
                list: { item: "day/items" },
                as: "p",
                empty: false,
                where: {
                  op: "less_or_equal",
                  left: { item: "p/amount" },
                  right: { input: "limit" },
                },
              },
            ],
          },
          then: {
            op: "record",
            fields: {
              kind: "split_payment",
              merchant: { item: "day/key/merchant" },
              date: { item: "day/key/date" },
              total: { item: "total" },
              rows: { op: "map", list: { item: "day/items" }, as: "p", value: { item: "p/row" } },
            },
          },
        },
      },
    },
  };
  const payment = {
    record: { row: "integer", merchant: "text", date: "date", amount: { decimal: 2 } },
  };

  test("payments of one merchant and day, each within the limit, together above it", () => {
    const payments = [
      { row: 1, merchant: "Acme", date: "2026-03-01", amount: "600.00" },
      { row: 2, merchant: "Bolt", date: "2026-03-01", amount: "900.00" },
      { row: 3, merchant: "Acme", date: "2026-03-01", amount: 500.5 },
      { row: 4, merchant: "Bolt", date: "2026-03-02", amount: "1200.00" },
    ];
    const around = {
      inputs: { payments: [{ list: payment }, payments], limit: [{ decimal: 2 }, "1000.00"] },
    } as const;
    expect(result(expression, around)).toEqual([
      {
        kind: "split_payment",
        merchant: "Acme",
        date: "2026-03-01",
        total: "110050",
        rows: ["1", "3"],
      },
    ]);
  });
});

describe("names to ids", () => {
  const options = { dictionary: "text" };
  const expression = {
    op: "map",
    list: { input: "wanted" },
    as: "wanted",
    value: {
      op: "get",
      pointer: "/item_id",
      value: {
        op: "get",
        value: {
          op: "lookup",
          as: "i",
          list: {
            op: "distinct",
            list: { node: "order/items" },
            as: "d",
            key: { item: "d/item_id" },
          },
          where: {
            op: "and",
            values: [
              { op: "equal", left: { item: "i/name" }, right: { item: "wanted/name" } },
              {
                op: "equal",
                left: { item: "i/options" },
                right: {
                  op: "default",
                  value: { item: "wanted/options" },
                  else: { item: "i/options" },
                },
              },
            ],
          },
        },
      },
    },
  };
  const order = {
    record: { items: { list: { record: { item_id: "text", name: "text", options } } } },
  };
  const wanted = { list: { record: { name: "text", options: { optional: options } } } };
  const items = [
    { item_id: "1", name: "Lamp", options: { color: "red" } },
    { item_id: "2", name: "Lamp", options: { color: "blue" } },
    { item_id: "1", name: "Lamp", options: { color: "red" } },
    { item_id: "3", name: "Desk", options: {} },
  ];
  const around = (asked: unknown) => ({
    inputs: { wanted: [wanted, asked] as const },
    nodes: { order: [order, { items }] as const },
  });

  test("options tell variants of one name apart", () => {
    const asked = [{ name: "Desk" }, { name: "Lamp", options: { color: "blue" } }];
    expect(result(expression, around(asked))).toEqual(["3", "2"]);
  });

  test("two variants of one name and no options are ambiguous, not the first", () => {
    const failure = failed(expression, around([{ name: "Desk" }, { name: "Lamp" }]));
    expect(failure.code).toBe("ambiguous");
    expect(failure.pointer).toBe("/value/value/value");
    expect(failure.positions).toEqual(["wanted[1]"]);
  });

  test("a name that is not there is missing", () => {
    const failure = failed(expression, around([{ name: "Chair" }]));
    expect(failure.code).toBe("missing");
    expect(failure.positions).toEqual(["wanted[0]"]);
  });
});
