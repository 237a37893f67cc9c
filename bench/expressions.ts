import type { JsonValue } from "../src/base/json.ts";
import {
  checkExpression,
  compileExpression,
  parseExpression,
  parseType,
  readValue,
  type Scope,
  valueType,
} from "../src/expression/index.ts";
import type { Type } from "../src/model/type.ts";
import type { Sources, Value } from "../src/model/value.ts";
import { median, rounded } from "./measure.ts";
import { peer } from "./peers.ts";
import type { Row } from "./row.ts";

export const name = "expressions";

/**
 * One shape of what recipes compute, as every side writes it. `data` has integers as big integers; sides that know
 * only doubles get the same integers as numbers.
 */
interface Shape {
  readonly name: string;
  readonly inputs: Readonly<Record<string, JsonValue>>;
  readonly data: Readonly<Record<string, JsonValue>>;
  readonly want: bigint | boolean;
  readonly rote: JsonValue;
  readonly closure: (data: never) => unknown;
  readonly logic: unknown;
  readonly jsonata: string;
  readonly cel: string;
}

const invoice = { record: { amount: "integer", currency: "text", ref: "text" } };
const row = { record: { k: "text", v: "integer", id: "integer" } };
const lines = {
  list: {
    record: {
      item: { record: { code: "text", tax: { record: { rate: "integer" } } } },
    },
  },
};

const at = (op: string, name: string, pointer: string): JsonValue => ({ op, name, pointer });
const rows100 = Array.from({ length: 100 }, (_, index) => ({
  k: index % 3 ? "a" : "b",
  v: (index * 37) % 101,
  id: index,
}));
const deep = {
  invoice: {
    lines: ["X-6", "X-7", "X-8", "X-9"].map((code, index) => ({
      item: { code, tax: { rate: 5 * (index + 1) } },
    })),
  },
};
const path = ["invoice", "lines", "3", "item", "tax", "rate"];

const SHAPES: readonly Shape[] = [
  {
    name: "multiply",
    inputs: { qty: "integer", price: "integer" },
    data: { qty: 12, price: 600 },
    want: 7200n,
    rote: { op: "multiply", left: at("input", "qty", ""), right: at("input", "price", "") },
    closure: (data: { qty: bigint; price: bigint }) => data.qty * data.price,
    logic: { "*": [{ var: "qty" }, { var: "price" }] },
    jsonata: "qty * price",
    cel: "qty * price",
  },
  {
    name: "three equalities",
    inputs: { po: invoice, inv: invoice },
    data: {
      po: { amount: 7200, currency: "EUR", ref: "P1" },
      inv: { amount: 7200, currency: "EUR", ref: "P1" },
    },
    want: true,
    rote: {
      op: "and",
      values: ["/amount", "/currency", "/ref"].map((field) => ({
        op: "equal",
        left: at("input", "po", field),
        right: at("input", "inv", field),
      })),
    },
    closure: ({ po, inv }: { po: Invoice; inv: Invoice }) =>
      po.amount === inv.amount && po.currency === inv.currency && po.ref === inv.ref,
    logic: {
      and: ["amount", "currency", "ref"].map((field) => ({
        "===": [{ var: `po.${field}` }, { var: `inv.${field}` }],
      })),
    },
    jsonata: "po.amount = inv.amount and po.currency = inv.currency and po.ref = inv.ref",
    cel: "po.amount == inv.amount && po.currency == inv.currency && po.ref == inv.ref",
  },
  {
    name: "filter and sum of 100",
    inputs: { rows: { list: row } },
    data: { rows: rows100 },
    want: BigInt(rows100.reduce((sum, { k, v }) => sum + (k === "a" ? v : 0), 0)),
    rote: {
      op: "sum",
      list: {
        op: "filter",
        list: at("input", "rows", ""),
        where: { op: "equal", left: at("item", "item", "/k"), right: "a" },
      },
      value: at("item", "item", "/v"),
    },
    closure: ({ rows }: { rows: readonly { k: string; v: bigint }[] }) => {
      let sum = 0n;
      for (const each of rows) if (each.k === "a") sum += each.v;
      return sum;
    },
    logic: {
      reduce: [
        { filter: [{ var: "rows" }, { "===": [{ var: "k" }, "a"] }] },
        { "+": [{ var: "current.v" }, { var: "accumulator" }] },
        0,
      ],
    },
    jsonata: '$sum(rows[k="a"].v)',
    cel: 'sum(rows.filter(r, r.k == "a").map(r, r.v))',
  },
  {
    name: "deep pointer",
    inputs: { doc: { record: { invoice: { record: { lines } } } } },
    data: { doc: deep },
    want: 20n,
    rote: at("input", "doc", `/${path.join("/")}`),
    closure: ({ doc }: { doc: unknown }) => {
      let current = doc;
      for (let index = 0; index < path.length && current != null; index += 1) {
        current = (current as Record<string, unknown>)[path[index]!];
      }
      return current;
    },
    logic: { var: "doc.invoice.lines.3.item.tax.rate" },
    jsonata: "doc.invoice.lines[3].item.tax.rate",
    cel: "doc.invoice.lines[3].item.tax.rate",
  },
];

interface Invoice {
  readonly amount: bigint;
  readonly currency: string;
  readonly ref: string;
}

/** A side of the comparison: something to call with one of several equal copies of the data. */
interface Side {
  readonly method: string;
  /** Integers are big integers on both sides of "closure" and "rote", and where a library takes them. */
  readonly integers: "bigint" | "number";
  readonly run: (copy: number) => unknown;
}

/** Equal copies, taken in turn, so that no answer can be kept from the call before. */
const COPIES = 8;

