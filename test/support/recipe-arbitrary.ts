/**
 * Random recipes, and the many ways to write one down. A draft says what a recipe means; `written` spells it with
 * choices that must not matter: order of nodes and keys, short or long forms, what may be left out, names of types.
 */
import fc from "fast-check";
import type { JsonValue } from "../../src/base/json.ts";
import { ENVIRONMENT } from "./compiling.ts";

type Expression =
  | { readonly kind: "integer"; readonly value: number }
  | { readonly kind: "input"; readonly name: string }
  | { readonly kind: "node"; readonly id: string }
  | {
      readonly kind: "operator";
      readonly op: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "sum"; readonly values: readonly Expression[] };

interface Node {
  readonly id: string;
  readonly kind: "pure" | "verify" | "model";
  readonly value: Expression;
  /** Dependencies besides those it refers to; null when it lists none. */
  readonly more: readonly string[] | null;
}

export interface Draft {
  readonly title: string | null;
  readonly nodes: readonly Node[];
}

const INPUTS = ["price", "quantity"];

/** Nodes of these ids have an `each`, so they give lists. */
const LISTS = "list-";

function isList(id: string): boolean {
  return id.startsWith(LISTS);
}

function expression(ids: readonly string[]): fc.Arbitrary<Expression> {
  const leaves: fc.Arbitrary<Expression>[] = [
    fc.record({ kind: fc.constant("integer"), value: fc.integer({ min: -99, max: 99 }) }),
    fc.record({ kind: fc.constant("input"), name: fc.constantFrom(...INPUTS) }),
  ];
  if (ids.length > 0) {
    leaves.push(fc.record({ kind: fc.constant("node"), id: fc.constantFrom(...ids) }));
  }
  return fc.letrec<{ tree: Expression }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      ...leaves,
      fc.record({
        kind: fc.constant("operator" as const),
        op: fc.constantFrom("add", "subtract", "multiply", "minimum"),
        left: tie("tree"),
        right: tie("tree"),
      }),
      fc.record({
        kind: fc.constant("sum" as const),
        values: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
      }),
    ),
  })).tree;
}

/** Recipes of integers: every node gives one, and the last adds up all that nobody else reads. */
export const draft: fc.Arbitrary<Draft> = fc
  .tuple(fc.option(fc.string({ maxLength: 12, unit: "grapheme" })), fc.integer({ min: 1, max: 8 }))
  .chain(([title, count]) => {
    const ids = Array.from({ length: count }, (_, index) =>
      index % 4 === 2 ? `${LISTS}${index}` : `n${(index * 7) % 10}.${index}`,
    );
    const nodes = ids.map((id, index) => {
      const before = ids.slice(0, index);
      return fc.record<Node>({
        id: fc.constant(id),
        kind: isList(id) ? fc.constant("pure") : fc.constantFrom("pure", "pure", "verify", "model"),
        value: expression(before),
        more: fc.option(fc.subarray(before)),
      });
    });
    return fc.record({ title: fc.constant(title), nodes: fc.tuple(...nodes) });
  })
  .map(({ title, nodes }) => {
    const read = new Set(nodes.flatMap(dependencies));
    const open = nodes.filter(({ id }) => !read.has(id)).map(({ id }) => id);
    const last: Node = {
      id: "zz",
      kind: "pure",
      value: { kind: "sum", values: open.map((id) => ({ kind: "node", id })) },
      more: null,
    };
    return { title, nodes: [...nodes, last] };
  });

function references(value: Expression): readonly string[] {
  switch (value.kind) {
    case "node":
      return [value.id];
    case "operator":
      return [...references(value.left), ...references(value.right)];
    case "sum":
      return value.values.flatMap(references);
    default:
      return [];
  }
}

function dependencies({ value, more }: Node): readonly string[] {
  return [...new Set([...references(value), ...(more ?? [])])];
}

/** Answers to "which of two ways", from a seed. */
type Choose = () => boolean;

function choices(seed: number): Choose {
  let state = seed | 0;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state >>> 7) & 1) === 1;
  };
}

