import fc from "fast-check";
import type { PendingModel } from "../../src/model/run.ts";
import { recipeOf } from "./pure-procedure.ts";

/**
 * Random recipes over one integer input `n`: sums of earlier nodes, some computed twice, model boundaries (single and
 * per element), guarded nodes, lists, and checks that sometimes fail. Every node leads to the terminal, a sum of all.
 */
export const randomRecipes: fc.Arbitrary<unknown> = fc
  .array(
    fc.record({
      kind: fc.constantFrom("sum", "sum", "twice", "model", "models", "guarded", "verify", "list"),
      left: fc.nat(),
      right: fc.nat(),
      bound: fc.integer({ min: -20, max: 400 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((shapes) => {
    const nodes: Node[] = [];
    for (const shape of shapes) nodes.push(nodeOf(shape, nodes));
    const all = { op: "sum", list: nodes.map(({ id }) => asInteger(id)) };
    return recipeOf({ n: "integer" }, [...nodes, { id: "z", step: { kind: "pure", value: all } }]);
  });

/** Depends on the place only, so every order of answering gives the same answers. */
export function answerFor({ node, index }: Pick<PendingModel, "node" | "index">): number {
  return 3 * Number(node.slice(1, 3)) + (index ?? 0);
}

interface Shape {
  readonly kind: string;
  readonly left: number;
  readonly right: number;
  readonly bound: number;
}

interface Node {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** Any node as an integer; ids end in their kind. Guarded nodes may be null. */
function asInteger(node: string): unknown {
  if (node.endsWith("guarded")) return { op: "default", value: { node }, else: 0 };
  if (node.endsWith("models") || node.endsWith("list")) return { op: "sum", list: { node } };
  return { node };
}

function nodeOf({ kind, left, right, bound }: Shape, earlier: readonly Node[]): Node {
  const id = `n${String(earlier.length).padStart(2, "0")}-${kind}`;
  const before = (pick: number) => {
    const node = earlier[pick % Math.max(1, earlier.length)];
    return node === undefined ? { input: "n" } : asInteger(node.id);
  };
  const sum = { op: "add", left: before(left), right: before(right) };
  const small = { op: "less", left: before(left), right: bound };
  const count = { op: "modulo", left: before(left), right: 4, rounding: "floor" };
  const each = { list: { op: "range", from: 0, count }, as: "i", limit: 3 };
  switch (kind) {
    case "twice":
      return { id, step: { kind: "pure", value: { op: "add", left: { input: "n" }, right: 1 } } };
    case "model":
      return { id, output: "integer", step: { kind: "model", prompt: sum } };
    case "models":
      return {
        id,
        each,
        output: { list: "integer" },
        step: { kind: "model", prompt: { item: "i" } },
      };
    case "list": {
      const value = { op: "add", left: { item: "i" }, right: before(right) };
      return { id, each, step: { kind: "pure", value } };
    }
    case "guarded":
      return { id, when: small, step: { kind: "pure", value: sum } };
    case "verify":
      return { id, step: { kind: "verify", condition: small, value: sum } };
    default:
      return { id, step: { kind: "pure", value: sum } };
  }
}