async function sidesOf(shape: Shape): Promise<readonly Side[]> {
  const big = Array.from({ length: COPIES }, () => withBigIntegers(shape.data));
  const small = Array.from({ length: COPIES }, () => structuredClone(shape.data));
  const rote = compiled(shape);
  const closure = shape.closure as (data: unknown) => unknown;
  const logic = (await peer("json-logic-js"))["default"] as {
    apply(rule: unknown, data: unknown): unknown;
  };
  const jsonata = (await peer("jsonata"))["default"] as (source: string) => {
    evaluate(data: unknown): Promise<unknown>;
  };
  const { Environment } = (await peer("@marcbachmann/cel-js")) as {
    Environment: new (
      options: object,
    ) => {
      registerFunction(signature: string, code: (values: unknown) => unknown): unknown;
      parse(source: string): (data: unknown) => unknown;
    };
  };
  const celJs = (await peer("cel-js")) as {
    parse(source: string): { readonly isSuccess: boolean; readonly cst: unknown };
    evaluate(cst: unknown, data: unknown, functions: object): unknown;
  };
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  environment.registerFunction("sum(list): dyn", (values) =>
    [...(values as bigint[])].reduce((sum, each) => sum + each, 0n),
  );
  const total = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0);
  const mcel = environment.parse(shape.cel);
  const cel = celJs.parse(shape.cel);
  const query = jsonata(shape.jsonata);
  return [
    { method: "closure", integers: "bigint", run: (copy) => closure(big[copy]) },
    { method: "rote", integers: "bigint", run: rote },
    { method: "@marcbachmann/cel-js", integers: "bigint", run: (copy) => mcel(big[copy]) },
    {
      method: "cel-js",
      integers: "number",
      run: (copy) => celJs.evaluate(cel.cst, small[copy], { sum: total }),
    },
    {
      method: "json-logic-js",
      integers: "number",
      run: (copy) => logic.apply(shape.logic, small[copy]),
    },
    { method: "jsonata", integers: "number", run: (copy) => query.evaluate(small[copy]) },
  ];
}

function compiled(shape: Shape): (copy: number) => Value {
  const names = Object.keys(shape.inputs);
  const problems: string[] = [];
  const report = ({ message }: { readonly message: string }) => problems.push(message);
  const types = new Map<string, Type>();
  for (const [input, source] of Object.entries(shape.inputs)) {
    const type = parseType(source, new Map(), "", report);
    if (type !== undefined) types.set(input, valueType(type));
  }
  const scope: Scope = {
    input: (input) => types.get(input),
    inputNames: names,
    node: () => "unknown_node",
    nodeNames: [],
  };
  const parsed = parseExpression(shape.rote, "", new Map(), report);
  const typed = parsed && checkExpression(parsed, scope, report);
  if (typed === undefined) throw new Error(`${shape.name}: ${problems.join("; ")}`);
  const layout = { input: (input: string) => names.indexOf(input), node: () => 0 };
  const expression = compileExpression(typed, layout);
  const copies = Array.from(
    { length: COPIES },
    (): Sources => ({
      inputs: names.map((input) => {
        const read = readValue(types.get(input)!, shape.data[input]!);
        if (!read.ok) throw new Error(read.error.message);
        return read.value;
      }),
      nodes: [],
    }),
  );
  return (copy) => expression.evaluate(copies[copy]!);
}

function withBigIntegers(value: JsonValue): unknown {
  if (typeof value === "number") return BigInt(value);
  if (Array.isArray(value)) return value.map(withBigIntegers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withBigIntegers(part as JsonValue)]),
  );
}

const ROUNDS = 9;
const SAMPLE_MS = 60;

/** Holds the last answer, so that the work that made it cannot be left out. */
const sink: { last: unknown } = { last: undefined };

/** Calls per second in one sample; a side that answers with promises is awaited. */
async function sample({ run }: Side): Promise<number> {
  const waits = run(0) instanceof Promise;
  let calls = 0;
  const start = performance.now();
  let now = start;
  while (now - start < SAMPLE_MS) {
    if (waits) for (let index = 0; index < 64; index += 1) sink.last = await run(index & 7);
    else for (let index = 0; index < 64; index += 1) sink.last = run(index & 7);
    calls += 64;
    now = performance.now();
  }
  return (calls * 1000) / (now - start);
}

/**
 * Evaluations per second of each side on each shape, interleaved, with the multiple of the time that the closure takes.
 * The multiple is the median over rounds, so that a slow moment of the machine falls on both sides of it. A side that
 * computes something else than the others is an error, not a row.
 */
export async function rows(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const shape of SHAPES) {
    process.stderr.write(`  ${shape.name}\n`);
    const sides = await sidesOf(shape);
    for (const side of sides) await verify(shape, side);
    const rates = sides.map((): number[] => []);
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [index, side] of sides.entries()) {
        const rate = await sample(side);
        if (round >= 0) rates[index]?.push(rate);
      }
    }
    const [floor = []] = rates;
    for (const [index, side] of sides.entries()) {
      const own = rates[index] ?? [];
      rows.push({
        method: side.method,
        case: shape.name,
        integers: side.integers,
        per_second: Math.round(median(own)),
        times_closure: rounded(median(own.map((rate, round) => (floor[round] ?? 0) / rate))),
      });
    }
  }
  return rows;
}

async function verify(
  { name: shape, want }: Shape,
  { method, integers, run }: Side,
): Promise<void> {
  for (let copy = 0; copy < COPIES; copy += 1) {
    const got = await run(copy);
    const expected = integers === "number" && typeof want === "bigint" ? Number(want) : want;
    const same = got === expected || (typeof got === "bigint" && got === want);
    if (!same) throw new Error(`${method} gives ${String(got)} for ${shape}, not ${String(want)}`);
  }
}