/** One way to write a draft down; every seed gives another. */
export function written({ title, nodes }: Draft, seed: number): JsonValue {
  const choose = choices(seed);
  const named = choose();
  const integer = named ? "number" : "integer";
  const spelled = nodes.map((node) => writtenNode(node, integer, choose));
  return shuffled(
    {
      version: 1,
      id: "random",
      environment: shuffled(ENVIRONMENT, choose),
      ...(title === null ? {} : { title }),
      ...(named ? { types: { number: "integer", unused: { list: "text" } } } : {}),
      ...(choose() ? {} : { limits: choose() ? {} : { max_steps: 10_000 } }),
      inputs: shuffled({ price: integer, quantity: { decimal: 2 } }, choose),
      terminal: "zz",
      nodes: choose() ? spelled : spelled.toReversed(),
    },
    choose,
  );
}

function writtenNode(node: Node, integer: string, choose: Choose): JsonValue {
  const after = dependencies(node);
  const must = node.more !== null && after.length > new Set(references(node.value)).size;
  const listed = choose() ? after : [...after.toReversed(), ...after];
  const type = isList(node.id) ? { list: integer } : integer;
  const value = writtenExpression(node.value, choose);
  const inferred = node.kind !== "model";
  return shuffled(
    {
      id: node.id,
      ...(must || choose() ? { after: listed } : {}),
      ...(inferred && choose() ? {} : { output: type }),
      ...(isList(node.id)
        ? {
            each: shuffled({ list: [1, 2], limit: 5, ...(choose() ? { as: "item" } : {}) }, choose),
          }
        : {}),
      step: shuffled(
        writtenStep(node.kind, isList(node.id) ? each(value, choose) : value, choose),
        choose,
      ),
    },
    choose,
  );
}

function each(value: JsonValue, choose: Choose): JsonValue {
  const item = choose()
    ? { item: "item" }
    : choose()
      ? { op: "item" }
      : { op: "item", name: "item" };
  return { op: "add", left: value, right: item };
}

function writtenStep(kind: Node["kind"], value: JsonValue, choose: Choose) {
  switch (kind) {
    case "pure":
      return { kind, value };
    case "verify":
      return { kind, condition: choose() ? true : { op: "literal", value: true }, value };
    default:
      return { kind, prompt: value, ...(choose() ? { role: "default" } : {}) };
  }
}

function writtenExpression(value: Expression, choose: Choose): JsonValue {
  switch (value.kind) {
    case "integer":
      return choose() ? value.value : shuffled({ op: "literal", value: value.value }, choose);
    case "input":
      return reference({ input: value.name }, { op: "input", name: value.name }, choose);
    case "node": {
      const read = reference({ node: value.id }, { op: "node", id: value.id }, choose);
      return isList(value.id) ? shuffled({ op: "sum", as: "s", list: read }, choose) : read;
    }
    case "operator": {
      const left = writtenExpression(value.left, choose);
      const right = writtenExpression(value.right, choose);
      return shuffled({ op: value.op, left, right }, choose);
    }
    default: {
      const values = value.values.map((one) => writtenExpression(one, choose));
      const list = choose() ? values : shuffled({ op: "list", values }, choose);
      const element = choose() ? {} : { value: { item: "s" } };
      return shuffled({ op: "sum", as: "s", list, ...element }, choose);
    }
  }
}

function reference(
  short: { readonly [key: string]: JsonValue },
  long: { readonly [key: string]: JsonValue },
  choose: Choose,
): JsonValue {
  if (choose()) return short;
  return shuffled(choose() ? long : { ...long, pointer: "" }, choose);
}

function shuffled(members: { readonly [key: string]: JsonValue }, choose: Choose): JsonValue {
  const entries = Object.entries(members);
  const front = entries.filter(() => choose());
  const rest = entries.filter((entry) => !front.includes(entry));
  return Object.fromEntries([...(choose() ? rest : rest.toReversed()), ...front]);
}
